/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "bench/choice.h"

#include <stdlib.h>
#include <string.h>

#include "aps.h"
#include "bench/sizes.h"

#define DEFAULT_SIZES "1Ki,4Ki,16Ki,64Ki,256Ki,1Mi,4Mi,16Mi,25.6Mi"
#define DEFAULT_FORMATS "e5m10,e5m2,e4m3,e3m0"
#define DEFAULT_REDUCES "hierarchical"

static const char help[] =
    "usage: mpiexec -n P apsmpi-bench [OPTION...]\n"
    "       apsmpi-bench policy [OPTION...] >FILE\n"
    "\n"
    "Times MPI_Allreduce on floats: native FP32, native integers of the\n"
    "formats' widths (the floor), FP16 by an operation of the program's own, "
    "and\n"
    "what a preloaded libapsmpi.so makes of FP32 in every format. `policy` "
    "prints\n"
    "the policy that goes with the same options:\n"
    "\n"
    "    apsmpi-bench policy >bench.yaml\n"
    "    mpiexec -n 2 -genv LD_PRELOAD .../libapsmpi.so \\\n"
    "        -genv APSMPI_POLICY bench.yaml apsmpi-bench\n"
    "\n"
    "  --sizes LIST     floats, with Ki or Mi (default: " DEFAULT_SIZES ");\n"
    "                   none: no sizes\n"
    "  --formats LIST   (default: " DEFAULT_FORMATS "); none: no formats\n"
    "  --reduce LIST    reductions, each with all formats\n"
    "                   (default: " DEFAULT_REDUCES ")\n"
    "  --rule TEXT      more of every rule, such as 'scale: aps, group: 2'\n"
    "  --tensors FILE   layer,name,count: also a call for each tensor in turn\n"
    "                   (default: ResNet-50's 161)\n"
    "  --no-tensors     sizes alone\n"
    "  --no-floor       no native integers\n"
    "  --no-half        no FP16 by an operation of the program's own\n"
    "  --no-pass        neither native once more, bypassed nor unmatched\n"
    "  --in-place       MPI_IN_PLACE\n"
    "  --steady         all calls have the same values. Otherwise the values "
    "are\n"
    "                   doubled or halved between calls, by chance\n"
    "  --recorded PREFIX   each call has the gradients of the next step of a\n"
    "                   training, which tests/figures/record.c has written to\n"
    "                   PREFIX.RANK\n"
    "  --cold MIB       before each call, MIB of other memory are\n"
    "                   read and written, as a program does between its calls\n"
    "  --seconds S      time to spend on a size (default: 3)\n"
    "  --rounds N       at least N rounds, whatever the time (default: "
    "5)\n"
    "  --warmup N       calls before anything is measured (default: 2)\n"
    "  --wire-gbit G    what the link of a host carries each way, in Gbit/s\n"
    "  --csv FILE       write the figures there too\n";

static int bad(char *error, const char *what, const char *text)
{
    snprintf(error, SIZES_ERROR, "%s '%.120s'", what, text);
    return -1;
}

/* Copies the next item of a list to `item`; false at the end. */
static bool next_item(const char **list, char *item, size_t size)
{
    size_t length = strcspn(*list, ",");

    if (!**list)
        return false;
    snprintf(item, size, "%.*s", (int)length, *list);
    *list += length + ((*list)[length] == ',');
    return true;
}

static int read_sizes(struct choice *c, const char *list, char *error)
{
    char item[32];

    c->size_count = 0;
    if (strcmp(list, "none") == 0)
        return 0;
    while (next_item(&list, item, sizeof item)) {
        if (c->size_count == CHOICE_SIZES ||
            sizes_read(item, &c->sizes[c->size_count]) < 0)
            return bad(error, "bad size, or one too many:", item);
        c->size_count++;
    }
    return 0;
}

static int read_formats(struct choice *c, const char *list, char *error)
{
    char item[16];

    c->format_count = 0;
    if (strcmp(list, "none") == 0)
        return 0;
    while (next_item(&list, item, sizeof item)) {
        struct choice_format *format = &c->formats[c->format_count];
        const struct aps_format *named = aps_format_get(item, NULL);

        if (c->format_count == CHOICE_FORMATS || !named)
            return bad(error, "not a format, or one too many:", item);
        snprintf(format->name, sizeof format->name, "%s", item);
        /* In a block, the error of a value is like that of the largest one. */
        format->mantissa =
            aps_format_block(named) > 1 ? 0 : aps_format_mantissa_bits(named);
        format->width = aps_format_width(named);
        c->format_count++;
    }
    return 0;
}

static int read_reduces(struct choice *c, const char *list, char *error)
{
    char item[sizeof c->reduces[0]];

    c->reduce_count = 0;
    while (next_item(&list, item, sizeof item)) {
        if (c->reduce_count == CHOICE_REDUCES)
            return bad(error, "one reduction too many:", item);
        strcpy(c->reduces[c->reduce_count++], item);
    }
    return c->reduce_count ? 0 : bad(error, "no reduction:", list);
}

static int read_number(const char *text, double least, double *number,
                       char *error)
{
    char *end;

    *number = strtod(text, &end);
    if (end == text || *end || !(*number >= least && *number <= 1e6))
        return bad(error, "bad number", text);
    return 0;
}

/* Reads an option without a value. True if `name` is one. */
static bool read_flag(struct choice *c, const char *name)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {
        {"--no-floor", &c->no_floor}, {"--no-half", &c->no_half},
        {"--no-pass", &c->no_pass},   {"--in-place", &c->in_place},
        {"--steady", &c->steady},
    };

    if (strcmp(name, "--no-tensors") == 0) {
        c->tensors_file = NULL;
        return true;
    }
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(name, flags[i].name) == 0)
            return *flags[i].flag = true;
    return false;
}

/* Reads an option with its value. Returns -1 if it is bad. */
static int read_option(struct choice *c, const char *name, const char *value,
                       char *error)
{
    const struct {
        const char *name;
        const char **text;
    } texts[] = {
        {"--rule", &c->rule},
        {"--tensors", &c->tensors_file},
        {"--csv", &c->csv},
        {"--recorded", &c->recorded},
    };
    const struct {
        const char *name;
        double least;
        double *number;
    } numbers[] = {
        {"--seconds", 0, &c->seconds}, {"--rounds", 1, &c->rounds},
        {"--warmup", 1, &c->warmup},   {"--wire-gbit", 1e-6, &c->wire_gbit},
        {"--cold", 1, &c->cold},
    };

    if (!value)
        return bad(error, "unknown, or without its value:", name);
    if (strcmp(name, "--sizes") == 0)
        return read_sizes(c, value, error);
    if (strcmp(name, "--formats") == 0)
        return read_formats(c, value, error);
    if (strcmp(name, "--reduce") == 0)
        return read_reduces(c, value, error);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(name, texts[i].name) == 0) {
            *texts[i].text = value;
            return 0;
        }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(name, numbers[i].name) == 0)
            return read_number(value, numbers[i].least, numbers[i].number,
                               error);
    return bad(error, "unknown option", name);
}

int choice_extra(const struct choice *c, int f, int r)
{
    return 1 + r * c->format_count + f;
}

int choice_extra_bypassed(const struct choice *c)
{
    return 1 + c->reduce_count * c->format_count;
}

static int compare(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

/* Returns all sizes once, with those of tensors, in order; the caller frees them. */
static size_t *all_sizes(const struct choice *c, int *count)
{
    const int n = c->size_count + c->tensor_count;
    size_t *all = malloc((size_t)(n + 1) * sizeof *all);

    *count = 0;
    if (!all)
        return NULL;
    memcpy(all, c->sizes, (size_t)c->size_count * sizeof *all);
    if (c->tensor_count)
        memcpy(all + c->size_count, c->tensors,
               (size_t)c->tensor_count * sizeof *all);
    qsort(all, (size_t)n, sizeof *all, compare);
    for (int i = 0; i < n; i++)
        if (*count == 0 || all[i] != all[*count - 1])
            all[(*count)++] = all[i];
    return all;
}

/* Returns -1 if some size plus extra elements could be another size. */
static int check_sizes(const struct choice *c, char *error)
{
    const size_t extra = (size_t)choice_extra_bypassed(c);
    int count, rc = 0;
    size_t *all = all_sizes(c, &count);

    if (!all) {
        rc = -1;
        snprintf(error, SIZES_ERROR, "no memory");
    } else if (extra >= CHOICE_EXTRA) {
        rc = -1;
        snprintf(error, SIZES_ERROR, "more than %d formats and reductions",
                 CHOICE_EXTRA - 2);
    }
    for (int i = 1; rc == 0 && i < count; i++)
        if (all[i] - all[i - 1] <= extra) {
            rc = -1;
            snprintf(error, SIZES_ERROR,
                     "sizes %zu and %zu are too close: rules match the size, "
                     "and take %zu after each",
                     all[i - 1], all[i], extra);
        }
    free(all);
    return rc;
}

enum choice_action choice_read(int argc, char **argv, struct choice *c,
                               char *error)
{
    enum choice_action action = CHOICE_RUN;
    int i = 1;

    *c = (struct choice){.tensors_file = RESNET50_LAYERS,
                         .seconds = 3,
                         .rounds = 5,
                         .warmup = 2};
    read_sizes(c, DEFAULT_SIZES, error);
    read_formats(c, DEFAULT_FORMATS, error);
    read_reduces(c, DEFAULT_REDUCES, error);
    if (argc > 1 && strcmp(argv[1], "policy") == 0) {
        action = CHOICE_POLICY;
        i = 2;
    }
    while (i < argc) {
        if (strcmp(argv[i], "--help") == 0)
            return CHOICE_HELP;
        if (read_flag(c, argv[i])) {
            i++;
            continue;
        }
        if (read_option(c, argv[i], argv[i + 1], error) < 0)
            return CHOICE_BAD;
        i += 2;
    }
    c->steady &= !c->recorded;
    if (c->tensors_file && sizes_read_tensors(c->tensors_file, &c->tensors,
                                              &c->tensor_count, error) < 0)
        return CHOICE_BAD;
    return check_sizes(c, error) < 0 ? CHOICE_BAD : action;
}

void choice_clear(struct choice *c)
{
    free(c->tensors);
    c->tensors = NULL;
}

void choice_print_policy(const struct choice *c, FILE *file)
{
    const size_t bypassed = (size_t)choice_extra_bypassed(c);
    int count;
    size_t *all = all_sizes(c, &count);

    fprintf(file, "# for apsmpi-bench: a rule matches the size of the "
                  "call\n"
                  "version: 1\nmin_count: 1\nrules:\n");
    for (int i = 0; all && i < count; i++) {
        for (int r = 0; r < c->reduce_count; r++)
            for (int f = 0; f < c->format_count; f++) {
                size_t n = all[i] + (size_t)choice_extra(c, f, r);

                fprintf(file,
                        "  - {min_count: %zu, max_count: %zu, format: %s, "
                        "reduce: %s%s%s}\n",
                        n, n, c->formats[f].name, c->reduces[r],
                        c->rule ? ", " : "", c->rule ? c->rule : "");
            }
        fprintf(file, "  - {min_count: %zu, max_count: %zu, format: fp32}\n",
                all[i] + bypassed, all[i] + bypassed);
    }
    free(all);
}

void choice_print_help(FILE *file)
{
    fputs(help, file);
}

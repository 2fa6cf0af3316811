/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "bench/choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aps.h"
#include "base/print.h"
#include "cli/arguments.h"

#define DEFAULT_SIZES "1Ki,16Ki,256Ki,1Mi,4Mi,16Mi"
#define DEFAULT_FORMATS "e5m10,e4m3"
#define DEFAULT_REDUCES "hierarchical"
#define DEFAULT_ROWS "floor,types,copy"

static const struct aps_subcommand command = {
    .name = "bench",
    .operands = "",
    .help =
        "Times MPI_Allreduce of floats in each format, and compares it with\n"
        "native FP32 and other bounds. Start it by mpiexec, with as many "
        "ranks\n"
        "as training has, on machines that do nothing else:\n"
        "\n"
        "    mpiexec -n N apsmpi bench\n",
    .options =
        {
            {"sizes", "LIST",
             "floats, with Ki or Mi (default\n" DEFAULT_SIZES
             "); none: no sizes"},
            {"formats", "LIST",
             "number formats (default " DEFAULT_FORMATS "); none: no formats"},
            {"reduce", "LIST",
             "reductions, each with all formats (default\n" DEFAULT_REDUCES
             ")"},
            {"rule", "TEXT",
             "more of every rule of the policy, such as\n'scale: aps, group: "
             "2'; a rule has min_count, max_count,\nformat and reduce already"},
            {"rows", "LIST",
             "other rows: floor, native integers of the formats'\n"
             "widths; types, MPI's own bf16 and fp16; copy, memcpy;\n"
             "half, FP16 by an operation of the program; pass, calls\n"
             "that the library leaves to MPI (default\n" DEFAULT_ROWS
             "); none: no other row"},
            {"tensors", "FILE",
             "a layer table: also time a call for each of its layers"},
            {"in-place", NULL, "sum by MPI_IN_PLACE"},
            {"steady", NULL,
             "give all calls the same values; otherwise values are\n"
             "doubled or halved between calls, by chance"},
            {"recorded", "PATH",
             "give each call the gradients of the next step of a\n"
             "training, which tests/figures/record.c has written to\n"
             "PATH.RANK"},
            {"cold", "MIB",
             "read and write MIB of other memory before each call, as\n"
             "a program does between its calls"},
            {"seconds", "S", "time to spend on a size (default 3)"},
            {"rounds", "N", "at least N rounds, whatever the time (default 5)"},
            {"wire-gbit", "G",
             "rate of a host's link each way, in Gbit/s; shows its\n"
             "share instead of memcpy's"},
            {"csv", "FILE",
             "write the figures as CSV, which apsmpi-report draws"},
            {"json", "FILE", "write the figures as JSON"},
        },
};

static int bad(char *error, const char *what, const char *text)
{
    snprintf(error, APS_BENCH_ERROR, "%s '%.120s'", what, text);
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

static int compare_sizes(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

static int read_sizes(struct aps_bench_choice *c, const char *list, char *error)
{
    char item[32];

    while (next_item(&list, item, sizeof item)) {
        if (c->size_count == APS_BENCH_SIZES)
            return bad(error, "--sizes: one size too many:", item);
        if (aps_bench_read_size(item, &c->sizes[c->size_count]) < 0)
            return bad(
                error,
                "--sizes must be numbers of floats, such as 4096, 64Ki or 1Mi, "
                "not",
                item);
        c->size_count++;
    }
    qsort(c->sizes, (size_t)c->size_count, sizeof *c->sizes, compare_sizes);
    return 0;
}

static int read_formats(struct aps_bench_choice *c, const char *list,
                        char *error)
{
    char item[16];

    while (next_item(&list, item, sizeof item)) {
        struct aps_bench_format *format = &c->formats[c->format_count];
        const struct aps_format *named = aps_format_get(item, NULL);

        if (c->format_count == APS_BENCH_FORMATS)
            return bad(error, "--formats: one format too many:", item);
        if (!named)
            return bad(
                error,
                "--formats: not a format (apsmpi formats lists them):", item);
        snprintf(format->name, sizeof format->name, "%s", item);
        /* In a block, the error of a value is like that of the largest one. */
        format->mantissa =
            aps_format_block(named) > 1 ? 0 : aps_format_mantissa_bits(named);
        format->width = aps_format_width(named);
        c->format_count++;
    }
    return 0;
}

static int read_reduces(struct aps_bench_choice *c, const char *list,
                        char *error)
{
    char item[sizeof c->reduces[0]];

    while (next_item(&list, item, sizeof item)) {
        if (c->reduce_count == APS_BENCH_REDUCES)
            return bad(error, "--reduce: one reduction too many:", item);
        strcpy(c->reduces[c->reduce_count++], item);
    }
    return c->reduce_count ? 0 : bad(error, "--reduce: no reduction:", list);
}

static int read_rows(struct aps_bench_choice *c, const char *list, char *error)
{
#define ROW_NAME(ENUM, NAME) NAME,
    static const char *const names[] = {APS_BENCH_ROWS_LIST(ROW_NAME)};
    char item[16];

    while (next_item(&list, item, sizeof item)) {
        int row = 0;

        while (row < APS_BENCH_ROWS && strcmp(item, names[row]) != 0)
            row++;
        if (row == APS_BENCH_ROWS)
            return bad(
                error,
                "--rows must be of pass, floor, types, half and copy, not",
                item);
        c->rows[row] = true;
    }
    return 0;
}

/* Reads the lists, or their defaults; a list `none` is empty. */
static int read_lists(struct aps_bench_choice *c,
                      const struct aps_arguments *arguments, char *error)
{
    const struct {
        const char *name;
        const char *otherwise;
        int (*read)(struct aps_bench_choice *, const char *, char *);
    } lists[] = {
        {"sizes", DEFAULT_SIZES, read_sizes},
        {"formats", DEFAULT_FORMATS, read_formats},
        {"reduce", DEFAULT_REDUCES, read_reduces},
        {"rows", DEFAULT_ROWS, read_rows},
    };

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *list = aps_arguments_option(arguments, lists[i].name);

        if (!list)
            list = lists[i].otherwise;
        if (lists[i].read(c, strcmp(list, "none") == 0 ? "" : list, error) < 0)
            return -1;
    }
    return 0;
}

static int read_numbers(struct aps_bench_choice *c,
                        const struct aps_arguments *arguments, char *error)
{
    const struct {
        const char *name;
        double least;
        double *number;
    } numbers[] = {
        {"seconds", 0, &c->seconds},
        {"rounds", 1, &c->rounds},
        {"wire-gbit", 1e-6, &c->wire_gbit},
        {"cold", 1, &c->cold},
    };
    char *end;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const char *text = aps_arguments_option(arguments, numbers[i].name);
        double number;

        if (!text)
            continue;
        number = strtod(text, &end);
        if (end == text || *end ||
            !(number >= numbers[i].least && number <= 1e6)) {
            aps_print(error, APS_BENCH_ERROR,
                      "--%s must be a number from %g to 1e6, not '%.120s'",
                      numbers[i].name, numbers[i].least, text);
            return -1;
        }
        *numbers[i].number = number;
    }
    return 0;
}

enum aps_bench_action aps_bench_choice_read(int argc, char **argv,
                                            struct aps_bench_choice *c,
                                            char *error)
{
    struct aps_arguments arguments;
    const char *tensors;

    *c = (struct aps_bench_choice){.seconds = 3, .rounds = 5};
    if (aps_arguments_parse(&command, argc, argv, &arguments, error,
                            APS_BENCH_ERROR) < 0)
        return APS_BENCH_BAD;
    if (arguments.help)
        aps_arguments_help(&command, stdout);
    else if (arguments.version)
        printf("apsmpi " PACKAGE_VERSION "\n");
    if (arguments.help || arguments.version)
        return APS_BENCH_TEXT;
    if (read_lists(c, &arguments, error) < 0 ||
        read_numbers(c, &arguments, error) < 0)
        return APS_BENCH_BAD;
    c->rule = aps_arguments_option(&arguments, "rule");
    c->csv = aps_arguments_option(&arguments, "csv");
    c->json = aps_arguments_option(&arguments, "json");
    c->recorded = aps_arguments_option(&arguments, "recorded");
    c->in_place = aps_arguments_option(&arguments, "in-place") != NULL;
    c->steady =
        aps_arguments_option(&arguments, "steady") != NULL && !c->recorded;
    tensors = aps_arguments_option(&arguments, "tensors");
    if (tensors && aps_bench_read_tensors(tensors, &c->tensors,
                                          &c->tensor_count, error) < 0)
        return APS_BENCH_BAD;
    if (c->csv && c->json && strcmp(c->csv, c->json) == 0) {
        (void)bad(error, "--csv and --json name the same file,", c->csv);
        return APS_BENCH_BAD;
    }
    if (c->size_count + c->tensor_count == 0) {
        snprintf(error, APS_BENCH_ERROR, "no size and no tensor to measure");
        return APS_BENCH_BAD;
    }
    return APS_BENCH_RUN;
}

void aps_bench_choice_clear(struct aps_bench_choice *c)
{
    free(c->tensors);
    c->tensors = NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/options.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/nearest.h"

extern char **environ;

#define PREFIX "APSMPI_"
#define LAB "APSMPI_LAB" /* scripts/apsmpi-lab's own start with this */

typedef bool (*set_fn)(struct aps_options *options, const char *value);

static bool keep(char **where, const char *value)
{
    char *copy = strdup(value);

    if (!copy)
        return false;
    free(*where);
    *where = copy;
    return true;
}

static bool set_policy(struct aps_options *options, const char *value)
{
    return keep(&options->policy, value);
}

static bool set_log(struct aps_options *options, const char *value)
{
    return keep(&options->log, value);
}

static bool set_discovery(struct aps_options *options, const char *value)
{
    if (strcmp(value, "off") != 0)
        return keep(&options->discovery, value);
    free(options->discovery);
    options->discovery = NULL;
    return true;
}

static bool set_on_error(struct aps_options *options, const char *value)
{
    options->pass_on_error = strcmp(value, "pass") == 0;
    return options->pass_on_error || strcmp(value, "stop") == 0;
}

/* on | off; anything else leaves *flag alone. */
static bool set_flag(bool *flag, const char *value)
{
    if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
        return false;
    *flag = strcmp(value, "on") == 0;
    return true;
}

static bool set_summary(struct aps_options *options, const char *value)
{
    return set_flag(&options->summary, value);
}

static bool set_enable(struct aps_options *options, const char *value)
{
    return set_flag(&options->enabled, value);
}

/* The codec's chooser reads it; here only its spelling is checked. */
static bool set_cpu(struct aps_options *options, const char *value)
{
    (void)options;
    return strcmp(value, "plain") == 0 || strcmp(value, "avx2") == 0 ||
           strcmp(value, "avx512") == 0;
}

static bool set_test_nodes(struct aps_options *options, const char *value)
{
    const size_t length = strcspn(value, ":");
    const bool cyclic = strcmp(value + length, ":cyclic") == 0;
    uintmax_t nodes;

    if (aps_digits_parse(value, length, INT_MAX, &nodes) < 0 || nodes < 1 ||
        (value[length] != '\0' && !cyclic))
        return false;
    options->test_nodes = (int)nodes;
    options->test_cyclic = cyclic;
    return true;
}

static bool set_cuda(struct aps_options *options, const char *value)
{
    return keep(&options->cuda, value);
}

static bool set_cuda_aware(struct aps_options *options, const char *value)
{
    if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
        return false;
    options->cuda_aware =
        strcmp(value, "yes") == 0 ? APS_AWARE_YES : APS_AWARE_NO;
    return true;
}

static bool set_world(struct aps_options *options, const char *value)
{
    return set_flag(&options->world, value);
}

static bool set_cuda_ipc(struct aps_options *options, const char *value)
{
    return set_flag(&options->cuda_ipc, value);
}

static const struct option {
    const char *name;
    const char *values;
    const char *meaning;
    set_fn set;
} table[] = {
    {"APSMPI_POLICY", "FILE", "the policy; without one: discovery mode",
     set_policy},
    {"APSMPI_LOG", "FILE", "the round-off log, instead of the policy's",
     set_log},
    {"APSMPI_ON_ERROR", "stop|pass",
     "a bad policy stops the job (default), or all calls pass through",
     set_on_error},
    {"APSMPI_SUMMARY", "on|off", "one line at the end of the job (default on)",
     set_summary},
    {"APSMPI_DISCOVERY", "PREFIX|off",
     "where discovery writes PREFIX.yaml and PREFIX-layers.csv "
     "(default apsmpi-discovered)",
     set_discovery},
    {"APSMPI_ENABLE", "on|off", "off: every call passes through (default on)",
     set_enable},
    {"APSMPI_WORLD", "on|off",
     "off: MPI_Init makes no hidden communicator of the job, since some ranks "
     "run without the library (default on)",
     set_world},
    {"APSMPI_CPU", "plain|avx2|avx512",
     "force a variant of the kernels (default: the best)", set_cpu},
    {"APSMPI_CUDA", "FILE",
     "the plugin for buffers in GPU memory (default: libapsmpi-cuda.so beside "
     "libapsmpi.so)",
     set_cuda},
    {"APSMPI_CUDA_AWARE", "yes|no",
     "does MPI itself take buffers in GPU memory? (default: as it says)",
     set_cuda_aware},
    {"APSMPI_CUDA_IPC", "on|off",
     "off: the ranks of a node do not open each other's GPU memory (default "
     "on)",
     set_cuda_ipc},
    {"APSMPI_TEST_NODES", "N[:cyclic]",
     "for tests and demos: pretend that the ranks stand on N nodes",
     set_test_nodes},
};

#define TABLE_SIZE (sizeof table / sizeof *table)

static const struct option *find(const char *name, size_t length)
{
    for (size_t i = 0; i < TABLE_SIZE; i++)
        if (strlen(table[i].name) == length &&
            memcmp(table[i].name, name, length) == 0)
            return &table[i];
    return NULL;
}

static void warn_unknown(const char *name, struct aps_errors *warnings)
{
    const size_t prefix = strlen(PREFIX);
    struct aps_nearest nearest = {.word = name + prefix};
    char hint[APS_HINT_MAX];

    /* The prefix is common to all: it would make any two of them near. */
    for (size_t i = 0; i < TABLE_SIZE; i++)
        aps_nearest_offer(&nearest, table[i].name + prefix);
    aps_errors_add(
        warnings, NULL, 0, 0, "the unknown variable %s is ignored%s", name,
        aps_nearest_hint(nearest.best ? nearest.best - prefix : NULL, hint));
}

void aps_options_read(struct aps_options *options, struct aps_errors *errors,
                      struct aps_errors *warnings)
{
    *options = (struct aps_options){
        .discovery = strdup("apsmpi-discovered"),
        .summary = true,
        .enabled = true,
        .world = true,
        .cuda_ipc = true,
    };
    for (char **entry = environ; entry && *entry; entry++) {
        const char *equals = strchr(*entry, '=');
        const struct option *option;
        char name[64];
        size_t length;

        if (!equals || strncmp(*entry, PREFIX, strlen(PREFIX)) != 0 ||
            strncmp(*entry, LAB, strlen(LAB)) == 0)
            continue;
        length = (size_t)(equals - *entry);
        option = find(*entry, length);
        if (!option) {
            if (length >= sizeof name)
                length = sizeof name - 1;
            memcpy(name, *entry, length);
            name[length] = '\0';
            warn_unknown(name, warnings);
        } else if (equals[1] != '\0' && !option->set(options, equals + 1)) {
            aps_errors_add(errors, NULL, 0, 0,
                           "%s='%s' is wrong: the value must be %s",
                           option->name, equals + 1, option->values);
        }
    }
}

void aps_options_clear(struct aps_options *options)
{
    free(options->policy);
    free(options->log);
    free(options->discovery);
    free(options->cuda);
    options->policy = options->log = options->discovery = options->cuda = NULL;
}

void aps_options_print(FILE *stream)
{
    for (size_t i = 0; i < TABLE_SIZE; i++)
        fprintf(stream, "  %-18s %-18s %s\n", table[i].name, table[i].values,
                table[i].meaning);
}

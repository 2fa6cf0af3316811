/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/options.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cache.h"
#include "base/cpu.h"
#include "base/digits.h"
#include "base/nearest.h"
#include "base/switch.h"

extern char **environ;

#define PREFIX "APSMPI_"
#define DISCOVERED "apsmpi-discovered"
#define JSON "json:"
#define LAB "APSMPI_LAB" /* prefix of scripts/apsmpi-lab's own variables */

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

/* A prefix of files; off and its synonyms: none; on and its synonyms: the
 * default. */
static bool set_discovery(struct aps_options *options, const char *value)
{
    bool on;

    if (aps_switch_parse(value, &on) < 0)
        return keep(&options->discovery, value);
    if (on)
        return true;
    free(options->discovery);
    options->discovery = NULL;
    return true;
}

static bool set_on_error(struct aps_options *options, const char *value)
{
    options->pass_on_error = strcasecmp(value, "pass") == 0;
    return options->pass_on_error || strcasecmp(value, "stop") == 0;
}

static bool set_summary(struct aps_options *options, const char *value)
{
    if (strncasecmp(value, JSON, strlen(JSON)) == 0)
        return value[strlen(JSON)] != '\0' &&
               keep(&options->summary_file, value + strlen(JSON));
    return aps_switch_parse(value, &options->summary) == 0;
}

/* "|plain|avx2|avx512" */
#define OR_NAME(arg, CPU, name, target) "|" #name

/* These three are read elsewhere, when they are used; only their spelling is
 * checked here. */
static bool set_cpu(struct aps_options *options, const char *value)
{
    enum aps_cpu cpu;

    (void)options;
    return aps_cpu_parse(value, &cpu) == 0;
}

static bool set_passing(struct aps_options *options, const char *value)
{
    size_t bytes;

    (void)options;
    return aps_cache_passing_parse(value, &bytes) == 0;
}

static bool set_handoff(struct aps_options *options, const char *value)
{
    enum aps_cache_handoff handoff;

    (void)options;
    return aps_cache_handoff_parse(value, &handoff) == 0;
}

static bool set_test_nodes(struct aps_options *options, const char *value)
{
    const size_t length = strcspn(value, ":");
    const bool cyclic = strcasecmp(value + length, ":cyclic") == 0;
    uintmax_t nodes;

    if (aps_digits_parse(value, length, INT_MAX, &nodes) < 0 || nodes < 1 ||
        (value[length] != '\0' && !cyclic))
        return false;
    options->test_nodes = (int)nodes;
    options->test_cyclic = cyclic;
    return true;
}

static bool set_test_patience(struct aps_options *options, const char *value)
{
    uintmax_t milliseconds;

    if (aps_digits_parse(value, strlen(value), INT_MAX, &milliseconds) < 0 ||
        milliseconds < 1)
        return false;
    options->test_patience = (int)milliseconds;
    return true;
}

static bool set_cuda_aware(struct aps_options *options, const char *value)
{
    bool yes;

    if (aps_switch_parse(value, &yes) < 0)
        return false;
    options->cuda_aware = yes ? APS_AWARE_YES : APS_AWARE_NO;
    return true;
}

static bool set_threads(struct aps_options *options, const char *value)
{
    static const char *const words[] = {[APS_THREADS_HIDDEN] = "hidden",
                                        [APS_THREADS_SHOWN] = "shown",
                                        [APS_THREADS_KEPT] = "kept"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(value, words[i]) == 0) {
            options->threads = i;
            return true;
        }
    return false;
}

static const struct option {
    const char *name;
    const char *values;
    const char *meaning;
    const char *fallback; /* the value of an unset variable; NULL: none */
    bool is_switch;       /* on and off have synonyms */
    set_fn set;           /* NULL: a string or a switch at `offset` */
    size_t offset;
} table[] = {
    {"APSMPI_POLICY", "FILE", "the policy; without one: discovery mode", NULL,
     false, .offset = offsetof(struct aps_options, policy)},
    {"APSMPI_LOG", "FILE", "the round-off log, instead of the policy's", NULL,
     false, .offset = offsetof(struct aps_options, log)},
    {"APSMPI_SHADOW", "FORMATS",
     "candidates that are measured while MPI reduces, as 'shadow' in a policy",
     NULL, false, .offset = offsetof(struct aps_options, shadow)},
    {"APSMPI_FINAL_POLICY", "FILE",
     "file for a policy with the formats that `format: {auto: ...}` has chosen "
     "(default: LOG-policy.yaml next to the log)",
     NULL, false, .offset = offsetof(struct aps_options, final_policy)},
    {"APSMPI_ON_ERROR", "stop|pass",
     "a bad policy stops the job (default), or all calls pass through", "stop",
     false, .set = set_on_error},
    {"APSMPI_SUMMARY", "on|off|json:FILE",
     "lines at the first rewritten call and at the end of the job (default "
     "on), or a JSON object in FILE",
     "on", true, .set = set_summary},
    {"APSMPI_DISCOVERY", "PREFIX|off",
     "where discovery writes PREFIX.yaml and PREFIX-layers.csv (default "
     "apsmpi-discovered)",
     DISCOVERED, true, .set = set_discovery},
    {"APSMPI_ENABLE", "on|off", "off: every call passes through (default on)",
     "on", true, .offset = offsetof(struct aps_options, enabled)},
    {"APSMPI_WORLD", "on|off",
     "off: MPI_Init makes no hidden communicator of the job, because some "
     "ranks run without the library (default on)",
     "on", true, .offset = offsetof(struct aps_options, world)},
    {"APSMPI_THREADS", "hidden|shown|kept",
     "MPI's thread level is raised for nonblocking reductions, and the program "
     "sees its own (default) or MPI's; or it is never raised",
     "hidden", false, .set = set_threads},
    {"APSMPI_CPU", APS_CPU_ROWS(OR_NAME, ) + 1,
     "force a variant of the kernels (default: the best)", NULL, false,
     .set = set_cpu},
    {"APSMPI_STREAM", "on|off|BYTES[Ki|Mi|Gi]",
     "write results of at least this size past the caches (default on: more "
     "than a CPU's share of the last-level cache, 4Mi to 32Mi)",
     "on", true, .set = set_passing},
    {"APSMPI_HANDOFF", "auto|store|stream",
     "how ranks of a node write data for other ranks: by ordinary stores, past "
     "the caches, or as a rank's own measurement suggests (default auto)",
     "auto", false, .set = set_handoff},
    {"APSMPI_CUDA", "FILE",
     "the plugin for buffers in GPU memory (default: libapsmpi-cuda.so next "
     "to libapsmpi.so)",
     NULL, false, .offset = offsetof(struct aps_options, cuda)},
    {"APSMPI_CUDA_AWARE", "on|off",
     "whether MPI itself takes buffers in GPU memory (default: MPI's answer)",
     NULL, true, .set = set_cuda_aware},
    {"APSMPI_CUDA_IPC", "on|off",
     "off: the ranks of a node do not open each other's GPU memory (default "
     "on)",
     "on", true, .offset = offsetof(struct aps_options, cuda_ipc)},
    {"APSMPI_TEST_NODES", "N[:cyclic], N >= 1",
     "for tests and demos: pretend that the ranks are on N nodes", NULL, false,
     .set = set_test_nodes},
    {"APSMPI_TEST_PATIENCE", "N, N >= 1",
     "for tests: a wait is reported after N milliseconds (default 10000)", NULL,
     false, .set = set_test_patience},
};

#define TABLE_SIZE (sizeof table / sizeof *table)

/* Returns false if the value is wrong, or memory is missing. */
static bool set(const struct option *option, struct aps_options *options,
                const char *value)
{
    char *const field = (char *)options + option->offset;

    if (option->set)
        return option->set(options, value);
    return option->is_switch
               ? aps_switch_parse(value, (bool *)(void *)field) == 0
               : keep((char **)(void *)field, value);
}

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

    /* The common prefix would make any two of them near. */
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
        .discovery = strdup(DISCOVERED),
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
        } else if (equals[1] != '\0' && !set(option, options, equals + 1)) {
            aps_errors_add(errors, NULL, 0, 0,
                           "%s='%s' is wrong: the value must be %s%s",
                           option->name, equals + 1, option->values,
                           option->is_switch ? " " APS_SWITCH_SYNONYMS : "");
        }
    }
}

void aps_options_clear(struct aps_options *options)
{
    char **const texts[] = {&options->policy,       &options->log,
                            &options->final_policy, &options->shadow,
                            &options->discovery,    &options->cuda,
                            &options->summary_file};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        free(*texts[i]);
        *texts[i] = NULL;
    }
}

bool aps_options_state(size_t i, struct aps_option_state *state)
{
    struct aps_options scratch = {0};
    enum aps_cpu cpu;
    const char *value;
    bool on;

    if (i >= TABLE_SIZE)
        return false;
    value = getenv(table[i].name);
    *state = (struct aps_option_state){
        .name = table[i].name,
        .values = table[i].values,
        .meaning = table[i].meaning,
        .value = table[i].fallback,
        .from_environment =
            value && value[0] != '\0' && set(&table[i], &scratch, value),
    };
    aps_options_clear(&scratch);
    if (!state->from_environment)
        return true;
    state->value = value;
    if (table[i].set == set_on_error)
        state->value = scratch.pass_on_error ? "pass" : "stop";
    if (table[i].set == set_cpu && aps_cpu_parse(value, &cpu) == 0)
        state->value = aps_cpu_name(cpu);
    if (!table[i].is_switch || aps_switch_parse(value, &on) < 0)
        return true;
    state->value = on ? "on" : "off";
    if (on && table[i].set == set_discovery)
        state->value = DISCOVERED;
    return true;
}

void aps_options_print(FILE *stream)
{
    for (size_t i = 0; i < TABLE_SIZE; i++)
        fprintf(stream, "  %-18s %-18s %s\n", table[i].name, table[i].values,
                table[i].meaning);
}

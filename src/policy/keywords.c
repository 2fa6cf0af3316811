/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "policy/keywords.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "policy/policy.h"

int aps_keywords_find(const char *const *list, const char *word)
{
    for (int i = 0; list && list[i]; i++) {
        if (aps_same_word(list[i], word))
            return i;
    }
    return -1;
}

int aps_keywords_index(const struct aps_keywords *words, const char *word)
{
    for (const struct aps_alias *alias = words->aliases; alias && alias->word;
         alias++) {
        if (aps_same_word(alias->word, word))
            return aps_keywords_find(words->known, alias->known);
    }
    return aps_keywords_find(words->known, word);
}

static const struct aps_hint scale_hints[] = {
    {"on", "did you mean 'aps'?"},
    {"off", "did you mean 'none'?"},
    {"loss-scaling", "did you mean 'backoff', or 'fixed'?"},
    {"log-max", "did you mean 'logmax'?"},
    {"dynamic", "did you mean 'backoff'?"},
    {NULL, NULL},
};
static const struct aps_alias scale_aliases[] = {
    {"lognormal", "logmax"},
    {"log-normal", "logmax"},
    {NULL, NULL},
};
const struct aps_keywords aps_keywords_scale = {
    .known = aps_scale_names, .hints = scale_hints, .aliases = scale_aliases};

static const char *const overflows[] = {
    [APS_OVERFLOW_REDO] = "redo",
    [APS_OVERFLOW_INF] = "inf",
    [APS_OVERFLOW_SATURATE] = "saturate",
    [APS_OVERFLOW_ZERO] = "zero",
    NULL,
};
static const struct aps_hint overflow_hints[] = {
    {"skip", "the library cannot skip a step; 'inf' is for programs that do"},
    {"nan", "did you mean 'inf'?"},
    {NULL, NULL},
};
const struct aps_keywords aps_keywords_overflow = {.known = overflows,
                                                   .hints = overflow_hints};

static const char *const scopes[] = {
    [APS_SCOPE_LAYER] = "layer",
    [APS_SCOPE_MODEL] = "model",
    NULL,
};
const struct aps_keywords aps_keywords_scope = {.known = scopes};

static const char *const reductions[] = {
    [APS_REDUCE_DIRECT] = "direct", [APS_REDUCE_HIERARCHICAL] = "hierarchical",
    [APS_REDUCE_RING] = "ring",     [APS_REDUCE_MASTER] = "master",
    [APS_REDUCE_GATHER] = "gather", [APS_REDUCE_AUTO] = "auto",
    [APS_REDUCE_KINDS] = NULL,
};
static const struct aps_hint reduce_hints[] = {
    {"native", "'format: native' leaves the call to MPI"},
    {"mpi", "'format: native' leaves the call to MPI"},
    {NULL, NULL},
};
const struct aps_keywords aps_keywords_reduce = {.known = reductions,
                                                 .hints = reduce_hints};

static const struct aps_hint compress_hints[] = {
    {"off", "did you mean 'none'?"},
    {"low-rank", "did you mean 'powersgd'?"},
    {"terngrad", "did you mean 'ternary'?"},
    {"powersgd+mstopk", "did you mean 'mstopk+powersgd'?"},
    {"qsgd", "QSGD is a format: format: qsgd7/512"},
    {"int8", "integers are a format: format: int8/512"},
    {"sign", "signs are a format: format: sign/512, feedback: on"},
    {"signsgd", "signs are a format: format: sign/512, feedback: on"},
    {"onebit", "signs are a format: format: sign/512, feedback: on"},
    {NULL, NULL},
};
const struct aps_keywords aps_keywords_compress = {
    .known = aps_compressor_names, .hints = compress_hints};

/* "number" is missing: it means any number, and is not a keyword. */
static const char *const groups[] = {
    [APS_GROUP_NODE] = "node",
    [APS_GROUP_PACKAGE] = "package",
    [APS_GROUP_NUMA] = "numa",
    [APS_GROUP_L3] = "l3",
    NULL,
};
static const struct aps_hint group_hints[] = {
    {"socket", "did you mean 'package'?"},
    {"host", "did you mean 'node'?"},
    {"machine", "did you mean 'node'?"},
    {NULL, NULL},
};
const struct aps_keywords aps_keywords_group = {
    .known = groups, .hints = group_hints, .also = "a number"};

static const char *const nodes[] = {
    [APS_NODE_FORMAT] = "format",
    [APS_NODE_FP32] = "fp32",
    NULL,
};
const struct aps_keywords aps_keywords_node = {.known = nodes};

static const char *const accumulations[] = {
    [APS_ACCUMULATE_FP32] = "fp32",
    [APS_ACCUMULATE_FORMAT] = "format",
    [APS_ACCUMULATE_KAHAN] = "kahan",
    NULL,
};
static const char *const roundings[] = {
    [APS_ROUNDING_NEAREST] = "nearest",
    [APS_ROUNDING_STOCHASTIC] = "stochastic",
    [APS_ROUNDING_CORRELATED] = "correlated",
    [APS_ROUNDING_WORDS] = NULL,
};
static const enum aps_rounding rounding_of_word[APS_ROUNDING_WORDS] = {
    [APS_ROUNDING_NEAREST] = APS_ROUND_NEAREST,
    [APS_ROUNDING_STOCHASTIC] = APS_ROUND_STOCHASTIC,
    [APS_ROUNDING_CORRELATED] = APS_ROUND_CORRELATED,
};
static const struct aps_hint rounding_hints[] = {
    {"random", "did you mean 'stochastic'?"},
    {"sr", "did you mean 'stochastic'?"},
    {"rne", "did you mean 'nearest'?"},
    {"even", "did you mean 'nearest'?"},
    {"truncate", "values are rounded to nearest, or stochastically"},
    {"zero", "values are rounded to nearest, or stochastically"},
    {NULL, NULL},
};
const struct aps_keywords aps_keywords_rounding = {.known = roundings,
                                                   .hints = rounding_hints};

#define FP64                                                                   \
    "without it a rank adds elements of double in FP64, and formats of up to " \
    "e11m52 keep more bits of the sum than FP32"
static const struct aps_hint accumulate_hints[] = {
    {"fp64", FP64},
    {"float64", FP64},
    {"double", FP64},
    {"bf16", "write accumulate: {format: bf16}"},
    {"fp16", "write accumulate: {format: fp16}"},
    {"tf32", "write accumulate: {format: tf32}"},
    {"chunk", "write accumulate: {chunk: 64}"},
    {NULL, NULL},
};
const struct aps_keywords aps_keywords_accumulate = {.known = accumulations,
                                                     .hints = accumulate_hints};

static const char *const calls[] = {
    [APS_CALL_ALLREDUCE] = "allreduce",
    [APS_CALL_REDUCE_SCATTER] = "reduce_scatter",
    [APS_CALL_ALLGATHER] = "allgather",
    [APS_CALL_REDUCE] = "reduce",
    [APS_CALL_BCAST] = "bcast",
    [APS_CALL_KINDS] = NULL,
};
static const struct aps_hint call_hints[] = {
    {"all", "name each of them: [allreduce, reduce_scatter, allgather, reduce, "
            "bcast]"},
    {"broadcast", "did you mean 'bcast'?"},
    {"mpi_bcast", "did you mean 'bcast'?"},
    {"ibcast", "'bcast' includes nonblocking calls"},
    {"iallreduce", "'allreduce' includes nonblocking calls"},
    {"allreduce_init", "'allreduce' includes persistent requests"},
    {"ireduce_scatter", "'reduce_scatter' includes nonblocking calls"},
    {"reduce_scatter_block", "'reduce_scatter' includes these calls"},
    {"iallgather", "'allgather' includes nonblocking calls"},
    {"ireduce", "'reduce' includes nonblocking calls"},
    {NULL, NULL},
};
const struct aps_keywords aps_keywords_call = {.known = calls,
                                               .hints = call_hints};

static const char *const operations[] = {"sum", "probe", NULL};
static const struct aps_hint operation_hints[] = {
    {"mpi_sum", "did you mean 'sum'?"},
    {"all", "did you mean 'probe'?"},
    {NULL, NULL},
};
const struct aps_keywords aps_keywords_operations = {.known = operations,
                                                     .hints = operation_hints};

#define TYPE_NAME(ELEMENT, NAME, ...) NAME,
static const char *const types[] = {APS_ELEMENT_ROWS(TYPE_NAME) NULL};
static const struct aps_hint type_hints[] = {
    {"fp32", "did you mean 'float'?"},     {"float32", "did you mean 'float'?"},
    {"half", "did you mean 'fp16'?"},      {"float16", "did you mean 'fp16'?"},
    {"bfloat16", "did you mean 'bf16'?"},  {"fp64", "did you mean 'double'?"},
    {"float64", "did you mean 'double'?"}, {NULL, NULL},
};
const struct aps_keywords aps_keywords_type = {.known = types,
                                               .hints = type_hints};

#define OF_A_RULE "it belongs in a rule, as in rules: [{format: e4m3}]"
const struct aps_hint aps_top_hints[] = {
    {"format", OF_A_RULE},
    {"scale", OF_A_RULE},
    {"reduce", OF_A_RULE},
    {"compress", OF_A_RULE},
    {"feedback", OF_A_RULE},
    {"rounding", OF_A_RULE},
    {"calls", OF_A_RULE},
    {"epochs", OF_A_RULE},
    {"accumulate", OF_A_RULE},
    {"max_count", OF_A_RULE},
    {"group", OF_A_RULE},
    {"per_epoch", "it belongs in 'steps': steps: {per_epoch: N}"},
    {NULL, NULL},
};

static const char *const progresses[] = {
    [APS_PROGRESS_CALLS] = "calls",
    [APS_PROGRESS_THREAD] = "thread",
    NULL,
};
const struct aps_keywords aps_keywords_progress = {.known = progresses};

bool aps_reduce_takes(enum aps_reduce_kind kind, enum aps_setting setting)
{
#define BIT(name) (1u << APS_SETTING_##name)
    /* Kahan summation and chunks belong to the sum of one rank. Reductions
     * that send partial sums have neither, and send the sums in the rule's
     * format. */
    static const unsigned settings[APS_REDUCE_KINDS] = {
        [APS_REDUCE_DIRECT] = BIT(KAHAN) | BIT(CHUNK) | BIT(SUMS),
        [APS_REDUCE_HIERARCHICAL] =
            BIT(GROUP) | BIT(NODE) | BIT(KAHAN) | BIT(CHUNK) | BIT(SUMS),
        [APS_REDUCE_RING] = 0,
        [APS_REDUCE_MASTER] = BIT(GROUP),
        [APS_REDUCE_GATHER] = BIT(KAHAN) | BIT(CHUNK) | BIT(SUMS),
        [APS_REDUCE_AUTO] = BIT(GROUP) | BIT(NODE),
    };
#undef BIT

    return (settings[kind] >> setting & 1) != 0;
}

bool aps_call_sums(enum aps_call_kind kind)
{
    return kind != APS_CALL_ALLGATHER && kind != APS_CALL_BCAST;
}

char *aps_keywords_list(const struct aps_keywords *words, unsigned mask,
                        const char *last, char *list, size_t size)
{
    size_t used = 0;

    list[0] = '\0';
    for (unsigned i = 0; mask >> i != 0 && used < size; i++) {
        unsigned behind = mask >> i >> 1;

        if ((mask >> i & 1) == 0)
            continue;
        used +=
            (size_t)snprintf(list + used, size - used, "%s%s", words->known[i],
                             behind == 0                    ? ""
                             : (behind & (behind - 1)) == 0 ? last
                                                            : ", ");
    }
    return list;
}

const char *aps_reduce_name(enum aps_reduce_kind kind)
{
    return reductions[kind];
}

const char *aps_group_name(enum aps_group_kind kind)
{
    return kind == APS_GROUP_NUMBER ? "number" : groups[kind];
}

const char *aps_node_name(enum aps_node_kind kind)
{
    return nodes[kind];
}

const char *aps_call_name(enum aps_call_kind kind)
{
    return calls[kind];
}

const char *aps_progress_name(enum aps_progress_kind kind)
{
    return progresses[kind];
}

enum aps_rounding aps_rounding_of_word(enum aps_rounding_word word)
{
    return rounding_of_word[word];
}

const char *aps_rounding_name(enum aps_rounding rounding)
{
    int word = 0;

    while (word < APS_ROUNDING_WORDS - 1 && rounding_of_word[word] != rounding)
        word++;
    return roundings[word];
}

char *aps_plan_accumulate(const struct aps_plan *plan, char *buffer,
                          size_t size)
{
    char chunk[24] = "";

    if (plan->chunk > 0)
        snprintf(chunk, sizeof chunk, " chunk %d", plan->chunk);
    if (plan->accumulate == APS_ACCUMULATE_FP32 ||
        strcmp(plan->sums.name, plan->format.name) == 0)
        snprintf(buffer, size, "%s%s", aps_accumulate_name(plan->accumulate),
                 chunk);
    else
        snprintf(buffer, size, "%s%s%s", plan->sums.name,
                 plan->accumulate == APS_ACCUMULATE_KAHAN ? " kahan" : "",
                 chunk);
    return buffer;
}

const char *aps_accumulate_name(enum aps_accumulate_kind kind)
{
    return accumulations[kind];
}

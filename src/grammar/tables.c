/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "grammar/tables.h"

#include <limits.h>

#include "policy/policy.h"

#define END                                                                    \
    {                                                                          \
        .name = NULL                                                           \
    }

static const char *const format_words[] = {
    [APS_FORMAT_WORD_NATIVE] = "native", [APS_FORMAT_WORD_FP32] = "fp32", NULL};
static const struct aps_keywords formats = {.known = format_words};
const struct aps_grammar aps_grammar_format = {.words = &formats,
                                               .formats = true};

#define GROUP                                                                  \
    {                                                                          \
        .name = "group", .kind = APS_PARAMETER_WORD_OR_WHOLE, .min = 1,        \
        .max = INT_MAX, .words = &aps_keywords_group,                          \
        .otherwise = APS_GROUP_NODE                                            \
    }
#define NODE                                                                   \
    {                                                                          \
        .name = "node", .kind = APS_PARAMETER_WORD,                            \
        .words = &aps_keywords_node, .otherwise = APS_NODE_FORMAT              \
    }
const struct aps_parameter aps_parameter_group = GROUP;
const struct aps_parameter aps_parameter_node = NODE;

static const struct aps_parameter grouped[] = {[APS_REDUCE_GROUP] = GROUP, END};
static const struct aps_parameter grouped_on_nodes[] = {
    [APS_REDUCE_GROUP] = GROUP, [APS_REDUCE_NODE] = NODE, END};
static const struct aps_choice reductions[] = {
    [APS_REDUCE_DIRECT] = {NULL, NULL},
    [APS_REDUCE_HIERARCHICAL] = {grouped_on_nodes, NULL},
    [APS_REDUCE_RING] = {NULL, NULL},
    [APS_REDUCE_MASTER] = {grouped, NULL},
    [APS_REDUCE_GATHER] = {NULL, NULL},
    [APS_REDUCE_AUTO] = {grouped_on_nodes, NULL},
};
const struct aps_grammar aps_grammar_reduce = {.words = &aps_keywords_reduce,
                                               .choices = reductions};

static const struct aps_parameter sums[] = {
    [APS_SUM_FORMAT] = {.name = "format", .kind = APS_PARAMETER_FORMAT},
    [APS_SUM_KAHAN] = {.name = "kahan", .kind = APS_PARAMETER_SWITCH},
    [APS_SUM_CHUNK] = {.name = "chunk",
                       .kind = APS_PARAMETER_WHOLE,
                       .min = 2, /* a chunk of one is no chunk */
                       .max = INT_MAX,
                       .excludes = "kahan"},
    END};
const struct aps_grammar aps_grammar_accumulate = {
    .words = &aps_keywords_accumulate, .own = sums};

static const struct aps_parameter seeded[] = {
    [APS_ROUNDING_SEED] = {.name = "seed",
                           .kind = APS_PARAMETER_WHOLE,
                           .max = UINT32_MAX},
    END};
static const struct aps_choice roundings[] = {
    [APS_ROUNDING_NEAREST] = {NULL, NULL},
    [APS_ROUNDING_STOCHASTIC] = {seeded, NULL},
    [APS_ROUNDING_CORRELATED] = {seeded, NULL},
};
const struct aps_grammar aps_grammar_rounding = {
    .words = &aps_keywords_rounding, .choices = roundings};

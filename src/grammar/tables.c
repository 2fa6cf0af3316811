/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "grammar/tables.h"

#include <limits.h>
#include <math.h>

#include "policy/policy.h"
#include "scale/history.h"

#define END                                                                    \
    {                                                                          \
        .name = NULL                                                           \
    }

static const char *const format_words[] = {
    [APS_FORMAT_WORD_NATIVE] = "native", [APS_FORMAT_WORD_FP32] = "fp32", NULL};
static const struct aps_keywords formats = {.known = format_words};
const struct aps_grammar aps_grammar_format = {.words = &formats,
                                               .formats = true};
const struct aps_grammar aps_grammar_rule_format = {
    .words = &formats, .formats = true, .wide = true};

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
                       .min = 2, /* a chunk of one value has no effect */
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

/* --- scales --------------------------------------------------------------- */

static const struct aps_parameter fixed[] = {{.name = "factor",
                                              .kind = APS_PARAMETER_REAL,
                                              .required = true,
                                              .above = true,
                                              .min = 0,
                                              .max = INFINITY},
                                             END};
/* Treatment of an overflow by a scale with a state, and the owner of the
 * state. */
#define ON_OVERFLOW                                                            \
    {                                                                          \
        .name = "on_overflow", .kind = APS_PARAMETER_WORD,                     \
        .words = &aps_keywords_overflow, .otherwise = APS_OVERFLOW_REDO        \
    }
#define SCOPE                                                                  \
    {                                                                          \
        .name = "scope", .kind = APS_PARAMETER_WORD,                           \
        .words = &aps_keywords_scope, .otherwise = -1                          \
    }
/* A scale: a float above 0. */
#define SCALE .kind = APS_PARAMETER_REAL, .above = true, .max = INFINITY

/* A number of calls. */
#define CALLS .kind = APS_PARAMETER_WHOLE, .min = 1, .max = INT_MAX

/* Weight of the old value in a moving average: less than 1. */
#define WEIGHT .kind = APS_PARAMETER_REAL, .max = 1 - 0x1p-20

static const struct aps_parameter backoff[] = {
    [APS_BACKOFF_START] = {.name = "start",
                           SCALE,
                           .follows = "max",
                           .at_most = "max"},
    [APS_BACKOFF_MAX] = {.name = "max", SCALE, .otherwise = 0x1p14},
    [APS_BACKOFF_MIN] = {.name = "min",
                         SCALE,
                         .otherwise = 1,
                         .at_most = "start"},
    [APS_BACKOFF_FACTOR] = {.name = "factor",
                            .kind = APS_PARAMETER_REAL,
                            .above = true,
                            .min = 1,
                            .max = INFINITY,
                            .otherwise = 2},
    [APS_BACKOFF_WINDOW] = {.name = "window", CALLS, .otherwise = 2000},
    [APS_BACKOFF_ON_OVERFLOW] = ON_OVERFLOW,
    [APS_BACKOFF_SCOPE] = SCOPE,
    END};

static const struct aps_parameter logmax[] = {
    [APS_LOGMAX_DEVIATIONS] = {.name = "deviations",
                               .kind = APS_PARAMETER_REAL,
                               .min = 0,
                               .max = 100,
                               .otherwise = 3.09},
    [APS_LOGMAX_MAX] = {.name = "max", SCALE, .otherwise = 0x1p14},
    [APS_LOGMAX_MIN] = {.name = "min", SCALE, .otherwise = 1, .at_most = "max"},
    [APS_LOGMAX_BETA1] = {.name = "beta1", WEIGHT, .otherwise = 0.99},
    [APS_LOGMAX_BETA2] = {.name = "beta2", WEIGHT, .otherwise = 0.999},
    [APS_LOGMAX_ON_OVERFLOW] = ON_OVERFLOW,
    [APS_LOGMAX_SCOPE] = SCOPE,
    END};

static const char *const models[] = {
    [APS_UNDERFLOW_NORMAL] = "normal",
    [APS_UNDERFLOW_LOG_NORMAL] = "log-normal",
    NULL,
};
static const struct aps_alias model_aliases[] = {
    {"gaussian", "normal"},
    {"lognormal", "log-normal"},
    {NULL, NULL},
};
static const struct aps_keywords model_words = {.known = models,
                                                .aliases = model_aliases};
static const struct aps_parameter underflow[] = {
    [APS_UNDERFLOW_MODEL] = {.name = "model",
                             .kind = APS_PARAMETER_WORD,
                             .words = &model_words,
                             .otherwise = APS_UNDERFLOW_NORMAL},
    [APS_UNDERFLOW_GAMMA] = {.name = "gamma",
                             .kind = APS_PARAMETER_REAL,
                             .above = true,
                             .max = 0.5,
                             .otherwise = 1e-3},
    [APS_UNDERFLOW_EVERY] = {.name = "every", CALLS, .otherwise = 100},
    [APS_UNDERFLOW_MIN] = {.name = "min",
                           .kind = APS_PARAMETER_REAL,
                           .max = INFINITY,
                           .otherwise = 1},
    [APS_UNDERFLOW_ON_OVERFLOW] = ON_OVERFLOW,
    END};

static const char *const sources[] = {
    [APS_UNIT_MEASURED] = "measured",
    [APS_UNIT_TABLE] = "table",
    NULL,
};
static const struct aps_keywords source_words = {.known = sources};
static const struct aps_parameter unit[] = {
    [APS_UNIT_FROM] = {.name = "from",
                       .kind = APS_PARAMETER_WORD,
                       .words = &source_words,
                       .otherwise = APS_UNIT_MEASURED},
    [APS_UNIT_STEPS] = {.name = "steps",
                        CALLS,
                        .otherwise = 1,
                        .needs = "from"},
    [APS_UNIT_ON_OVERFLOW] = ON_OVERFLOW,
    END};

static const struct aps_parameter autoflex[] = {
    [APS_AUTOFLEX_WINDOW] = {.name = "window",
                             .kind = APS_PARAMETER_WHOLE,
                             .min = 1,
                             .max = 1024,
                             .otherwise = 16},
    [APS_AUTOFLEX_ALPHA] = {.name = "alpha",
                            .kind = APS_PARAMETER_REAL,
                            .min = 1,
                            .max = 16,
                            .otherwise = 2},
    [APS_AUTOFLEX_BETA] = {.name = "beta",
                           .kind = APS_PARAMETER_REAL,
                           .max = 1024,
                           .otherwise = 3},
    [APS_AUTOFLEX_GAMMA] = {.name = "gamma",
                            .kind = APS_PARAMETER_REAL,
                            .max = 1024,
                            .otherwise = 100},
    [APS_AUTOFLEX_ON_OVERFLOW] = ON_OVERFLOW,
    END};

static const char *const algos[] = {
    [APS_DELAYED_MAX] = "max",
    [APS_DELAYED_MOST_RECENT] = "most_recent",
    NULL,
};
static const struct aps_keywords algo_words = {.known = algos};
static const struct aps_parameter delayed[] = {
    [APS_DELAYED_HISTORY] = {.name = "history",
                             .kind = APS_PARAMETER_WHOLE,
                             .min = 1,
                             .max = 65536,
                             .otherwise = 1024,
                             .needs = "algo"},
    [APS_DELAYED_MARGIN] = {.name = "margin",
                            .kind = APS_PARAMETER_WHOLE,
                            .max = 100},
    [APS_DELAYED_ALGO] = {.name = "algo",
                          .kind = APS_PARAMETER_WORD,
                          .words = &algo_words,
                          .otherwise = APS_DELAYED_MAX},
    [APS_DELAYED_ON_OVERFLOW] = ON_OVERFLOW,
    END};

static const struct aps_parameter dfxp[] = {
    [APS_DFXP_EVERY] = {.name = "every", CALLS, .otherwise = 100},
    [APS_DFXP_ON_OVERFLOW] = ON_OVERFLOW,
    END};

static const struct aps_choice scales[APS_SCALE_KINDS] = {
    [APS_SCALE_FIXED] = {fixed, "scale: {fixed: 1024}"},
    [APS_SCALE_BACKOFF] = {backoff, NULL},
    [APS_SCALE_LOGMAX] = {logmax, NULL},
    [APS_SCALE_UNDERFLOW] = {underflow, NULL},
    [APS_SCALE_UNIT] = {unit, NULL},
    [APS_SCALE_AUTOFLEX] = {autoflex, NULL},
    [APS_SCALE_DELAYED] = {delayed, NULL},
    [APS_SCALE_DFXP] = {dfxp, NULL},
};
const struct aps_grammar aps_grammar_scale = {.words = &aps_keywords_scale,
                                              .choices = scales};

struct aps_scale aps_scale_unnamed(bool rounds_sums)
{
    return (struct aps_scale){.kind = rounds_sums ? APS_SCALE_APS
                                                  : APS_SCALE_APS_TIGHT};
}

struct aps_scale aps_scale_switched(bool on)
{
    return (struct aps_scale){.kind = on ? APS_SCALE_APS : APS_SCALE_NONE};
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The parameters of scales. */
#include "config.h"

#include "policy/tables.h"

#include <limits.h>
#include <math.h>

#include "policy/policy.h"
#include "scale/history.h"

#define END                                                                    \
    {                                                                          \
        .name = NULL                                                           \
    }

static const struct aps_parameter fixed[] = {{.name = "factor",
                                              .kind = APS_PARAMETER_REAL,
                                              .required = true,
                                              .above = true,
                                              .min = 0,
                                              .max = INFINITY},
                                             END};
/* What a scale with a state does where a value overflows, and whose state it
 * is. */
#define ON_OVERFLOW                                                            \
    {                                                                          \
        .name = "on_overflow", .kind = APS_PARAMETER_WORD,                     \
        .words = &aps_words_overflow, .otherwise = APS_OVERFLOW_REDO           \
    }
#define SCOPE                                                                  \
    {                                                                          \
        .name = "scope", .kind = APS_PARAMETER_WORD,                           \
        .words = &aps_words_scope, .otherwise = -1                             \
    }
/* A scale itself: a float above 0. */
#define SCALE .kind = APS_PARAMETER_REAL, .above = true, .max = INFINITY

/* What a moving average keeps: less than 1. */
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
    [APS_BACKOFF_WINDOW] = {.name = "window",
                            .kind = APS_PARAMETER_WHOLE,
                            .min = 1,
                            .max = INT_MAX,
                            .otherwise = 2000},
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

static const struct aps_choice scales[APS_SCALE_KINDS] = {
    [APS_SCALE_FIXED] = {fixed, "scale: {fixed: 1024}"},
    [APS_SCALE_BACKOFF] = {backoff, NULL},
    [APS_SCALE_LOGMAX] = {logmax, NULL},
};
const struct aps_grammar aps_grammar_scale = {.words = &aps_words_scale,
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

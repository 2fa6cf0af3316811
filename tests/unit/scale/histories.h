/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of scales with a state share: one state and its calls. */
#ifndef APS_TESTS_UNIT_SCALE_HISTORIES_H
#define APS_TESTS_UNIT_SCALE_HISTORIES_H

#include "scale/scale.h"

struct history {
    const struct aps_scale *scale;
    struct aps_format format;
    int ranks;
    size_t bytes;
    void *state; /* owned */
};

/* A state that has seen nothing, of calls in that format. */
void history_begin(struct history *history, const struct aps_scale *scale,
                   const char *format, int ranks);
void history_end(struct history *history);

struct aps_scale_prediction history_predict(const struct history *history);
void history_update(struct history *history, double in_max, double sum_max,
                    bool over);

/* A whole call of finite values: what it asks of those, prediction, and update
 * by what then is the case. Whether a value overflowed is set in *over. */
struct aps_scale_prediction
history_call(struct history *history, const struct aps_scale_moments *moments,
             double sum_max, bool *over);

/* Moments of which only the maximum matters. */
struct aps_scale_moments history_max(double max);

/* ok() of what holds of every scale with a state, whatever its parameters:
 * zeros, INF and NaN change nothing, and predictions are the same each time, within
 * -400 ... 400, and of states of the same calls. */
void history_check(const struct aps_scale *scale);

/* Normally distributed, the same sequence in every run. */
double history_normal(void);

#endif

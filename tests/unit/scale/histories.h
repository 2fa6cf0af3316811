/* SPDX-License-Identifier: BSD-3-Clause */
/* One state and its calls, for the tests of scales with a state. */
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

/* Begins a new state, for calls in that format. */
void history_begin(struct history *history, const struct aps_scale *scale,
                   const char *format, int ranks);
void history_end(struct history *history);

struct aps_scale_prediction history_predict(const struct history *history);
void history_update(struct history *history, double in_max, double sum_max,
                    bool over);

/* Makes a whole call of finite values: its questions about them, prediction,
 * and update with the result. *over tells whether a value overflowed. */
struct aps_scale_prediction
history_call(struct history *history, const struct aps_scale_moments *moments,
             double sum_max, bool *over);

/* Returns moments of which only the maximum matters. */
struct aps_scale_moments history_max(double max);

/* Tests properties of every scale with a state, for all parameters: zeros, INF
 * and NaN change nothing, and predictions are reproducible, within -400 ...
 * 400, and equal for states of the same calls. */
void history_check(const struct aps_scale *scale);

/* Returns normally distributed values, the same sequence in every run. */
double history_normal(void);

#endif

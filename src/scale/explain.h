/* SPDX-License-Identifier: BSD-3-Clause */
/* Scales, explained. */
#ifndef APS_SCALE_EXPLAIN_H
#define APS_SCALE_EXPLAIN_H

#include "scale/scale.h"

/*
 * What a scale with a state does at the first call and later, whose the state
 * is, and what becomes of an overflow, in sentences. `layers`: is it known which
 * layer a call has, or, without a step, its size alone? Writes at most `size`
 * bytes, APS_SCALE_TEXT_MAX are enough; returns `buffer`, which is empty for
 * scales without a state.
 */
#define APS_SCALE_TEXT_MAX 800
char *aps_scale_explain(const struct aps_scale *scale,
                        const struct aps_format *format, bool layers,
                        char *buffer, size_t size);

/* Is there something about the scale that can hardly work with that format,
 * which does not scale its blocks itself? Then `buffer` says what, as a sentence
 * without its stop. */
bool aps_scale_warning(const struct aps_scale *scale,
                       const struct aps_format *format, char *buffer,
                       size_t size);

/* The doubt about values that are multiplied by a constant `factor`, where all
 * below the half of 1 then become 0; `how` begins the sentence, and `unit`
 * follows the number. */
bool aps_scale_warning_constant(const char *how, const char *unit,
                                double factor, const struct aps_format *format,
                                char *buffer, size_t size);

/* "16384" as "2^14", "3.09". Writes into and returns `buffer`. */
#define APS_SCALE_NUMBER_MAX 32
char *aps_scale_explain_number(double x, char buffer[APS_SCALE_NUMBER_MAX]);

/* After what the state changes: "step" or "call". */
const char *aps_scale_explain_turn(const struct aps_scale *scale);

#endif

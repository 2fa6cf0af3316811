/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences about scales, for people. */
#ifndef APS_SCALE_EXPLAIN_H
#define APS_SCALE_EXPLAIN_H

#include "scale/scale.h"

/*
 * Describes a scale with a state: its effect at the first call and later, the
 * owner of the state, and the effect of an overflow, in sentences. `layers`:
 * the layer of a call is known; otherwise, without steps, only its size. Writes
 * at most `size` bytes, APS_SCALE_TEXT_MAX are enough; returns `buffer`, which
 * is empty for scales without a state.
 */
#define APS_SCALE_TEXT_MAX 800
char *aps_scale_explain(const struct aps_scale *scale,
                        const struct aps_format *format, bool layers,
                        char *buffer, size_t size);

/* True if the scale can hardly work with that format, whose blocks do not scale
 * themselves. `buffer` then gets the reason, as a sentence without its full
 * stop. */
bool aps_scale_warning(const struct aps_scale *scale,
                       const struct aps_format *format, char *buffer,
                       size_t size);

/* Warns about values that are multiplied by a constant `factor`, if the
 * format's smallest value is at least `factor`, so that all values below half
 * of it become 0. `how` begins the sentence, and `unit` follows the number. */
bool aps_scale_warning_constant(const char *how, const char *unit,
                                double factor, const struct aps_format *format,
                                char *buffer, size_t size);

/* Formats "16384" as "2^14", other numbers as "3.09". Writes to `buffer` and
 * returns it. */
#define APS_SCALE_NUMBER_MAX 32
char *aps_scale_explain_number(double x, char buffer[APS_SCALE_NUMBER_MAX]);

/* Returns the unit of the state's updates: "step" or "call". */
const char *aps_scale_explain_turn(const struct aps_scale *scale);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The codec of a format on this CPU, and the searches that precede an encode.
 * kernel/ops.h describes the functions of a codec.
 */
#ifndef APS_CODEC_CODEC_H
#define APS_CODEC_CODEC_H

#include <stddef.h>

#include "kernel/ops.h"

/* Fills the ops table for a format on this CPU. APSMPI_CPU (base/cpu.h) forces a
 * variant; if the CPU lacks it, the best variant of the CPU is used. */
void aps_codec_init(const struct aps_format *format, struct aps_codec *codec);

/* Fills the ops table with the named variant (base/cpu.h), for tests.
 * Returns -1 if this build or this CPU lacks it. */
int aps_codec_init_for(const struct aps_format *format, const char *cpu,
                       struct aps_codec *codec);

/* Returns the greatest finite |x[i]| as a float (0 for none), the input of
 * every exponent search. NaN and INF are skipped. Exact, subnormals
 * included. */
float aps_max_finite(const float *x, size_t n);

/* Returns aps_max_finite, and whether all of x[n] is finite. Faster if all of
 * it is. */
struct aps_magnitude aps_magnitude_of(const float *x, size_t n);

#endif

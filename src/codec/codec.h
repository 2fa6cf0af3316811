/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The codec of a format on this CPU, and the searches that precede an encode.
 * What a codec does is described in kernel/ops.h.
 */
#ifndef APS_CODEC_CODEC_H
#define APS_CODEC_CODEC_H

#include <stddef.h>

#include "kernel/ops.h"

/*
 * Fill the ops table for a format on this CPU. APSMPI_CPU (plain, avx2, avx512)
 * forces a variant; one that this CPU lacks falls back to the best that the CPU
 * has.
 */
void aps_codec_init(const struct aps_format *format, struct aps_codec *codec);

/* The same of the variant that is named, plain, avx2 or avx512, for tests. -1 if
 * this build or this CPU has none. */
int aps_codec_init_for(const struct aps_format *format, const char *cpu,
                       struct aps_codec *codec);

/*
 * The greatest finite |x[i]| as a float (0 for none), the input of every
 * exponent search. NaN and INF are passed over. Exact, subnormals included.
 */
float aps_max_finite(const float *x, size_t n);

/* The same, and whether all of x[n] is finite. Faster where all of it is. */
struct aps_magnitude aps_magnitude_of(const float *x, size_t n);

#endif

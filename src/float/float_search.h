/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Codes and the greatest magnitude of an array in one pass: the body that float.c
 * compiles for each kind of vectors. Inlined into float.c.
 */
#ifndef APS_FLOAT_FLOAT_SEARCH_H
#define APS_FLOAT_FLOAT_SEARCH_H

#include "float/float_chunk.h"
#include "kernel/kernel.h"
#include "kernel/scaling.h"
#if defined(__x86_64__)
#include "float/encode_avx2.h"
#include "simd/nearest_vbmi.h"
#endif

/* To nearest, with a scaling that is a guess; and the magnitude of x. */
APS_INLINE bool encode_search_body(const struct aps_codec *codec,
                                   const float *x, size_t n,
                                   struct aps_scaling scaling,
                                   enum vectors vectors, void *wire,
                                   struct aps_magnitude *magnitude)
{
#if defined(__x86_64__)
    const struct aps_kernel kernel = aps_kernel_init(&codec->format);
    const aps_any_float *in = (const void *)x;
    const unsigned width = (unsigned)codec->format.width;
    struct aps_nearest nearest;
    struct aps_avx2 avx2;
    float scale;
    uint32_t greatest;

    if (!aps_scaling_is_simple(&codec->format, scaling))
        return false;
    scale = scaling.factor * aps_float_pow2(scaling.exponent);
    if (vectors == VBMI && aps_nearest_suits(&codec->format)) {
        nearest = aps_nearest_make(&kernel, width, scale);
        if (!nearest.folded)
            return false;
        greatest = aps_nearest_search(&nearest, in, n, wire);
    } else if (vectors == AVX2 && aps_avx2_suits(&codec->format)) {
        avx2 = aps_avx2_make(&kernel, width, scale);
        if (!avx2.folded)
            return false;
        greatest = aps_avx2_search(&avx2, in, n, wire);
    } else {
        return false;
    }
    *magnitude = magnitude_of(greatest, in, n);
    return true;
#else
    (void)codec, (void)x, (void)n, (void)scaling, (void)vectors, (void)wire;
    (void)magnitude;
    return false;
#endif
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes and decodes elements of 16 bits with AVX-512. Included by float.c. */
#ifndef APS_FLOAT_FLOAT_ELEMENTS_H
#define APS_FLOAT_FLOAT_ELEMENTS_H

#include "base/element.h"
#include "base/size_min.h"
#include "kernel/kernel.h"
#include "kernel/ops.h"
#include "kernel/scaling.h"
#include "kernel/table.h"
#include "kernel/tile.h"
#include "simd/nearest_vbmi.h"
#include "simd/table_vbmi.h"

APS_CODEC_AVX512 static size_t
encode_elements(const struct aps_codec *codec, enum aps_element element,
                const void *x, size_t n, struct aps_scaling scaling, void *wire)
{
    const struct aps_kernel kernel = aps_kernel_init(&codec->format);
    const unsigned width = (unsigned)codec->format.width;
    struct aps_nearest nearest;

    if (aps_element_types[element].bytes != 2 ||
        !aps_nearest_suits(&codec->format) ||
        !aps_scaling_is_simple(&codec->format, scaling))
        return 0;
    nearest = aps_nearest_make(
        &kernel, width, scaling.factor * aps_float_pow2(scaling.exponent));
    for (size_t i = 0; i < n; i += APS_TILE)
        if (!nearest.folded ||
            !aps_nearest_elements(
                &nearest, element, aps_element_at(element, x, i),
                aps_size_min(n - i, APS_TILE), (uint8_t *)wire + i / 8 * width))
            return i;
    return n;
}

APS_CODEC_AVX512 static bool decode_elements(const struct aps_codec *codec,
                                             const void *wire, size_t n,
                                             struct aps_scaling scaling,
                                             unsigned flags,
                                             enum aps_element element, void *x)
{
    struct aps_kernel kernel = aps_kernel_init(&codec->format);
    const unsigned width = (unsigned)codec->format.width;

    if (aps_element_types[element].bytes != 2 || width > APS_TABLE_WIDTH ||
        !aps_scaling_inverse_is_simple(scaling))
        return false;
    if (flags & APS_BLOCK_NAN)
        aps_kernel_mark(&kernel);
    aps_table_decode(&kernel, width, wire, n, aps_float_pow2(-scaling.exponent),
                     element == APS_ELEMENT_BF16 ? APS_PUT_BF16 : APS_PUT_FP16,
                     x);
    return true;
}

#endif

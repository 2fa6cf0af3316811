/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Elements of bf16 and fp16 (base/element.h) in vectors of AVX-512: converted to
 * FP32 when they are loaded, and rounded when they are stored. Included by x86-64
 * builds only.
 */
#ifndef APS_SIMD_ELEMENTS_VBMI_H
#define APS_SIMD_ELEMENTS_VBMI_H

#include <immintrin.h>

#include "base/element.h"
#include "kernel/kernel.h"
#include "kernel/table.h"

/* Functions for an element type that is a constant: FP32, bf16 or fp16. */

APS_INLINE size_t aps_elements_bytes(enum aps_element element)
{
    return element == APS_ELEMENT_FLOAT ? 4 : 2;
}

/* Returns the address of element i. */
APS_INLINE aps_any_float *aps_elements_at(enum aps_element element,
                                          const aps_any_float *x, size_t i)
{
    return (void *)((uintptr_t)x + i * aps_elements_bytes(element));
}

/* Returns the values of x[16]. */
APS_CODEC_AVX512 APS_INLINE __m512 aps_elements_load(enum aps_element element,
                                                     const aps_any_float *x)
{
    __m256i half;

    if (element == APS_ELEMENT_FLOAT)
        return _mm512_loadu_ps((const void *)x);
    half = _mm256_loadu_si256((const void *)x);
    if (element == APS_ELEMENT_FP16)
        return _mm512_cvtph_ps(half);
    return _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
}

/* Returns y[16] rounded to nearest, with the codes of the formats bf16 and fp16:
 * each NaN is the canonical one of its sign. */
APS_TARGET_VBMI APS_INLINE __m256i aps_elements_round(enum aps_element element,
                                                      __m512 y)
{
    const __mmask16 nan = _mm512_cmp_ps_mask(y, y, _CMP_UNORD_Q);
    const __m512i bits = _mm512_castps_si512(y);
    const __m512i high = _mm512_srli_epi32(bits, 16);
    const __m512i odd = _mm512_and_si512(high, _mm512_set1_epi32(1));
    const __m512i carry = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff));
    const bool fp16 = element == APS_ELEMENT_FP16;
    const __m256i half = fp16 ? _mm512_cvtps_ph(y, _MM_FROUND_TO_NEAREST_INT)
                              : _mm512_cvtepi32_epi16(_mm512_srli_epi32(
                                    _mm512_add_epi32(bits, carry), 16));
    /* sign | mantissa and exponent of the NaN */
    const __m256i special =
        _mm256_or_si256(_mm256_and_si256(_mm512_cvtepi32_epi16(high),
                                         _mm256_set1_epi16(INT16_MIN)),
                        _mm256_set1_epi16(fp16 ? 0x7e00 : 0x7fc0));

    return _mm256_mask_mov_epi16(half, nan, special);
}

#endif

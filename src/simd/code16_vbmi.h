/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoding of formats of 16 bits for CPUs with AVX-512, 32 values at a time: the
 * bits of aps_kernel_decode_array. The CPU itself converts fp16, bf16 is the upper
 * half of a float. Included by x86-64 builds only.
 */
#ifndef APS_SIMD_CODE16_VBMI_H
#define APS_SIMD_CODE16_VBMI_H

#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#include "kernel/kernel.h"
#include "simd/table_vbmi.h"
#include "simd/code16.h"

/* A format's constants. */
struct aps_code16 {
    __m512i first, limit, special, rebias, magic;
    __m512i shift;
    __m512 scale;
};

APS_TARGET_VBMI APS_INLINE struct aps_code16
aps_code16_make(const struct aps_kernel *k, float scale)
{
    return (struct aps_code16){
        .first = _mm512_set1_epi32((int)k->first),
        .limit = _mm512_set1_epi32((int)k->limit),
        .special = _mm512_set1_epi32((int)k->special),
        .rebias = _mm512_set1_epi32((int)k->rebias),
        .magic = _mm512_castps_si512(_mm512_set1_ps(k->magic)),
        .shift = _mm512_set1_epi32((int)k->shift),
        .scale = _mm512_set1_ps(scale),
    };
}

/* Returns the values of 16 codes, each in its own lane, like
 * aps_kernel_decode. */
APS_TARGET_VBMI APS_INLINE __m512 aps_code16_values(const struct aps_code16 *w,
                                                    __m512i code)
{
    const __m512i magnitude = _mm512_and_si512(code, _mm512_set1_epi32(0x7fff));
    const __m512i below = _mm512_castps_si512(_mm512_sub_ps(
        _mm512_castsi512_ps(_mm512_add_epi32(w->magic, magnitude)),
        _mm512_castsi512_ps(w->magic)));
    __m512i bits =
        _mm512_add_epi32(_mm512_sllv_epi32(magnitude, w->shift), w->rebias);

    bits = _mm512_mask_mov_epi32(
        bits, _mm512_cmplt_epu32_mask(magnitude, w->first), below);
    bits = _mm512_mask_or_epi32(
        bits, _mm512_cmpge_epu32_mask(magnitude, w->limit), bits, w->special);
    /* bits | (code << 16 & sign) */
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(
        bits, _mm512_slli_epi32(code, 16), _mm512_set1_epi32(INT32_MIN), 0xf8));
}

APS_TARGET_VBMI APS_INLINE void aps_code16_16(const struct aps_code16 *w,
                                              enum aps_code16_kind kind,
                                              const uint8_t *wire,
                                              enum aps_put put, __m512 *special,
                                              aps_any_float *x)
{
    const __m256i codes = _mm256_loadu_si256((const void *)wire);
    __m512 y;

    if (kind == APS_CODE16_FP16)
        y = _mm512_cvtph_ps(codes);
    else if (kind == APS_CODE16_BF16)
        y = _mm512_castsi512_ps(
            _mm512_slli_epi32(_mm512_cvtepu16_epi32(codes), 16));
    else
        y = aps_code16_values(w, _mm512_cvtepu16_epi32(codes));
    aps_table_store(x, _mm512_mul_ps(y, w->scale), put, false, 0, special);
}

/* n is a multiple of 32. */
APS_TARGET_VBMI APS_INLINE void
aps_code16_decode_body(const struct aps_code16 *constants,
                       enum aps_code16_kind kind, const uint8_t *wire, size_t n,
                       enum aps_put put, aps_any_float *x)
{
    const struct aps_code16 w = *constants;
    struct aps_table_seen seen = aps_table_seen_none();

    for (size_t i = 0; i < n; i += 32) {
        aps_code16_16(&w, kind, wire + 2 * i, put, &seen.special[0], x + i);
        aps_code16_16(&w, kind, wire + 2 * i + 32, put, &seen.special[1],
                      x + i + 16);
    }
    if (put == APS_PUT_ADD)
        aps_table_settle(&seen, x, n);
}

APS_TARGET_VBMI APS_INLINE void
aps_code16_decode_kind(const struct aps_code16 *w, enum aps_code16_kind kind,
                       const uint8_t *wire, size_t n, enum aps_put put,
                       aps_any_float *x)
{
    switch (put) {
    case APS_PUT:
        aps_code16_decode_body(w, kind, wire, n, APS_PUT, x);
        break;
    case APS_PUT_ADD:
        aps_code16_decode_body(w, kind, wire, n, APS_PUT_ADD, x);
        break;
    case APS_PUT_STREAM:
        aps_code16_decode_body(w, kind, wire, n, APS_PUT_STREAM, x);
        break;
    case APS_PUT_BF16:
    case APS_PUT_FP16:
        break; /* the caller converts such values */
    }
}

/* x[n] = (or +=, as `put` says) value of the codes at `wire` * scale. */
APS_TARGET_VBMI static inline void
aps_code16_decode(const struct aps_kernel *kernel, const uint8_t *wire,
                  size_t n, float scale, enum aps_put put, aps_any_float *x)
{
    const struct aps_code16 w = aps_code16_make(kernel, scale);
    const size_t whole = n / 32 * 32;

    switch (aps_code16_kind_of(kernel)) {
    case APS_CODE16_FP16:
        aps_code16_decode_kind(&w, APS_CODE16_FP16, wire, whole, put, x);
        break;
    case APS_CODE16_BF16:
        aps_code16_decode_kind(&w, APS_CODE16_BF16, wire, whole, put, x);
        break;
    case APS_CODE16_ANY:
        aps_code16_decode_kind(&w, APS_CODE16_ANY, wire, whole, put, x);
        break;
    }
    aps_kernel_decode_array(kernel, wire + 2 * whole, 2, n - whole, scale,
                            put == APS_PUT_ADD, x + whole);
}

#endif

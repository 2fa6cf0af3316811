/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoding of formats of up to 8 bits by a table in registers, for CPUs with
 * AVX-512 VBMI: a byte permutation looks 64 codes up at once. The values of
 * such formats are floats whose low 16 bits are zero, so that two bytes a value
 * do. Included by x86-64 builds only.
 */
#ifndef APS_CODEC_TABLE_VBMI_H
#define APS_CODEC_TABLE_VBMI_H

#include <immintrin.h>

#include "codec/kernel.h"
#include "codec/pack_vbmi.h"
#include "codec/put.h"
#include "codec/tile.h"

#define APS_TABLE_WIDTH 8  /* bits, at most */
#define APS_TABLE_CODES 64 /* looked up at a time */

/* The values of all codes; of 8 bits, those without sign. */
struct aps_table {
    __m512i low[2];  /* third byte of the float, codes 0-63 and 64-127 */
    __m512i high[2]; /* fourth byte */
    __m512i sign;    /* the codes' bit that goes to the fourth byte as it is */
};

APS_TARGET_VBMI static struct aps_table
aps_table_make(const struct aps_kernel *kernel, unsigned width)
{
    struct aps_table table;
    uint8_t low[128], high[128];

    for (uint32_t code = 0; code < 128; code++) {
        uint32_t bits = aps_float_bits(aps_kernel_decode(
            kernel, code & ((1u << (width < 8 ? width : 7)) - 1)));

        low[code] = (uint8_t)(bits >> 16);
        high[code] = (uint8_t)(bits >> 24);
    }
    for (int i = 0; i < 2; i++) {
        table.low[i] = _mm512_loadu_si512(low + 64 * i);
        table.high[i] = _mm512_loadu_si512(high + 64 * i);
    }
    table.sign = _mm512_set1_epi8(width == 8 ? -128 : 0);
    return table;
}

/* How 64 packed codes are taken apart, each into a byte. */
struct aps_table_unpack {
    __mmask64 bytes; /* of the wire */
    __m512i spread;  /* the bytes of eight codes, to each 64-bit lane */
    __m512i shifts;  /* where each of the eight starts */
    __m512i mask;    /* of a code */
};

APS_TARGET_VBMI static struct aps_table_unpack
aps_table_unpack_make(unsigned width)
{
    struct aps_table_unpack unpack;
    uint8_t spread[64], shifts[64];

    for (unsigned i = 0; i < 64; i++) {
        spread[i] = (uint8_t)(i / 8 * width + i % 8);
        shifts[i] = (uint8_t)(i % 8 * width);
    }
    unpack.bytes = width < 8 ? ((uint64_t)1 << 8 * width) - 1 : ~UINT64_C(0);
    unpack.spread = _mm512_loadu_si512(spread);
    unpack.shifts = _mm512_loadu_si512(shifts);
    unpack.mask = _mm512_set1_epi8((char)((1u << width) - 1));
    return unpack;
}

/* x[16] = (or +=) y; with `tail` the elements of `some`, which do not pass the
 * caches. NaN of a sum: the canonical one. */
APS_TARGET_VBMI APS_INLINE void aps_table_store(aps_any_float *x, __m512 y,
                                                enum aps_put put, bool tail,
                                                __mmask16 some)
{
    if (put == APS_PUT_ADD) {
        const __m512 nan =
            _mm512_castsi512_ps(_mm512_set1_epi32(APS_FLOAT_NAN));
        const __m512 sum = tail ? _mm512_maskz_loadu_ps(some, (const void *)x)
                                : _mm512_loadu_ps((const void *)x);

        y = _mm512_add_ps(sum, y);
        y = _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask(y, y, _CMP_UNORD_Q), nan);
    }
    if (tail)
        _mm512_mask_storeu_ps((void *)x, some, y);
    else if (put == APS_PUT_STREAM)
        _mm512_stream_ps((void *)x, y);
    else
        _mm512_storeu_ps((void *)x, y);
}

/* 64 packed codes, each into a byte. */
APS_TARGET_VBMI APS_INLINE __m512i
aps_table_unpack_codes(const struct aps_table_unpack *unpack, __m512i codes)
{
    codes = _mm512_permutexvar_epi8(unpack->spread, codes);
    codes = _mm512_multishift_epi64_epi8(unpack->shifts, codes);
    return _mm512_and_si512(codes, unpack->mask);
}

/* The values of 64 codes, times scale[0] those of the first half, times scale[1]
 * the others. With `tail`, those of `some`: masks cost. */
APS_TARGET_VBMI APS_INLINE void
aps_table_look_up(const struct aps_table *table, __m512i codes, bool tail,
                  uint64_t some, const __m512 *scale, enum aps_put put,
                  aps_any_float *x)
{
    /* The unpacking below works in lanes of 16 bytes: four codes of each
     * sixteen have to lie in each. */
    const __m512i order =
        _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i zero = _mm512_setzero_si512();
    __m512i low, high, half[2];

    codes = _mm512_permutexvar_epi32(order, codes);
    low = _mm512_permutex2var_epi8(table->low[0], codes, table->low[1]);
    high = _mm512_permutex2var_epi8(table->high[0], codes, table->high[1]);
    /* high | (codes & sign) */
    high = _mm512_ternarylogic_epi32(high, codes, table->sign, 0xf8);
    half[0] = _mm512_unpacklo_epi8(low, high);
    half[1] = _mm512_unpackhi_epi8(low, high);
    for (int q = 0; q < 4; q++) {
        const __m512i bits = q % 2 == 0
                                 ? _mm512_unpacklo_epi16(zero, half[q / 2])
                                 : _mm512_unpackhi_epi16(zero, half[q / 2]);

        aps_table_store(x + 16 * q,
                        _mm512_mul_ps(_mm512_castsi512_ps(bits), scale[q / 2]),
                        put, tail, (__mmask16)(some >> 16 * q));
    }
}

/* 64 values, or n < 64 with `tail`. */
APS_TARGET_VBMI APS_INLINE void
aps_table_decode_codes(const struct aps_table *table,
                       const struct aps_table_unpack *unpack, unsigned width,
                       const uint8_t *wire, size_t n, bool tail, __m512 scale,
                       enum aps_put put, aps_any_float *x)
{
    const uint64_t some = tail ? ((uint64_t)1 << n) - 1 : ~UINT64_C(0);
    const __m512 scales[2] = {scale, scale};
    __m512i codes;

    if (tail)
        codes = _mm512_maskz_loadu_epi8(
            ((uint64_t)1 << (n * width + 7) / 8) - 1, wire);
    else if (width < 8)
        codes = _mm512_maskz_loadu_epi8(unpack->bytes, wire);
    else
        codes = _mm512_loadu_si512(wire);
    if (width < 8)
        codes = aps_table_unpack_codes(unpack, codes);
    aps_table_look_up(table, codes, tail, some, scales, put, x);
}

APS_TARGET_VBMI APS_INLINE void
aps_table_decode_body(const struct aps_kernel *kernel, unsigned width,
                      const uint8_t *wire, size_t n, float scale,
                      enum aps_put put, aps_any_float *x)
{
    const struct aps_table table = aps_table_make(kernel, width);
    const struct aps_table_unpack unpack = aps_table_unpack_make(width);
    const __m512 factor = _mm512_set1_ps(scale);
    size_t i = 0;

    for (; n - i >= APS_TABLE_CODES; i += APS_TABLE_CODES, wire += 8 * width) {
        if (put != APS_PUT_STREAM)
            aps_tile_ask_to_write(x + i, APS_TABLE_CODES);
        aps_table_decode_codes(&table, &unpack, width, wire, APS_TABLE_CODES,
                               false, factor, put, x + i);
    }
    if (i < n)
        aps_table_decode_codes(&table, &unpack, width, wire, n - i, true,
                               factor, put, x + i);
}

/* The same in a loop of its own for what is done with the values. */
APS_TARGET_VBMI APS_INLINE void
aps_table_decode_put(const struct aps_kernel *kernel, unsigned width,
                     const uint8_t *wire, size_t n, float scale,
                     enum aps_put put, aps_any_float *x)
{
    switch (put) {
    case APS_PUT:
        aps_table_decode_body(kernel, width, wire, n, scale, APS_PUT, x);
        break;
    case APS_PUT_ADD:
        aps_table_decode_body(kernel, width, wire, n, scale, APS_PUT_ADD, x);
        break;
    case APS_PUT_STREAM:
        aps_table_decode_body(kernel, width, wire, n, scale, APS_PUT_STREAM, x);
        break;
    }
}

/*
 * x[n] = (or +=, as `put` says) value of the packed codes at `wire` * scale; the
 * same bits as aps_kernel_decode_array.
 */
APS_TARGET_VBMI static inline void
aps_table_decode(const struct aps_kernel *kernel, unsigned width,
                 const uint8_t *wire, size_t n, float scale, enum aps_put put,
                 aps_any_float *x)
{
    if (width == 8)
        aps_table_decode_put(kernel, 8, wire, n, scale, put, x);
    else
        aps_table_decode_put(kernel, width, wire, n, scale, put, x);
}

#endif

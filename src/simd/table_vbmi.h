/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoding of formats of up to 8 bits by a table in registers, for CPUs with
 * AVX-512 VBMI: a byte permutation looks 64 codes up at once. The values of
 * such formats are floats whose low 16 bits are zero, so that two bytes a value
 * are enough. Included by x86-64 builds only.
 */
#ifndef APS_SIMD_TABLE_VBMI_H
#define APS_SIMD_TABLE_VBMI_H

#include <immintrin.h>
#include <stdbool.h>

#include "kernel/kernel.h"
#include "simd/elements_vbmi.h"
#include "simd/pack_vbmi.h"
#include "kernel/tile.h"

#define APS_TABLE_WIDTH 8  /* most bits */
#define APS_TABLE_CODES 64 /* looked up at a time */

/* The values of all codes; with 8 bits, of those without sign. */
struct aps_table {
    __m512i low[2];  /* third byte of the float, codes 0-63 and 64-127 */
    __m512i high[2]; /* fourth byte */
    __m512i sign;    /* the codes' bit that is copied to the fourth byte */
    __m512 scale[2]; /* factors of the first and of the other 32 values of 64 */
    bool scaled;     /* the values are multiplied already */
};

/* Constants of a compiled loop. */
struct aps_table_how {
    bool
        few; /* codes of up to 6 bits, for which one vector's bytes are enough */
    bool sign;   /* codes of 8 bits */
    bool scaled; /* as above */
    enum aps_put put;
};

/* Whether sums contain a NaN, also after an INF. */
struct aps_table_seen {
    __m512 special[2]; /* NaN if there was one */
};

/* Gets, for all codes without sign, the values times `scale`. Returns whether
 * two bytes each are enough. */
APS_TARGET_VBMI APS_INLINE bool
aps_table_values(const struct aps_kernel *kernel, unsigned width, float scale,
                 uint32_t *value)
{
    const uint32_t codes = (1u << (width < 8 ? width : 7)) - 1;
    uint32_t more = 0;

    for (uint32_t code = 0; code < 128; code++) {
        value[code] =
            aps_float_bits(aps_kernel_decode(kernel, code & codes) * scale);
        more |= value[code] << 16;
    }
    return more == 0;
}

/* Makes a table, scaled if that is possible. */
APS_TARGET_VBMI static struct aps_table
aps_table_make(const struct aps_kernel *kernel, unsigned width, float scale)
{
    struct aps_table table;
    uint8_t low[128], high[128];
    uint32_t value[128];

    table.scaled = aps_table_values(kernel, width, scale, value);
    if (!table.scaled)
        (void)aps_table_values(kernel, width, 1, value);
    for (uint32_t code = 0; code < 128; code++) {
        low[code] = (uint8_t)(value[code] >> 16);
        high[code] = (uint8_t)(value[code] >> 24);
    }
    for (int i = 0; i < 2; i++) {
        table.low[i] = _mm512_loadu_si512(low + 64 * i);
        table.high[i] = _mm512_loadu_si512(high + 64 * i);
        table.scale[i] = _mm512_set1_ps(table.scaled ? 1 : scale);
    }
    table.sign = _mm512_set1_epi8(width == 8 ? -128 : 0);
    return table;
}

/* Constants that separate 64 packed codes into bytes. */
struct aps_table_unpack {
    __mmask64 bytes; /* bytes of the wire */
    __m512i spread;  /* four codes to each 32-bit lane; with 8 bits, in order */
    __m512i shifts;  /* start of each code in its 64-bit lane */
    __m512i mask;    /* mask of a code */
};

/* Returns the code of 64 that belongs in byte i for aps_table_look_up. The
 * values of bytes 2d and 2d + 1 of each 16 go to 32-bit lane d of four. Values
 * of even bytes go to the first vector of floats, and values of odd bytes to the
 * second, or, from byte 8 on, to the third and the fourth. */
APS_INLINE unsigned aps_table_code_of(unsigned i)
{
    return i / 8 % 2 * 32 + i % 2 * 16 + i / 16 * 4 + i / 2 % 4;
}

APS_TARGET_VBMI static struct aps_table_unpack
aps_table_unpack_make(unsigned width)
{
    struct aps_table_unpack unpack;
    uint8_t spread[64], shifts[64];

    for (unsigned i = 0; i < 64; i++) {
        const unsigned code = aps_table_code_of(i);
        /* each half of a 64-bit lane gets the four codes of its bytes */
        const unsigned four = aps_table_code_of(i / 8 * 8 + i / 4 % 2);

        spread[i] = (uint8_t)(width == 8 ? code : four * width / 8 + i % 4);
        shifts[i] =
            (uint8_t)(i % 2 * 32 + code * width - (code & ~3u) * width / 8 * 8);
    }
    unpack.bytes = width < 8 ? ((uint64_t)1 << 8 * width) - 1 : ~UINT64_C(0);
    unpack.spread = _mm512_loadu_si512(spread);
    unpack.shifts = _mm512_loadu_si512(shifts);
    unpack.mask = _mm512_set1_epi8((char)((1u << width) - 1));
    return unpack;
}

/* Returns the type of the elements that are stored. */
APS_INLINE enum aps_element aps_table_element(enum aps_put put)
{
    return put == APS_PUT_BF16   ? APS_ELEMENT_BF16
           : put == APS_PUT_FP16 ? APS_ELEMENT_FP16
                                 : APS_ELEMENT_FLOAT;
}

/* x[16] = (or +=) y; with `tail` the elements of `some`, by ordinary stores. */
APS_TARGET_VBMI APS_INLINE void aps_table_store(aps_any_float *x, __m512 y,
                                                enum aps_put put, bool tail,
                                                __mmask16 some, __m512 *special)
{
    if (put == APS_PUT_ADD) {
        const __m512 sum = tail ? _mm512_maskz_loadu_ps(some, (const void *)x)
                                : _mm512_loadu_ps((const void *)x);

        y = _mm512_add_ps(sum, y);
        *special = _mm512_fmadd_ps(y, _mm512_setzero_ps(), *special);
    }
    if (aps_table_element(put) != APS_ELEMENT_FLOAT)
        _mm256_mask_storeu_epi16((void *)x, tail ? some : (__mmask16)-1,
                                 aps_elements_round(aps_table_element(put), y));
    else if (tail)
        _mm512_mask_storeu_ps((void *)x, some, y);
    else if (put == APS_PUT_STREAM)
        _mm512_stream_ps((void *)x, y);
    else
        _mm512_storeu_ps((void *)x, y);
}

APS_TARGET_VBMI APS_INLINE struct aps_table_seen aps_table_seen_none(void)
{
    return (struct aps_table_seen){{_mm512_setzero_ps(), _mm512_setzero_ps()}};
}

/* After all of the sums x[n]: makes each NaN canonical. */
APS_TARGET_VBMI APS_INLINE void
aps_table_settle(const struct aps_table_seen *seen, aps_any_float *x, size_t n)
{
    const __m512 special = _mm512_add_ps(seen->special[0], seen->special[1]);

    if (_mm512_cmp_ps_mask(special, special, _CMP_UNORD_Q) == 0)
        return;
    for (size_t i = 0; i < n; i++)
        if (x[i] != x[i])
            x[i] = aps_float_from_bits(APS_FLOAT_NAN);
}

/* Separates 64 packed codes into bytes, for aps_table_look_up. */
APS_TARGET_VBMI APS_INLINE __m512i aps_table_unpack_codes(
    const struct aps_table_unpack *unpack, bool bytes, __m512i codes)
{
    codes = _mm512_permutexvar_epi8(unpack->spread, codes);
    if (bytes)
        return codes;
    codes = _mm512_multishift_epi64_epi8(unpack->shifts, codes);
    return _mm512_and_si512(codes, unpack->mask);
}

/* Looks up one byte of each value, for 64 codes. */
APS_TARGET_VBMI APS_INLINE __m512i aps_table_bytes(const __m512i *bytes,
                                                   struct aps_table_how how,
                                                   __m512i codes)
{
    return how.few ? _mm512_permutexvar_epi8(codes, bytes[0])
                   : _mm512_permutex2var_epi8(bytes[0], codes, bytes[1]);
}

/* y[4] = the values of 64 codes, the first half times scale[0], the second
 * times scale[1]. */
APS_TARGET_VBMI APS_INLINE void
aps_table_look_up(const struct aps_table *table, struct aps_table_how how,
                  __m512i codes, const __m512 *scale, __m512 *y)
{
    const __m512i odd = _mm512_set1_epi32((int)0xffff0000u);
    const __m512i low = aps_table_bytes(table->low, how, codes);
    __m512i high = aps_table_bytes(table->high, how, codes);
    __m512i half[2];

    if (how.sign) /* high | (codes & sign) */
        high = _mm512_ternarylogic_epi32(high, codes, table->sign, 0xf8);
    half[0] = _mm512_unpacklo_epi8(low, high);
    half[1] = _mm512_unpackhi_epi8(low, high);
    for (int q = 0; q < 4; q++) {
        const __m512i bits = q % 2 == 0 ? _mm512_slli_epi32(half[q / 2], 16)
                                        : _mm512_and_si512(half[q / 2], odd);

        y[q] = _mm512_castsi512_ps(bits);
        if (!how.scaled)
            y[q] = _mm512_mul_ps(y[q], scale[q / 2]);
    }
}

/* x[64] = (or +=) y; with `tail`, only those of `some`, because masks cost
 * time. */
APS_TARGET_VBMI APS_INLINE void
aps_table_store_64(aps_any_float *x, const __m512 *y, enum aps_put put,
                   bool tail, uint64_t some, struct aps_table_seen *seen)
{
    for (int q = 0; q < 4; q++)
        aps_table_store(
            aps_elements_at(aps_table_element(put), x, (size_t)(16 * q)), y[q],
            put, tail, (__mmask16)(some >> 16 * q), &seen->special[q % 2]);
}

/* Loads 64 packed codes, for aps_table_look_up. */
APS_TARGET_VBMI APS_INLINE __m512i aps_table_load(
    const struct aps_table_unpack *unpack, unsigned width, const uint8_t *wire)
{
    return aps_table_unpack_codes(
        unpack, width == 8,
        width < 8 ? _mm512_maskz_loadu_epi8(unpack->bytes, wire)
                  : _mm512_loadu_si512(wire));
}

/* Decodes 64 values, or n < 64 with `tail`. */
APS_TARGET_VBMI APS_INLINE void
aps_table_decode_codes(const struct aps_table *table,
                       const struct aps_table_unpack *unpack, unsigned width,
                       struct aps_table_how how, const uint8_t *wire, size_t n,
                       bool tail, struct aps_table_seen *seen, aps_any_float *x)
{
    const uint64_t some = tail ? ((uint64_t)1 << n) - 1 : ~UINT64_C(0);
    __m512 y[4];
    __m512i codes;

    if (tail)
        codes = aps_table_unpack_codes(
            unpack, width == 8,
            _mm512_maskz_loadu_epi8(((uint64_t)1 << (n * width + 7) / 8) - 1,
                                    wire));
    else
        codes = aps_table_load(unpack, width, wire);
    aps_table_look_up(table, how, codes, table->scale, y);
    aps_table_store_64(x, y, how.put, tail, some, seen);
}

APS_TARGET_VBMI APS_INLINE void
aps_table_decode_body(const struct aps_table *constants, unsigned width,
                      struct aps_table_how how, const uint8_t *wire, size_t n,
                      aps_any_float *x)
{
    const struct aps_table table = *constants;
    const struct aps_table_unpack unpack = aps_table_unpack_make(width);
    const enum aps_element element = aps_table_element(how.put);
    struct aps_table_seen seen = aps_table_seen_none();
    size_t i = 0;

    for (; n - i >= APS_TABLE_CODES; i += APS_TABLE_CODES, wire += 8 * width) {
        aps_any_float *to = aps_elements_at(element, x, i);

        if (how.put != APS_PUT_STREAM)
            aps_tile_ask_to_write(to, 16 * aps_elements_bytes(element));
        aps_table_decode_codes(&table, &unpack, width, how, wire,
                               APS_TABLE_CODES, false, &seen, to);
    }
    if (i < n)
        aps_table_decode_codes(&table, &unpack, width, how, wire, n - i, true,
                               &seen, aps_elements_at(element, x, i));
    if (how.put == APS_PUT_ADD)
        aps_table_settle(&seen, x, n);
}

/* Loops with the use of the values as a constant, ... */
APS_TARGET_VBMI APS_INLINE void
aps_table_decode_put(const struct aps_table *table, unsigned width,
                     struct aps_table_how how, const uint8_t *wire, size_t n,
                     enum aps_put put, aps_any_float *x)
{
    switch (put) {
    case APS_PUT:
        how.put = APS_PUT;
        aps_table_decode_body(table, width, how, wire, n, x);
        break;
    case APS_PUT_ADD:
        how.put = APS_PUT_ADD;
        aps_table_decode_body(table, width, how, wire, n, x);
        break;
    case APS_PUT_STREAM:
        how.put = APS_PUT_STREAM;
        aps_table_decode_body(table, width, how, wire, n, x);
        break;
    case APS_PUT_BF16:
        how.put = APS_PUT_BF16;
        aps_table_decode_body(table, width, how, wire, n, x);
        break;
    case APS_PUT_FP16:
        how.put = APS_PUT_FP16;
        aps_table_decode_body(table, width, how, wire, n, x);
        break;
    }
}

/* ... and for codes of these widths. */
APS_TARGET_VBMI APS_INLINE void
aps_table_decode_width(const struct aps_table *table, unsigned width,
                       bool scaled, const uint8_t *wire, size_t n,
                       enum aps_put put, aps_any_float *x)
{
    struct aps_table_how how = {.scaled = scaled};

    if (width == 8) {
        how.sign = true;
        aps_table_decode_put(table, 8, how, wire, n, put, x);
    } else if (width == 7) {
        aps_table_decode_put(table, 7, how, wire, n, put, x);
    } else {
        how.few = true;
        aps_table_decode_put(table, width, how, wire, n, put, x);
    }
}

/* x[n] = (or +=, as `put` says) value of the packed codes at `wire` * scale,
 * with the bits of aps_kernel_decode_array. */
APS_TARGET_VBMI static inline void
aps_table_decode(const struct aps_kernel *kernel, unsigned width,
                 const uint8_t *wire, size_t n, float scale, enum aps_put put,
                 aps_any_float *x)
{
    const struct aps_table table = aps_table_make(kernel, width, scale);

    if (table.scaled)
        aps_table_decode_width(&table, width, true, wire, n, put, x);
    else
        aps_table_decode_width(&table, width, false, wire, n, put, x);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds several arrays of codes of up to 8 bits by the tables of table_vbmi.h, in
 * one pass: no value of a summand goes through memory, and the
 * greatest magnitude of the sums is found at the same time. Sums are stored, or
 * encoded again by nearest_vbmi.h. Included by x86-64 builds only.
 */
#ifndef APS_SIMD_SUM_VBMI_H
#define APS_SIMD_SUM_VBMI_H

#include <immintrin.h>
#include <stdbool.h>

#include "simd/nearest_vbmi.h"
#include "simd/table_vbmi.h"
#include "kernel/tile.h"

/* Wires that are summed at a time. */
struct aps_sum {
    struct aps_table table[APS_SUM_MAX];
    const uint8_t *wire[APS_SUM_MAX];
    bool scaled; /* all of their tables are scaled */
};

/* sum[4] (+)= the values of 64 codes of summand s, from 64-value i on. */
APS_CODEC_AVX512 APS_INLINE void
aps_sum_add(const struct aps_sum *from, int s,
            const struct aps_table_unpack *unpack, unsigned width,
            struct aps_table_how how, bool first, size_t i, __m512 *sum)
{
    const struct aps_table *table = &from->table[s];
    __m512 y[4];

    aps_table_look_up(
        table, how,
        aps_table_load(unpack, width, from->wire[s] + i / 8 * width),
        table->scale, y);
    for (int q = 0; q < 4; q++)
        sum[q] = first ? y[q] : _mm512_add_ps(sum[q], y[q]);
}

/* Output of sums: floats; or codes, which are right if the sums turn out to be
 * bounded, and optionally floats with the codes' values. */
struct aps_sum_to {
    aps_any_float *x;
    uint8_t *codes;
    const struct aps_nearest *nearest; /* folded */
    const struct aps_table *values;    /* scaled */
};

/* Output of sums. */
enum aps_sum_put {
    APS_SUM_FLOATS,
    APS_SUM_CODES,
    APS_SUM_VALUES, /* codes, and their values ... */
    APS_SUM_STREAM, /* ... by streaming stores, to an x that begins with a cache
                       line */
};

/* Constants of a compiled loop, of the summands and of the codes. */
struct aps_sum_how {
    struct aps_table_how from;
    struct aps_nearest_how to;
    bool more; /* summands are added to what x holds */
    enum aps_sum_put put;
};

/* Returns the order that turns codes joined by aps_codes_64_fields into those
 * for aps_table_look_up. */
APS_CODEC_AVX512 APS_INLINE __m512i aps_sum_order(void)
{
    uint8_t order[64];

    for (unsigned i = 0; i < 64; i++)
        order[i] = (uint8_t)aps_codes_64_place(aps_table_code_of(i));
    return _mm512_loadu_si512(order);
}

/* Sums `count` wires; n is a multiple of 64. Returns the greatest bit pattern
 * of the sums' magnitudes. */
APS_CODEC_AVX512 APS_INLINE uint32_t
aps_sum_body(const struct aps_sum *constants, int count, unsigned width,
             struct aps_sum_how how, size_t n, struct aps_sum_to to)
{
    struct aps_sum all, *const from = &all; /* two of them, in registers */
    struct aps_nearest nearest;
    struct aps_table values;
    const bool floats = how.put == APS_SUM_FLOATS;
    const bool decodes = how.put == APS_SUM_VALUES || how.put == APS_SUM_STREAM;
    const struct aps_table_unpack unpack = aps_table_unpack_make(width);
    const __m512i order = aps_sum_order();
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    __m512i greatest[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};

    for (int s = 0; s < count; s++) {
        all.table[s] = constants->table[s];
        all.wire[s] = constants->wire[s];
    }
    if (!floats)
        nearest = *to.nearest;
    if (decodes)
        values = *to.values;
    for (size_t i = 0; i < n; i += APS_TABLE_CODES) {
        __m512i bits[4], code;
        __m512 sum[4];

        if (floats || how.put == APS_SUM_VALUES)
            aps_tile_ask_to_write(to.x + i, APS_TABLE_CODES);
        for (int q = 0; how.more && q < 4; q++)
            sum[q] = _mm512_loadu_ps((const void *)(to.x + i + 16 * q));
        aps_sum_add(from, 0, &unpack, width, how.from, !how.more, i, sum);
        for (int s = 1; s < count; s++)
            aps_sum_add(from, s, &unpack, width, how.from, false, i, sum);
        for (int q = 0; q < 4; q++) {
            bits[q] = _mm512_castps_si512(sum[q]);
            greatest[q % 2] = _mm512_max_epu32(
                greatest[q % 2], _mm512_and_si512(bits[q], magnitude));
        }
        if (!floats) {
            code = aps_nearest_fields(&nearest, how.to, bits, NULL);
            aps_nearest_put_fields(&nearest, how.to, code,
                                   to.codes + i / 8 * width);
        }
        if (decodes)
            aps_table_look_up(&values, how.from,
                              _mm512_permutexvar_epi8(order, code),
                              values.scale, sum);
        for (int q = 0; q < 4 && how.put != APS_SUM_CODES; q++)
            aps_table_store(to.x + i + 16 * q, sum[q],
                            how.put == APS_SUM_STREAM ? APS_PUT_STREAM
                                                      : APS_PUT,
                            false, 0, NULL);
    }
    return _mm512_reduce_max_epu32(_mm512_max_epu32(greatest[0], greatest[1]));
}

/* Calls aps_sum_body with a constant number of wires ... */
APS_CODEC_AVX512 APS_INLINE uint32_t aps_sum_count(const struct aps_sum *from,
                                                   int count, unsigned width,
                                                   struct aps_sum_how how,
                                                   size_t n,
                                                   struct aps_sum_to to)
{
    if (count == 2 && !how.more)
        return aps_sum_body(from, 2, width, how, n, to);
    return aps_sum_body(from, count, width, how, n, to);
}

/* ... and for codes of these widths. */
APS_CODEC_AVX512 APS_INLINE uint32_t aps_sum_width(const struct aps_sum *from,
                                                   int count, unsigned width,
                                                   struct aps_sum_how how,
                                                   size_t n,
                                                   struct aps_sum_to to)
{
    if (!from->scaled) {
        how.from.sign = true;
        return aps_sum_count(from, count, width, how, n, to);
    }
    how.from.scaled = true;
    if (width == 8) {
        how.from.sign = true;
        return aps_sum_count(from, count, 8, how, n, to);
    }
    how.to.narrow = true;
    if (width == 7) {
        how.to.odd = true;
        return aps_sum_count(from, count, 7, how, n, to);
    }
    how.from.few = true;
    if (width % 2 == 0 || how.put == APS_SUM_FLOATS)
        return aps_sum_count(from, count, width, how, n, to);
    how.to.odd = true;
    return aps_sum_count(from, count, width, how, n, to);
}

/* x[n] = (or +=, if there is `more`) the sum. */
APS_CODEC_AVX512 static inline uint32_t
aps_sum_store(const struct aps_sum *from, int count, unsigned width, bool more,
              size_t n, aps_any_float *x)
{
    return aps_sum_width(from, count, width, (struct aps_sum_how){.more = more},
                         n, (struct aps_sum_to){.x = x});
}

/* Encodes the sums to codes, as `put` says. All of the tables are scaled. */
APS_CODEC_AVX512 static inline uint32_t
aps_sum_encode(const struct aps_sum *from, int count, unsigned width,
               enum aps_sum_put put, size_t n, struct aps_sum_to to)
{
    struct aps_sum_how how = {.to = {.folded = true, .bounded = true}};

    switch (put) {
    case APS_SUM_VALUES:
        how.put = APS_SUM_VALUES;
        return aps_sum_width(from, count, width, how, n, to);
    case APS_SUM_STREAM:
        how.put = APS_SUM_STREAM;
        return aps_sum_width(from, count, width, how, n, to);
    default:
        how.put = APS_SUM_CODES;
        return aps_sum_width(from, count, width, how, n, to);
    }
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compress/ternary_sums.h"

#include <string.h>

#include "kernel/kernel.h"
#include "kernel/pack.h"

#define CHUNK ((size_t)APS_PACK_CHUNK)

unsigned aps_ternary_sum_bits(int ranks)
{
    unsigned bits = 0;

    while ((unsigned)ranks * 2 >> bits > 0)
        bits++;
    return bits;
}

size_t aps_ternary_sum_bytes(int ranks, size_t n)
{
    const size_t bits = aps_ternary_sum_bits(ranks);

    return n / 8 * bits + (n % 8 * bits + 7) / 8;
}

void aps_ternary_sum_pack(const int16_t *sum, size_t n, int ranks,
                          uint8_t *wire)
{
    const unsigned width = aps_ternary_sum_bits(ranks);

    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t count = n - i < CHUNK ? n - i : CHUNK;
        uint8_t packed[CHUNK * 2 + APS_PACK_SLACK];
        struct aps_codes codes;

        memset(codes.code + count, 0, (CHUNK - count) * sizeof *codes.code);
        for (size_t j = 0; j < count; j++)
            codes.code[j] = (uint32_t)(sum[i + j] + ranks);
        aps_pack(&codes, CHUNK, width, packed);
        memcpy(wire + i / 8 * width, packed,
               aps_ternary_sum_bytes(ranks, count));
    }
}

void aps_ternary_sum_scale(const int16_t *sum, size_t n, float scaler, float *y)
{
    aps_any_float *out = (void *)y;

    for (size_t i = 0; i < n; i++)
        out[i] = (float)sum[i] * scaler;
}

/* Unpacks n sums over `ranks` ranks, at most CHUNK. */
APS_INLINE void ternary_sum_unpack(const uint8_t *wire, size_t n, int ranks,
                                   struct aps_codes *codes)
{
    const size_t bytes = aps_ternary_sum_bytes(ranks, n);
    uint8_t packed[CHUNK * 2 + APS_PACK_SLACK];

    memcpy(packed, wire, bytes);
    memset(packed + bytes, 0, sizeof packed - bytes);
    aps_unpack(packed, CHUNK, aps_ternary_sum_bits(ranks), codes);
}

/* If eight values are at most 7 bytes, they are read by loads of 8, except the
 * last ones. Returns how many of n values are read so; value j of the eight has
 * the code below. */
APS_INLINE size_t ternary_sum_eights(size_t n, unsigned width)
{
    return width >= 8 || n < 72 ? 0 : (n - 72) / 8 * 8 + 8;
}

APS_INLINE int32_t ternary_sum_code(uint64_t word, uint64_t width, uint64_t j)
{
    return (int32_t)(word >> j * width & (((uint64_t)1 << width) - 1));
}

APS_INLINE void ternary_sum_decode_body(const uint8_t *wire, size_t n,
                                        int ranks, float scaler, float *y)
{
    aps_any_float *out = (void *)y;
    const unsigned width = aps_ternary_sum_bits(ranks);
    const size_t eights = ternary_sum_eights(n, width);

    for (size_t i = 0; i < eights; i += 8) {
        const uint64_t word = aps_load64(wire + i / 8 * width);

        for (uint64_t j = 0; j < 8; j++)
            out[i + j] =
                (float)(ternary_sum_code(word, width, j) - ranks) * scaler;
    }
    for (size_t i = eights; i < n; i += CHUNK) {
        const size_t count = n - i < CHUNK ? n - i : CHUNK;
        struct aps_codes codes;

        ternary_sum_unpack(wire + i / 8 * width, count, ranks, &codes);
        for (size_t j = 0; j < count; j++)
            out[i + j] = (float)((int32_t)codes.code[j] - ranks) * scaler;
    }
}

APS_INLINE void ternary_sum_add_body(const uint8_t *wire, size_t n, int ranks,
                                     int16_t *sum)
{
    const unsigned width = aps_ternary_sum_bits(ranks);
    const size_t eights = ternary_sum_eights(n, width);

    for (size_t i = 0; i < eights; i += 8) {
        const uint64_t word = aps_load64(wire + i / 8 * width);

        for (uint64_t j = 0; j < 8; j++)
            sum[i + j] = (int16_t)(sum[i + j] +
                                   ternary_sum_code(word, width, j) - ranks);
    }
    for (size_t i = eights; i < n; i += CHUNK) {
        const size_t count = n - i < CHUNK ? n - i : CHUNK;
        struct aps_codes codes;

        ternary_sum_unpack(wire + i / 8 * width, count, ranks, &codes);
        for (size_t j = 0; j < count; j++)
            sum[i + j] = (int16_t)(sum[i + j] + (int32_t)codes.code[j] - ranks);
    }
}

#define VARIANT(arg, CPU, name, target)                                        \
    target static void sum_decode_##name(const uint8_t *wire, size_t n,        \
                                         int ranks, float scaler, float *y)    \
    {                                                                          \
        ternary_sum_decode_body(wire, n, ranks, scaler, y);                    \
    }                                                                          \
    target static void sum_add_##name(const uint8_t *wire, size_t n,           \
                                      int ranks, int16_t *sum)                 \
    {                                                                          \
        ternary_sum_add_body(wire, n, ranks, sum);                             \
    }

APS_CPU_ROWS(VARIANT, )

void aps_ternary_sum_decode(const uint8_t *wire, size_t n, int ranks,
                            float scaler, enum aps_cpu cpu, float *y)
{
    static void (*const kernels[APS_CPUS])(const uint8_t *, size_t, int, float,
                                           float *) =
        APS_CPU_TABLE(sum_decode_);

    kernels[cpu](wire, n, ranks, scaler, y);
}

void aps_ternary_sum_add(const uint8_t *wire, size_t n, int ranks,
                         enum aps_cpu cpu, int16_t *sum)
{
    static void (*const kernels[APS_CPUS])(const uint8_t *, size_t, int,
                                           int16_t *) = APS_CPU_TABLE(sum_add_);

    kernels[cpu](wire, n, ranks, sum);
}

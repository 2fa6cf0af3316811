/* SPDX-License-Identifier: BSD-3-Clause */
/* The packed sums of TernGrad, ternary.h. */
#include "config.h"

#include <string.h>

#include "codec/kernel.h"
#include "codec/pack.h"
#include "compress/ternary.h"

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

/* The codes of a chunk, from packed bytes with slack behind them. */
APS_INLINE void ternary_sum_values(const struct aps_codes *codes, size_t n,
                                   int ranks, float scaler, aps_any_float *y)
{
    for (size_t j = 0; j < n; j++)
        y[j] = (float)((int32_t)codes->code[j] - ranks) * scaler;
}

/* Eights of them, `width` bytes each, at most 7, of which 8 are read: not the last
 * ones. Returns how many values were decoded. */
APS_INLINE size_t ternary_sum_narrow(const uint8_t *wire, size_t n, int ranks,
                                     float scaler, aps_any_float *y)
{
    const uint64_t width = aps_ternary_sum_bits(ranks);
    const uint64_t mask = ((uint64_t)1 << width) - 1;
    size_t i = 0;

    for (; i + 72 <= n; i += 8, wire += width) {
        const uint64_t word = aps_load64(wire);

        for (uint64_t j = 0; j < 8; j++)
            y[i + j] =
                (float)((int32_t)(word >> j * width & mask) - ranks) * scaler;
    }
    return i;
}

APS_INLINE void ternary_sum_decode_body(const uint8_t *wire, size_t n,
                                        int ranks, float scaler, float *y)
{
    aps_any_float *out = (void *)y;
    const unsigned width = aps_ternary_sum_bits(ranks);
    const size_t first =
        width < 8 ? ternary_sum_narrow(wire, n, ranks, scaler, out) : 0;

    for (size_t i = first; i < n; i += CHUNK) {
        const size_t count = n - i < CHUNK ? n - i : CHUNK;
        const size_t bytes = aps_ternary_sum_bytes(ranks, count);
        uint8_t packed[CHUNK * 2 + APS_PACK_SLACK];
        struct aps_codes codes;

        memcpy(packed, wire + i / 8 * width, bytes);
        memset(packed + bytes, 0, sizeof packed - bytes);
        aps_unpack(packed, CHUNK, width, &codes);
        ternary_sum_values(&codes, count, ranks, scaler, out + i);
    }
}

#define VARIANT(name, target)                                                  \
    target static void sum_decode_##name(const uint8_t *wire, size_t n,        \
                                         int ranks, float scaler, float *y)    \
    {                                                                          \
        ternary_sum_decode_body(wire, n, ranks, scaler, y);                    \
    }

VARIANT(plain, )
#if APS_CPU_X86
VARIANT(avx2, APS_TARGET_AVX2)
VARIANT(avx512, APS_TARGET_AVX512)
#endif

void aps_ternary_sum_decode(const uint8_t *wire, size_t n, int ranks,
                            float scaler, enum aps_cpu cpu, float *y)
{
    static void (*const kernels[APS_CPUS])(const uint8_t *, size_t, int, float,
                                           float *) = {
        [APS_CPU_PLAIN] = sum_decode_plain,
#if APS_CPU_X86
        [APS_CPU_AVX2] = sum_decode_avx2,
        [APS_CPU_AVX512] = sum_decode_avx512,
#endif
    };

    kernels[cpu](wire, n, ranks, scaler, y);
}

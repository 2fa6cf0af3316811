/* SPDX-License-Identifier: BSD-3-Clause */
/* The codec of block floating point, bfpM/B (bfp.h): loops over its blocks. */
#include "config.h"

#include "blockwise/bfp.h"
#include "blockwise/blocks_variant.h"
#if APS_CPU_X86
#include "blockwise/blocks_vbmi.h"
#endif

APS_INLINE struct aps_block_scale
bfp_choose(const struct aps_block_kernel *kernel, const aps_any_float *x,
           size_t n)
{
    return aps_bfp_choose(kernel->format.mantissa_bits,
                          aps_kernel_greatest(x, n));
}

APS_INLINE struct aps_block_scale
bfp_read(const struct aps_block_kernel *kernel, uint32_t code)
{
    return aps_bfp_read(kernel->format.mantissa_bits, (uint8_t)code);
}

APS_INLINE void bfp_encode_bits(int m, struct aps_block_scale scale,
                                const aps_any_float *x, size_t n,
                                struct aps_block_rounding rounding, void *codes,
                                int size, struct aps_encode_stats *stats)
{
    const uint32_t most = (1u << m) - 1;
    uint32_t underflow = 0, overflow = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t bits = aps_float_bits(x[i]);
        uint32_t sign = bits >> 31 << m;
        uint32_t k = aps_bfp_magnitude(
            m, scale, bits, rounding.kind,
            rounding.kind == APS_ROUND_STOCHASTIC ? rounding.random[i] : 0);
        uint32_t code = aps_bits_less(k, most, k, most);

        aps_kernel_store(codes, i, size, code | sign);
        if (stats) {
            underflow += code == 0 && (bits & ~APS_FLOAT_SIGN) != 0;
            overflow += k > most;
        }
    }
    if (stats) {
        stats->underflow += underflow;
        stats->overflow += overflow;
    }
}

APS_INLINE void bfp_encode(const struct aps_block_kernel *kernel,
                           struct aps_block_scale scale, const aps_any_float *x,
                           size_t n, struct aps_block_rounding rounding,
                           void *codes, int size,
                           struct aps_encode_stats *stats)
{
    const int m = kernel->format.mantissa_bits;

    if (m == 7)
        bfp_encode_bits(7, scale, x, n, rounding, codes, size, stats);
    else if (m < 24)
        bfp_encode_bits(m, scale, x, n, rounding, codes, size, stats);
    else
        bfp_encode_bits(24, scale, x, n, rounding, codes, size, stats);
}

APS_INLINE void bfp_decode(const struct aps_block_kernel *kernel,
                           struct aps_block_scale scale, const void *codes,
                           int size, size_t n, bool add, aps_any_float *x)
{
    const int m = kernel->format.mantissa_bits;

    for (size_t i = 0; i < n; i++) {
        float y = aps_bfp_value(m, scale, aps_kernel_load(codes, i, size));

        x[i] = add ? aps_kernel_canonical(x[i] + y) : y;
    }
}

#if APS_CPU_X86
/* Integers up to 2^M - 1, which are rounded by adding 2^(23-M). */
APS_CODEC_AVX512 APS_INLINE struct aps_nearest
bfp_make(const struct aps_block_kernel *kernel)
{
    const int m = kernel->format.mantissa_bits;

    return (struct aps_nearest){
        .codes = aps_codes_64_make((unsigned)kernel->format.width),
        .beyond = _mm512_set1_ps(1 - aps_float_pow2(-m)),
        .up = _mm512_set1_ps(aps_float_pow2(23 - m)),
        .first = _mm512_setzero_si512(),
    };
}

APS_CODEC_AVX512 APS_INLINE __m512i bfp_scale_16(
    const struct aps_block_kernel *kernel, __m512i greatest, __m512 *factor)
{
    const __m512i field =
        _mm512_max_epu32(_mm512_srli_epi32(greatest, 23), _mm512_set1_epi32(1));

    (void)kernel;
    *factor = aps_blocks_64_pow2(
        _mm512_sub_epi32(_mm512_set1_epi32(127 + APS_BFP_BIAS), field));
    return field;
}

APS_CODEC_AVX512 APS_INLINE __m512i bfp_round_16(const struct aps_nearest *c,
                                                 __m512 y)
{
    return _mm512_castps_si512(_mm512_add_ps(
        _mm512_range_ps(y, c->beyond, APS_NEAREST_LESS | APS_NEAREST_ABS),
        c->up));
}

static const struct aps_blocks_64_ops bfp_64 = {
    .make = bfp_make,
    .scale = bfp_scale_16,
    .round = bfp_round_16,
    .sign = true,
};

APS_CODEC_AVX512 static uint64_t bfp_vbmi(const struct aps_block_kernel *kernel,
                                          const aps_any_float *x, size_t n,
                                          uint8_t *wire)
{
    return aps_blocks_64_vbmi(&bfp_64, kernel, x, n, wire);
}
#endif

static const struct aps_block_ops bfp_ops = {
    .scale = 1,
    .init = aps_blocks_init,
    .choose = bfp_choose,
    .read = bfp_read,
    .encode = bfp_encode,
    .decode = bfp_decode,
#if APS_CPU_X86
    .vbmi_step = aps_blocks_64_step,
    .vbmi = bfp_vbmi,
#endif
};

APS_BLOCKS_VARIANTS(bfp)

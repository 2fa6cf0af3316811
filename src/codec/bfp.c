/* SPDX-License-Identifier: BSD-3-Clause */
/* The codec of block floating point, bfpM/B (bfp.h): loops over its blocks. */
#include "config.h"

#include "codec/bfp.h"
#include "codec/blocks_variant.h"
#if defined(__x86_64__)
#include "codec/blocks_vbmi.h"
#endif

APS_INLINE struct aps_block_kernel bfp_init(const struct aps_format *format,
                                            const aps_any_float *x, size_t n)
{
    (void)x, (void)n;
    return (struct aps_block_kernel){.format = *format};
}

APS_INLINE struct aps_block_scale
bfp_choose(const struct aps_block_kernel *kernel, uint32_t greatest)
{
    return aps_bfp_choose(kernel->format.mantissa_bits, greatest);
}

APS_INLINE struct aps_block_scale
bfp_read(const struct aps_block_kernel *kernel, uint8_t code)
{
    return aps_bfp_read(kernel->format.mantissa_bits, code);
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
        uint32_t code = aps_kernel_less(k, most, k, most);

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

#if defined(__x86_64__)
APS_CODEC_AVX512 static inline __m512i bfp_16(int m, __m512i x, __m512 factor)
{
    const __m512i sign = _mm512_set1_epi32((int)APS_FLOAT_SIGN);
    const __m512 magic = _mm512_set1_ps(aps_float_pow2(23 - m));
    const __m512 y = _mm512_mul_ps(
        _mm512_castsi512_ps(_mm512_andnot_si512(sign, x)), factor);
    const __m512i k = _mm512_min_epu32(
        _mm512_sub_epi32(_mm512_castps_si512(_mm512_add_ps(y, magic)),
                         _mm512_castps_si512(magic)),
        _mm512_set1_epi32((1 << m) - 1));

    return _mm512_or_si512(k, _mm512_srl_epi32(_mm512_and_si512(x, sign),
                                               _mm_cvtsi32_si128(31 - m)));
}

/* Blocks of 64. */
APS_CODEC_AVX512 static size_t bfp_vbmi(const struct aps_block_kernel *kernel,
                                        const aps_any_float *x, size_t n,
                                        uint8_t *wire)
{
    const struct aps_blocks_64_layout layout =
        aps_blocks_64_layout_make(&kernel->format);
    const int m = kernel->format.mantissa_bits;

    for (size_t i = 0; i < n; i += 64, wire += layout.bytes) {
        const struct aps_blocks_64 v = aps_blocks_64_load(x + i, 64);
        __m512i field, code[4];
        __m512 factor;

        if (aps_blocks_64_special(&v))
            return i;
        field = _mm512_max_epu32(_mm512_srli_epi32(v.greatest[0], 23),
                                 _mm512_set1_epi32(1));
        factor = aps_blocks_64_pow2(
            _mm512_sub_epi32(_mm512_set1_epi32(127 + APS_BFP_BIAS), field));
        for (int j = 0; j < 4; j++)
            code[j] = bfp_16(m, v.x[j], factor);
        aps_blocks_64_store(
            &layout, code,
            (uint8_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(field)), 0, wire);
    }
    return n;
}
#endif

static const struct aps_block_ops bfp_ops = {
    .init = bfp_init,
    .choose = bfp_choose,
    .read = bfp_read,
    .encode = bfp_encode,
    .decode = bfp_decode,
#if defined(__x86_64__)
    .vbmi = bfp_vbmi,
#endif
};

APS_BLOCKS_VARIANTS(bfp)

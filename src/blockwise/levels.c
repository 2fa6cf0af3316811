/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The codec of levels, qsgdS/B and intB/BUCKET: a block has a scale w in FP32,
 * its greatest magnitude or its 2-norm, and each value a sign and a level k of
 * S (Alistarh et al. 2017, Eq. 4: w * sign * k / S). In FP32, each operation
 * rounded to nearest, in this order:
 *
 *     y = (|x| * p) * (S / (w * p));  k = y rounded to an integer, at most S
 *     value = w * (k * (1 / S)), with the sign
 *
 * where p is 2^64 if w is below 2^-64, 2^-64 if w is at least 2^64, and
 * otherwise 1: quotients are neither subnormal nor INF. y is rounded
 * stochastically like in number/integer.h, unbiased to a relative 2^-23.
 */
#include "config.h"

#include <float.h>
#include <math.h>

#include "blockwise/blocks_variant.h"
#include "blockwise/lanes.h"
#if APS_CPU_HAS_256
#include "simd/nearest_avx2.h"
#endif
#include "number/integer.h"

#define POWER 64
#define LEVELS_SCALE 4 /* bytes */

/* Returns the 2-norm, not less than any magnitude of the block. */
APS_INLINE float levels_norm2(const aps_any_float *x, size_t n)
{
    const float norm = (float)sqrt(aps_lanes_sum(x, n, true));

    return norm < FLT_MAX ? norm : FLT_MAX;
}

APS_INLINE struct aps_block_scale
levels_choose(const struct aps_block_kernel *kernel, const aps_any_float *x,
              size_t n)
{
    const uint32_t greatest = aps_kernel_greatest(x, n);
    struct aps_block_scale scale = {.code = greatest, .zero = greatest == 0};
    float w = aps_float_from_bits(greatest);

    if (greatest >= APS_FLOAT_INF)
        return (struct aps_block_scale){.code = APS_FLOAT_NAN, .nan = true};
    if (scale.zero)
        return scale;
    if (kernel->format.norm2) {
        w = levels_norm2(x, n);
        scale.code = aps_float_bits(w);
    }
    scale.exponent = w < 0x1p-64f ? POWER : w >= 0x1p64f ? -POWER : 0;
    scale.factor =
        (float)kernel->format.levels / (w * aps_float_pow2(scale.exponent));
    return scale;
}

APS_INLINE void levels_encode(const struct aps_block_kernel *kernel,
                              struct aps_block_scale scale,
                              const aps_any_float *x, size_t n,
                              struct aps_block_rounding rounding, void *codes,
                              int size, struct aps_encode_stats *stats)
{
    const int m = kernel->format.mantissa_bits;
    const uint32_t most = (uint32_t)kernel->format.levels;
    const float power = aps_float_pow2(scale.exponent);
    const float magic = 0x1p23f;
    uint32_t underflow = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t bits = aps_float_bits(x[i]);
        uint32_t sign = bits >> 31 << m;
        float magnitude = aps_float_from_bits(bits & ~APS_FLOAT_SIGN);
        float y = (magnitude * power) * scale.factor;
        uint32_t k, code;

        if (rounding.kind == APS_ROUND_NEAREST)
            k = aps_float_bits(y + magic) - aps_float_bits(magic);
        else
            k = aps_integer_magnitude(
                aps_float_bits(y), 0, rounding.kind,
                rounding.kind == APS_ROUND_STOCHASTIC ? rounding.random[i] : 0);
        code = aps_bits_less(k, most, k, most);
        aps_kernel_store(codes, i, size, code | sign);
        if (stats)
            underflow += code == 0 && magnitude > 0;
    }
    if (stats)
        stats->underflow += underflow;
}

APS_INLINE void levels_decode(const struct aps_block_kernel *kernel,
                              struct aps_block_scale scale, const void *codes,
                              int size, size_t n, bool add, aps_any_float *x)
{
    const int m = kernel->format.mantissa_bits;
    const uint32_t all = (1u << m) - 1;
    const float part = 1 / (float)kernel->format.levels;

    for (size_t i = 0; i < n; i++) {
        uint32_t code = aps_kernel_load(codes, i, size);
        uint32_t sign = code >> m << 31;
        float fraction = (float)(int32_t)(code & all) * part;
        float y =
            scale.factor * aps_float_from_bits(aps_float_bits(fraction) | sign);

        x[i] = add ? aps_kernel_canonical(x[i] + y) : y;
    }
}

#if APS_CPU_HAS_256
/* Returns the length of a block, if codes have up to 8 bits. */
static size_t levels_avx2_step(const struct aps_format *format)
{
    const size_t block = (size_t)format->block;

    return format->width <= 8 && block % APS_AVX2_VALUES == 0 ? block : 0;
}

/* Returns the levels of |x[8]|, not clipped. */
APS_CODEC_AVX2 APS_INLINE __m256i levels_avx2_8(__m256i x, __m256 power,
                                                __m256 factor)
{
    const __m256 magnitude =
        _mm256_castsi256_ps(_mm256_and_si256(x, _mm256_set1_epi32(0x7fffffff)));

    return _mm256_cvtps_epi32(
        _mm256_mul_ps(_mm256_mul_ps(magnitude, power), factor));
}

/* Writes the codes of x[n], n a multiple of 32, and up to 8 - width bytes after
 * narrow ones. */
APS_CODEC_AVX2 APS_INLINE void levels_avx2_codes(const struct aps_avx2 *c,
                                                 bool narrow, __m256i most,
                                                 struct aps_block_scale scale,
                                                 const aps_any_float *x,
                                                 size_t n, uint8_t *wire)
{
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256 power = _mm256_set1_ps(aps_float_pow2(scale.exponent));
    const __m256 factor = _mm256_set1_ps(scale.factor);

    for (size_t i = 0; i < n; i += APS_AVX2_VALUES, wire += 4 * c->width) {
        __m256i bits[4], lane[4], code, signs;

        for (int j = 0; j < 4; j++) {
            bits[j] = _mm256_loadu_si256((const void *)(x + i + 8 * j));
            lane[j] = levels_avx2_8(bits[j], power, factor);
        }
        code = _mm256_packus_epi16(_mm256_packs_epi32(lane[0], lane[1]),
                                   _mm256_packs_epi32(lane[2], lane[3]));
        code = _mm256_min_epu8(code, most);
        /* saturation keeps the sign */
        signs = _mm256_packs_epi16(_mm256_packs_epi32(bits[0], bits[1]),
                                   _mm256_packs_epi32(bits[2], bits[3]));
        signs = _mm256_and_si256(signs, _mm256_set1_epi8(INT8_MIN));
        signs = _mm256_srl_epi16(signs, c->to_sign);
        code = _mm256_permutevar8x32_epi32(_mm256_or_si256(code, signs), order);
        if (narrow)
            aps_avx2_pack(c, code, wire);
        else
            _mm256_storeu_si256((void *)wire, code);
    }
}

/* Encodes whole blocks of x[n]. */
APS_CODEC_AVX2 APS_INLINE uint64_t
levels_avx2_blocks(const struct aps_block_kernel *kernel, bool narrow,
                   const aps_any_float *x, size_t n, uint8_t *wire)
{
    const size_t block = (size_t)kernel->format.block;
    const size_t width = (size_t)kernel->format.width;
    const size_t last = APS_AVX2_VALUES / 8 * width;
    const __m256i most = _mm256_set1_epi8((char)kernel->format.levels);
    struct aps_avx2 c = {.folded = false};
    uint64_t special = 0;

    aps_avx2_packing(&c, (unsigned)width);
    for (size_t b = 0; b < n / block; b++, x += block) {
        const struct aps_block_scale scale = levels_choose(kernel, x, block);
        uint8_t codes[APS_AVX2_VALUES + 8];

        special |= (uint64_t)(scale.nan || scale.zero) << b;
        wire = aps_blocks_put_scale(scale.code, LEVELS_SCALE, wire);
        levels_avx2_codes(&c, narrow, most, scale, x, block - APS_AVX2_VALUES,
                          wire);
        wire += (block - APS_AVX2_VALUES) / 8 * width;
        levels_avx2_codes(&c, narrow, most, scale, x + block - APS_AVX2_VALUES,
                          APS_AVX2_VALUES, codes);
        memcpy(wire, codes, last);
        wire += last;
    }
    return special;
}

APS_CODEC_AVX2 static uint64_t
levels_avx2(const struct aps_block_kernel *kernel, const aps_any_float *x,
            size_t n, uint8_t *wire)
{
    if (kernel->format.width < 8)
        return levels_avx2_blocks(kernel, true, x, n, wire);
    return levels_avx2_blocks(kernel, false, x, n, wire);
}
#endif

static const struct aps_block_ops levels_ops = {
    .scale = LEVELS_SCALE,
    .init = aps_blocks_init,
    .choose = levels_choose,
    .read = aps_blocks_read_float,
    .encode = levels_encode,
    .decode = levels_decode,
#if APS_CPU_HAS_256
    .avx2_step = levels_avx2_step,
    .avx2 = levels_avx2,
#endif
};

APS_BLOCKS_VARIANTS(levels)

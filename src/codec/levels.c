/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The codec of levels, qsgdS/B and intB/BUCKET: a block has a scale w in FP32,
 * its greatest magnitude or its 2-norm, and each value a sign and a level k of S
 * (Alistarh et al. 2017, Eq. 4: w * sign * k / S). In FP32, each operation
 * rounded to nearest, in this order:
 *
 *     y = (|x| * p) * (S / (w * p));  k = y rounded to an integer, at most S
 *     value = w * (k * (1 / S)), with the sign
 *
 * where p is 2^64 if w is below 2^-64, 2^-64 if w is at least 2^64, and else 1:
 * quotients are neither subnormal nor INF. Stochastic rounding of y is that of
 * number/integer.h, unbiased to a relative 2^-23.
 */
#include "config.h"

#include <float.h>
#include <math.h>

#include "codec/blocks_variant.h"
#include "codec/lanes.h"
#include "number/integer.h"

#define POWER 64

/* Not less than any magnitude of the block. */
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
        code = aps_kernel_less(k, most, k, most);
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

static const struct aps_block_ops levels_ops = {
    .scale = 4,
    .init = aps_blocks_init,
    .choose = levels_choose,
    .read = aps_blocks_read_float,
    .encode = levels_encode,
    .decode = levels_decode,
};

APS_BLOCKS_VARIANTS(levels)

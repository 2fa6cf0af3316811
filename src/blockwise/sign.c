/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The codec of signs, sign/B: a block has a scale in FP32, the mean of its
 * magnitudes, and each value a bit, 1 if it is negative. The sum of a block's
 * magnitudes is that of blockwise/lanes.h, divided in FP64 by their number, and
 * rounded to FP32.
 */
#include "config.h"

#include "blockwise/blocks_variant.h"
#include "blockwise/lanes.h"

/* If a value is INF or NaN, the sum is, too. */
APS_INLINE struct aps_block_scale
sign_choose(const struct aps_block_kernel *kernel, const aps_any_float *x,
            size_t n)
{
    const float mean = (float)(aps_lanes_sum(x, n, false) / (double)n);
    struct aps_block_scale scale =
        aps_blocks_read_float(kernel, aps_float_bits(mean));

    if (scale.nan)
        scale.code = APS_FLOAT_NAN;
    return scale;
}

APS_INLINE void sign_encode(const struct aps_block_kernel *kernel,
                            struct aps_block_scale scale,
                            const aps_any_float *x, size_t n,
                            struct aps_block_rounding rounding, void *codes,
                            int size, struct aps_encode_stats *stats)
{
    (void)kernel, (void)scale, (void)rounding, (void)stats;
    for (size_t i = 0; i < n; i++)
        aps_kernel_store(codes, i, size, x[i] < 0);
}

APS_INLINE void sign_decode(const struct aps_block_kernel *kernel,
                            struct aps_block_scale scale, const void *codes,
                            int size, size_t n, bool add, aps_any_float *x)
{
    const uint32_t bits = aps_float_bits(scale.factor);

    (void)kernel;
    for (size_t i = 0; i < n; i++) {
        float y =
            aps_float_from_bits(bits ^ aps_kernel_load(codes, i, size) << 31);

        x[i] = add ? aps_kernel_canonical(x[i] + y) : y;
    }
}

static const struct aps_block_ops sign_ops = {
    .scale = 4,
    .init = aps_blocks_init,
    .choose = sign_choose,
    .read = aps_blocks_read_float,
    .encode = sign_encode,
    .decode = sign_decode,
};

APS_BLOCKS_VARIANTS(sign)

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The codec of NVFP4: 16 elements e2m1fn, a scale e4m3fn for each block, and g,
 * a scale in FP32 for the whole piece (NVIDIA: Pretraining Large Language
 * Models with NVFP4, arXiv 2509.25149, appendix). In FP32, each operation
 * rounded to nearest, in this order:
 *
 *     g = max |x| of the piece / (6 * 448)
 *     s = e4m3fn(max |x| of the block / 6 / g), clipped to 448
 *     c = s * g;  element = e2m1fn(x * min(1 / c, largest float)), clipped to 6
 *     value = element * c
 *
 * NaN and INF do not count for g. Of the largest float, g is such that 6 * (448 *
 * g) is finite.
 */
#include "config.h"

#include "codec/blocks_variant.h"

#define NAN_CODE 0x7f
#define ELEMENT_MAX 6.f
#define SCALE_MAX 448.f
#define FLOAT_MOST 0x1.fffffep127f

static const struct aps_format scale_format = {
    .exponent_bits = 4,
    .mantissa_bits = 3,
    .width = 8,
    .bias = 7,
    .kind = APS_FORMAT_NAN,
    .saturate = true,
};

APS_INLINE struct aps_block_kernel nvfp4_init(const struct aps_format *format,
                                              const aps_any_float *x, size_t n)
{
    struct aps_block_kernel kernel = {.format = *format,
                                      .element = aps_kernel_init(format)};
    float max;

    if (!x)
        return kernel;
    max = aps_float_from_bits(aps_kernel_max_finite(x, n));
    kernel.piece = max / (ELEMENT_MAX * SCALE_MAX);
    return kernel;
}

/* For the scale of this code. */
APS_INLINE struct aps_block_scale
nvfp4_scale(const struct aps_block_kernel *kernel, uint32_t code)
{
    struct aps_block_scale scale = {.code = (uint8_t)code,
                                    .nan = code == NAN_CODE};

    scale.factor =
        aps_float_from_bits(aps_cast_decode(&scale_format, code & 0x7f)) *
        kernel->piece;
    return scale;
}

APS_INLINE struct aps_block_scale
nvfp4_choose(const struct aps_block_kernel *kernel, uint32_t greatest)
{
    const float max = aps_float_from_bits(greatest);
    struct aps_block_scale scale;
    float inverse;

    if (greatest >= APS_FLOAT_INF)
        return nvfp4_scale(kernel, NAN_CODE);
    if (kernel->piece == 0 || greatest == 0)
        return (struct aps_block_scale){.zero = true};
    scale = nvfp4_scale(
        kernel,
        aps_cast_encode(&scale_format,
                        aps_float_bits(max / ELEMENT_MAX / kernel->piece), 0));
    if (scale.factor == 0)
        return (struct aps_block_scale){.zero = true};
    inverse = 1 / scale.factor;
    scale.factor = inverse < FLOAT_MOST ? inverse : FLOAT_MOST;
    return scale;
}

APS_INLINE struct aps_block_scale
nvfp4_read(const struct aps_block_kernel *kernel, uint8_t code)
{
    struct aps_block_scale scale = nvfp4_scale(kernel, code);

    /* the sign of a scale that another library made */
    scale.nan = (code & 0x7f) == NAN_CODE;
    if (code & 0x80)
        scale.factor = -scale.factor;
    return scale;
}

APS_INLINE void nvfp4_encode(const struct aps_block_kernel *kernel,
                             struct aps_block_scale scale,
                             const aps_any_float *x, size_t n,
                             struct aps_block_rounding rounding, void *codes,
                             int size, struct aps_encode_stats *stats)
{
    const struct aps_kernel k = kernel->element;
    const struct aps_format f = kernel->format;
    const uint32_t most = k.limit - 1;
    uint32_t underflow = 0, overflow = 0;

    for (size_t i = 0; i < n; i++) {
        float y = x[i] * scale.factor;
        uint32_t bits = aps_float_bits(y);
        uint32_t magnitude = bits & ~APS_FLOAT_SIGN;
        uint32_t sign = (bits & APS_FLOAT_SIGN) >> k.sign_shift;
        uint32_t raw, code;

        if (rounding.kind == APS_ROUND_NEAREST)
            raw = aps_kernel_encode_bounded(&k, aps_float_from_bits(magnitude));
        else
            raw = aps_cast_magnitude(
                &f, magnitude, 0, rounding.kind,
                rounding.kind == APS_ROUND_STOCHASTIC ? rounding.random[i] : 0);
        code = aps_kernel_less(raw, most, raw, most);
        aps_kernel_store(codes, i, size, code | sign);
        if (stats) {
            underflow +=
                code == 0 && (aps_float_bits(x[i]) & ~APS_FLOAT_SIGN) != 0;
            overflow += raw > most;
        }
    }
    if (stats) {
        stats->underflow += underflow;
        stats->overflow += overflow;
    }
}

APS_INLINE void nvfp4_decode(const struct aps_block_kernel *kernel,
                             struct aps_block_scale scale, const void *codes,
                             int size, size_t n, bool add, aps_any_float *x)
{
    aps_kernel_decode_array(&kernel->element, codes, size, n, scale.factor, add,
                            x);
}

static const struct aps_block_ops nvfp4_ops = {
    .block = 16,
    .init = nvfp4_init,
    .choose = nvfp4_choose,
    .read = nvfp4_read,
    .encode = nvfp4_encode,
    .decode = nvfp4_decode,
};

APS_BLOCKS_VARIANTS(nvfp4)

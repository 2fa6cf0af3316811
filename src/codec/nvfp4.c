/* SPDX-License-Identifier: BSD-3-Clause */
/* The codec of NVFP4 (nvfp4.h): loops over its blocks. */
#include "config.h"

#include "codec/blocks_variant.h"
#include "codec/nvfp4.h"

APS_INLINE struct aps_block_kernel nvfp4_init(const struct aps_format *format,
                                              const aps_any_float *x, size_t n)
{
    struct aps_block_kernel kernel = {.format = *format,
                                      .element = aps_kernel_init(format)};

    if (x)
        kernel.piece =
            aps_nvfp4_piece(aps_float_from_bits(aps_kernel_max_finite(x, n)));
    return kernel;
}

APS_INLINE struct aps_block_scale
nvfp4_choose(const struct aps_block_kernel *kernel, uint32_t greatest)
{
    return aps_nvfp4_choose(kernel->piece, greatest);
}

APS_INLINE struct aps_block_scale
nvfp4_read(const struct aps_block_kernel *kernel, uint8_t code)
{
    return aps_nvfp4_read(kernel->piece, code);
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
        uint32_t bits = aps_float_bits(x[i] * scale.factor);
        uint32_t sign = (bits & APS_FLOAT_SIGN) >> k.sign_shift;
        uint32_t raw = aps_nvfp4_magnitude(
            &k, &f, bits, rounding.kind,
            rounding.kind == APS_ROUND_STOCHASTIC ? rounding.random[i] : 0);
        uint32_t code = aps_kernel_less(raw, most, raw, most);

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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats in blocks for the kernels: the layout of a wire, and the families'
 * scales and values (blockwise/bfp.h, mx.h, nvfp4.h) in functions of the
 * family, which is a constant in a kernel. A family that is in blocks has a row
 * in APS_BLOCK_FAMILIES and a case in each function.
 */
#ifndef APS_CUDA_BLOCK_VALUES_H
#define APS_CUDA_BLOCK_VALUES_H

#include "blockwise/bfp.h"
#include "blockwise/mx.h"
#include "blockwise/nvfp4.h"
#include "cuda/threads.h"

#define APS_BLOCK_FAMILIES(ROW)                                                \
    ROW(BFP)                                                                   \
    ROW(MX)                                                                    \
    ROW(NVFP4)

/* n values that begin a block, and the bytes of their blocks. */
struct aps_block_layout {
    uint32_t n;
    uint32_t width;
    uint32_t block; /* values */
    uint32_t scale; /* bytes */
    uint32_t bytes; /* bytes of a whole block with its scale */
    uint32_t blocks;
};

APS_INLINE struct aps_block_layout
aps_block_layout_init(const struct aps_format *format, size_t n)
{
    struct aps_block_layout l = {};

    l.n = (uint32_t)n;
    l.width = (uint32_t)format->width;
    l.block = (uint32_t)format->block;
    l.scale = (uint32_t)format->scale_bytes;
    l.bytes = l.scale + (l.block * l.width + 7) / 8;
    l.blocks = (l.n + l.block - 1) / l.block;
    return l;
}

/* Returns the values of a block; the last may be short. */
APS_INLINE uint32_t aps_block_length(const struct aps_block_layout *l,
                                     uint32_t block)
{
    const uint32_t left = l->n - block * l->block;

    return left < l->block ? left : l->block;
}

/* Returns the most values of one launch: whole blocks. */
APS_INLINE size_t aps_block_launch_max(const struct aps_format *format)
{
    const size_t block = (size_t)format->block;

    return APS_THREADS_MAX / block * block;
}

/* Returns the place of the block of value `at`, its first, in a wire, in
 * bytes. */
APS_INLINE size_t aps_block_begin(const struct aps_format *format, size_t at)
{
    const struct aps_block_layout l = aps_block_layout_init(format, 0);

    return (size_t)format->piece_bytes + at / l.block * l.bytes;
}

/* --- the families -------------------------------------------------------- */

APS_INLINE struct aps_block_kernel
aps_block_kernel_init(const struct aps_format *format)
{
    struct aps_block_kernel kernel = {};

    if (format->family == APS_FAMILY_MX)
        return aps_mx_kernel(format);
    kernel.format = *format;
    if (format->exponent_bits > 0)
        kernel.element = aps_kernel_init(format);
    return kernel;
}

/* Returns the scale of a piece with that greatest finite magnitude; 0 if it has
 * none. */
APS_INLINE float aps_block_piece(enum aps_family family, float max)
{
    return family == APS_FAMILY_NVFP4 ? aps_nvfp4_piece(max) : 0;
}

/* Returns the scale for the greatest magnitude of a block, a bit pattern, NaN
 * on top. */
APS_INLINE struct aps_block_scale
aps_block_choose(enum aps_family family, const struct aps_block_kernel *kernel,
                 float piece, uint32_t greatest)
{
    switch (family) {
    case APS_FAMILY_BFP:
        return aps_bfp_choose(kernel->format.mantissa_bits, greatest);
    case APS_FAMILY_MX:
        return aps_mx_choose(kernel->emax, greatest);
    default:
        return aps_nvfp4_choose(piece, greatest);
    }
}

/* Returns the scale with this code. */
APS_INLINE struct aps_block_scale
aps_block_read(enum aps_family family, const struct aps_block_kernel *kernel,
               float piece, uint8_t code)
{
    switch (family) {
    case APS_FAMILY_BFP:
        return aps_bfp_read(kernel->format.mantissa_bits, code);
    case APS_FAMILY_MX:
        return aps_mx_read(aps_mx_is_integer(&kernel->format), code);
    default:
        return aps_nvfp4_read(piece, code);
    }
}

/* Returns the code of an element that is a float, of that magnitude. */
APS_INLINE uint32_t aps_block_element(const struct aps_kernel *k, uint32_t raw,
                                      uint32_t sign, uint32_t *over)
{
    const uint32_t most = k->limit - 1;

    *over = raw > most;
    return (raw < most ? raw : most) | (sign & APS_FLOAT_SIGN) >> k->sign_shift;
}

/* Returns the code of the finite float with this bit pattern, in a block that
 * is neither NaN nor 0; *over: beyond the largest element. `random` is for
 * stochastic rounding. */
APS_INLINE uint32_t aps_block_code(enum aps_family family,
                                   const struct aps_block_kernel *kernel,
                                   struct aps_block_scale scale, uint32_t bits,
                                   enum aps_rounding rounding, uint32_t random,
                                   uint32_t *over)
{
    const struct aps_kernel *k = &kernel->element;
    const struct aps_format *f = &kernel->format;
    const uint32_t most = (1u << f->mantissa_bits) - 1; /* for integers */
    uint32_t raw, y;

    switch (family) {
    case APS_FAMILY_BFP:
        raw =
            aps_bfp_magnitude(f->mantissa_bits, scale, bits, rounding, random);
        *over = raw > most;
        return (raw < most ? raw : most) | bits >> 31 << f->mantissa_bits;
    case APS_FAMILY_MX:
        if (!aps_mx_is_integer(f))
            return aps_block_element(
                k, aps_mx_float_magnitude(k, f, scale, bits, rounding, random),
                bits, over);
        raw = aps_mx_integer_magnitude(scale, bits, rounding, random);
        *over = raw > most;
        return aps_mx_integer_code(raw < most ? raw : most, bits);
    default:
        y = aps_float_bits(aps_float_from_bits(bits) * scale.factor);
        return aps_block_element(
            k, aps_nvfp4_magnitude(k, f, y, rounding, random), y, over);
    }
}

/* Returns the bit pattern of the value of a code, in a block that is neither
 * NaN nor 0. A NaN is quiet, and keeps sign and payload, like in the host's
 * product. */
APS_INLINE uint32_t aps_block_value(enum aps_family family,
                                    const struct aps_block_kernel *kernel,
                                    struct aps_block_scale scale, uint32_t code)
{
    const struct aps_format *f = &kernel->format;
    float element;

    if (family == APS_FAMILY_BFP)
        return aps_float_bits(aps_bfp_value(f->mantissa_bits, scale, code));
    if (f->exponent_bits == 0)
        return aps_float_bits(aps_mx_integer_value(scale, code));
    element = aps_kernel_decode(&kernel->element, code);
    if (aps_threads_is_nan(aps_float_bits(element)))
        return aps_float_bits(element) | APS_FLOAT_QUIET;
    return aps_float_bits(element * scale.factor);
}

#endif

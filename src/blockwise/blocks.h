/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loops of formats in blocks, for every family of them: consecutive blocks,
 * each with its scale, whose values a family encodes and decodes by a struct
 * aps_block_ops. All of it is inlined, the family's functions too, into
 * functions that are compiled for one instruction set (blocks_variant.h).
 */
#ifndef APS_BLOCKWISE_BLOCKS_H
#define APS_BLOCKWISE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "blockwise/block_scale.h"
#include "kernel/kernel.h"
#include "kernel/ops.h"
#include "blockwise/pack_blocks.h"
#include "simd/rounding.h"
#include "kernel/tile.h"

#define APS_BLOCKS_CHUNK ((size_t)APS_PACK_CHUNK)

/* The most blocks of a chunk. */
#define APS_BLOCKS_SCALES (APS_PACK_CHUNK / 2)

/* Steps of values that vectors process at a time, as many as a word has
 * bits. */
#define APS_BLOCKS_STEPS ((size_t)64)

/* Rounding of values: `random` has a word for each value if it is
 * stochastic. */
struct aps_block_rounding {
    enum aps_rounding kind;
    const uint32_t *random;
};

struct aps_block_ops {
    /* Length of every block of the family, in values; 0: any length. */
    size_t block;

    /* Bytes of a block's scale, before its codes: 1 or 4. */
    size_t scale;

    /* Prepares x[n]; to decode a piece, x is NULL, and `piece` is filled in
     * later. */
    struct aps_block_kernel (*init)(const struct aps_format *format,
                                    const aps_any_float *x, size_t n);

    /* Returns the scale of the block x[n]. */
    struct aps_block_scale (*choose)(const struct aps_block_kernel *kernel,
                                     const aps_any_float *x, size_t n);

    /* Returns the scale with this code. */
    struct aps_block_scale (*read)(const struct aps_block_kernel *kernel,
                                   uint32_t code);

    /* codes[n] of `size` bytes each (1, 2, 4) of x[n]. `stats` may be NULL. */
    void (*encode)(const struct aps_block_kernel *kernel,
                   struct aps_block_scale scale, const aps_any_float *x,
                   size_t n, struct aps_block_rounding rounding, void *codes,
                   int size, struct aps_encode_stats *stats);

    /* Returns the values, whole blocks, that the next two process together; 0:
     * the format is not supported. May be NULL: no format is. */
    size_t (*vbmi_step)(const struct aps_format *format);

    /* Encodes x[n] to nearest by vectors, with VBMI; n is a multiple of
     * vbmi_step and at most APS_BLOCKS_STEPS of them. Bit i is set if the
     * values from i * vbmi_step on are not encoded, because they contain a
     * block of zeros or of NaN. */
    uint64_t (*vbmi)(const struct aps_block_kernel *kernel,
                     const aps_any_float *x, size_t n, uint8_t *wire);

    /* vbmi_step and vbmi with AVX2, to nearest. */
    size_t (*avx2_step)(const struct aps_format *format);
    uint64_t (*avx2)(const struct aps_block_kernel *kernel,
                     const aps_any_float *x, size_t n, uint8_t *wire);

    /* The inverse of vbmi, for elements that are floats; x[n] = (or +=, if
     * `add`) the values. Omits groups with a scale that is NaN. May be NULL. */
    uint64_t (*vbmi_decode)(const struct aps_block_kernel *kernel,
                            const uint8_t *wire, size_t n, bool add,
                            aps_any_float *x);

    /* x[n] = (or +=, if `add`) the values of codes[n]. */
    void (*decode)(const struct aps_block_kernel *kernel,
                   struct aps_block_scale scale, const void *codes, int size,
                   size_t n, bool add, aps_any_float *x);
};

/* --- small things -------------------------------------------------------- */

/* Returns a code's size, in bytes, if codes are arrays of bytes, or 0. */
APS_INLINE int aps_blocks_size(unsigned width)
{
    return width == 8 || width == 16 ? (int)(width / 8) : 0;
}

/* Writes a scale's code, `scale` bytes, little-endian. */
APS_INLINE uint8_t *aps_blocks_put_scale(uint32_t code, size_t scale,
                                         uint8_t *wire)
{
    memcpy(wire, &code, scale);
    return wire + scale;
}

APS_INLINE uint32_t aps_blocks_get_scale(const uint8_t *wire, size_t scale)
{
    uint32_t code = 0;

    memcpy(&code, wire, scale);
    return code;
}

/* x[n] = (or +=) value. */
APS_INLINE void aps_blocks_fill(float value, size_t n, bool add,
                                aps_any_float *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = add ? aps_kernel_canonical(x[i] + value) : value;
}

/* Counts a block whose codes are all 0: finite nonzero values are lost, unless
 * the block is NaN. */
APS_INLINE void aps_blocks_count(const aps_any_float *x, size_t n, bool nan,
                                 struct aps_encode_stats *stats)
{
    uint32_t underflow = 0, nonfinite = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t magnitude = aps_float_bits(x[i]) & ~APS_FLOAT_SIGN;

        nonfinite += magnitude >= APS_FLOAT_INF;
        underflow += magnitude > 0;
    }
    stats->nonfinite += nonfinite;
    stats->underflow += nan ? 0 : underflow;
}

/* --- families ------------------------------------------------------------ */

/* The `init` of families that need no value before the blocks. */
APS_INLINE struct aps_block_kernel
aps_blocks_init(const struct aps_format *format, const aps_any_float *x,
                size_t n)
{
    (void)x, (void)n;
    return (struct aps_block_kernel){.format = *format};
}

/* The `read` of families whose scales are in FP32. */
APS_INLINE struct aps_block_scale
aps_blocks_read_float(const struct aps_block_kernel *kernel, uint32_t code)
{
    const uint32_t magnitude = code & ~APS_FLOAT_SIGN;

    (void)kernel;
    return (struct aps_block_scale){
        .code = code,
        .nan = magnitude >= APS_FLOAT_INF,
        .zero = magnitude == 0,
        .factor = aps_float_from_bits(code),
    };
}

/* --- packing ------------------------------------------------------------- */

/* Writes the codes of one block that no vector supports: of a short block, or
 * of one that does not end at a byte. Writes exactly their bytes. */
APS_INLINE void aps_blocks_pack_bits(const uint32_t *codes, size_t n,
                                     unsigned width, uint8_t *wire)
{
    uint64_t word = 0;
    unsigned filled = 0;

    for (size_t i = 0; i < n; i++) {
        word |= (uint64_t)codes[i] << filled;
        for (filled += width; filled >= 8; filled -= 8, word >>= 8)
            *wire++ = (uint8_t)word;
    }
    if (filled > 0)
        *wire = (uint8_t)word;
}

APS_INLINE void aps_blocks_unpack_bits(const uint8_t *wire, size_t n,
                                       unsigned width, uint32_t *codes)
{
    const uint64_t mask = ((uint64_t)1 << width) - 1;
    uint64_t word = 0;
    unsigned filled = 0;

    for (size_t i = 0; i < n; i++) {
        for (; filled < width; filled += 8)
            word |= (uint64_t)*wire++ << filled;
        codes[i] = (uint32_t)(word & mask);
        word >>= width;
        filled -= width;
    }
}

/* Copies n bytes by eights: reads and writes up to seven more. */
APS_INLINE void aps_blocks_copy(uint8_t *to, const uint8_t *from, size_t n)
{
    for (size_t i = 0; i < n; i += 8)
        aps_store64(to + i, aps_load64(from + i));
}

#endif

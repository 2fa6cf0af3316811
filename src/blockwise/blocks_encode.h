/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encoding of formats in blocks (blocks.h): a fast way for whole blocks that
 * are rounded to nearest, and one for everything, with counts.
 */
#ifndef APS_BLOCKWISE_BLOCKS_ENCODE_H
#define APS_BLOCKWISE_BLOCKS_ENCODE_H

#include "base/size_min.h"
#include "blockwise/blocks.h"

/* Constants of all blocks of an encode. */
struct aps_blocks_encoder {
    const struct aps_block_ops *ops;
    const struct aps_block_kernel *kernel;
    enum aps_rounding rounding; /* correlated is stochastic here */
    struct aps_draw draw;       /* for stochastic rounding */
    uint64_t offset;            /* number of the piece's first element */
    enum aps_vectors vectors;
};

/* Makes an encoder with the options; NULL: nearest. */
APS_INLINE struct aps_blocks_encoder aps_blocks_encoder_init(
    const struct aps_block_ops *ops, const struct aps_block_kernel *kernel,
    const struct aps_cast_options *options, enum aps_vectors vectors)
{
    struct aps_blocks_encoder e = {.ops = ops,
                                   .kernel = kernel,
                                   .rounding = APS_ROUND_NEAREST,
                                   .vectors = vectors};

    if (!options)
        return e;
    e.rounding = options->rounding;
    e.offset = options->offset;
    if (aps_cast_draws(e.rounding)) {
        e.rounding = APS_ROUND_STOCHASTIC;
        e.draw = aps_draw_init(options);
    }
    return e;
}

/* Encodes the values of a block, or part of one: all codes are 0 if all values
 * are. */
APS_INLINE void aps_blocks_encode_values(const struct aps_blocks_encoder *e,
                                         struct aps_block_scale scale,
                                         const aps_any_float *x, size_t n,
                                         struct aps_block_rounding rounding,
                                         void *codes, int size,
                                         struct aps_encode_stats *stats)
{
    if (scale.nan || scale.zero) {
        memset(codes, 0, n * (size_t)size);
        if (stats)
            aps_blocks_count(x, n, scale.nan, stats);
        return;
    }
    e->ops->encode(e->kernel, scale, x, n, rounding, codes, size, stats);
}

/* Packs `count` blocks of whole bytes, whose codes are consecutive, after their
 * scales. `room` bytes of the wire are left. */
APS_INLINE uint8_t *aps_blocks_put(const struct aps_blocks_encoder *e,
                                   struct aps_codes *codes,
                                   const uint32_t *scales, size_t count,
                                   size_t block, size_t room, uint8_t *wire)
{
    const unsigned width = (unsigned)e->kernel->format.width;
    const size_t scale = e->ops->scale;
    const size_t n = count * block;
    const size_t fill = (0 - n) % APS_PACK_BLOCK;
    const size_t bytes = block * width / 8;
    uint8_t packed[APS_PACK_CHUNK * 4 + APS_PACK_SLACK];

    memset(codes->code + n, 0, fill * sizeof *codes->code);
    aps_pack_blocks(codes, n + fill, width, e->vectors == APS_VECTORS_AVX512,
                    packed);
    for (size_t b = 0; b < count; b++, wire += bytes, room -= scale + bytes) {
        wire = aps_blocks_put_scale(scales[b], scale, wire);
        if (room >= scale + bytes + 8)
            aps_blocks_copy(wire, packed + b * bytes, bytes);
        else
            memcpy(wire, packed + b * bytes, bytes);
    }
    return wire;
}

/* --- the fast way -------------------------------------------------------- */

/* Encodes whole blocks, n values, to codes of `size` bytes. */
APS_INLINE size_t aps_blocks_encode_arrays(const struct aps_blocks_encoder *e,
                                           const aps_any_float *x, size_t n,
                                           size_t block, int size,
                                           uint8_t *wire)
{
    static const struct aps_block_rounding nearest = {APS_ROUND_NEAREST, NULL};

    for (size_t i = 0; i < n; i += block) {
        const struct aps_block_scale scale =
            e->ops->choose(e->kernel, x + i, block);

        aps_tile_ask_ahead(x + i, block);
        wire = aps_blocks_put_scale(scale.code, e->ops->scale, wire);
        aps_blocks_encode_values(e, scale, x + i, block, nearest, wire, size,
                                 NULL);
        wire += block * (size_t)size;
    }
    return n;
}

/* Encodes whole blocks, n values. Returns the number of values encoded. `block`
 * is a constant. */
APS_INLINE size_t aps_blocks_encode_fast(const struct aps_blocks_encoder *e,
                                         const aps_any_float *x, size_t n,
                                         size_t block, uint8_t *wire)
{
    static const struct aps_block_rounding nearest = {APS_ROUND_NEAREST, NULL};
    const unsigned width = (unsigned)e->kernel->format.width;
    const size_t whole = n / block * block;
    const uint8_t *end =
        wire + n / block * (e->ops->scale + aps_pack_bytes(block, width));
    struct aps_codes codes;
    uint32_t scales[APS_BLOCKS_SCALES];
    size_t at = 0;

    if (block > APS_BLOCKS_CHUNK || block * width % 8 != 0)
        return 0;
    if (width == 8)
        return aps_blocks_encode_arrays(e, x, whole, block, 1, wire);
    if (width == 16)
        return aps_blocks_encode_arrays(e, x, whole, block, 2, wire);
    for (size_t i = 0; i < whole; i += block) {
        const struct aps_block_scale scale =
            e->ops->choose(e->kernel, x + i, block);

        aps_tile_ask_ahead(x + i, block);
        scales[at / block] = scale.code;
        aps_blocks_encode_values(e, scale, x + i, block, nearest,
                                 codes.code + at, 4, NULL);
        at += block;
        if (at + block > APS_BLOCKS_CHUNK || i + block == whole) {
            wire = aps_blocks_put(e, &codes, scales, at / block, block,
                                  (size_t)(end - wire), wire);
            at = 0;
        }
    }
    return whole;
}

/* --- all else ------------------------------------------------------------ */

/* Calls aps_blocks_encode_values with the rounding as a constant. */
APS_INLINE void aps_blocks_round(const struct aps_blocks_encoder *e,
                                 struct aps_block_scale scale,
                                 const aps_any_float *x, size_t n,
                                 const uint32_t *random, uint32_t *codes,
                                 struct aps_encode_stats *stats)
{
    struct aps_block_rounding rounding = {.random = random};

    switch (e->rounding) {
    case APS_ROUND_STOCHASTIC:
        rounding.kind = APS_ROUND_STOCHASTIC;
        aps_blocks_encode_values(e, scale, x, n, rounding, codes, 4, stats);
        break;
    case APS_ROUND_TOWARD_ZERO:
        rounding.kind = APS_ROUND_TOWARD_ZERO;
        aps_blocks_encode_values(e, scale, x, n, rounding, codes, 4, stats);
        break;
    default:
        rounding.kind = APS_ROUND_NEAREST;
        aps_blocks_encode_values(e, scale, x, n, rounding, codes, 4, stats);
        break;
    }
}

/* Writes the codes of a block, or of part of one, exactly their bytes. */
APS_INLINE uint8_t *aps_blocks_put_codes(const uint32_t *codes, size_t n,
                                         unsigned width, uint8_t *wire)
{
    const size_t bytes = aps_pack_bytes(n, width);

    if (width == 8) {
        for (size_t i = 0; i < n; i++)
            aps_kernel_store(wire, i, 1, codes[i]);
    } else if (width == 16) {
        for (size_t i = 0; i < n; i++)
            aps_kernel_store(wire, i, 2, codes[i]);
    } else {
        aps_blocks_pack_bits(codes, n, width, wire);
    }
    return wire + bytes;
}

/* Encodes x[n], the elements from `first` of the piece on, which begin a
 * block. */
APS_INLINE void aps_blocks_encode_any(const struct aps_blocks_encoder *e,
                                      const aps_any_float *x, size_t n,
                                      uint64_t first, uint8_t *wire,
                                      struct aps_encode_stats *stats)
{
    const unsigned width = (unsigned)e->kernel->format.width;
    const size_t block = (size_t)e->kernel->format.block;
    const size_t most = APS_BLOCKS_CHUNK / block * block;
    const uint8_t *end =
        wire + n / block * (e->ops->scale + aps_pack_bytes(block, width));
    const bool together =
        block * width % 8 == 0 && aps_blocks_size(width) == 0 && most > 0;
    struct aps_block_scale scale = {.code = 0};

    for (size_t i = 0, count; i < n; i += count) {
        const size_t inside = i % block; /* in a block longer than a chunk */
        struct aps_codes codes;
        uint32_t scales[APS_BLOCKS_SCALES];
        uint32_t word[APS_ROUNDING_WORDS];
        const uint32_t *random = NULL;

        count = aps_size_min(
            n - i,
            most > 0 ? most : aps_size_min(APS_BLOCKS_CHUNK, block - inside));
        if (together && count > block)
            count = count / block * block;
        if (e->rounding == APS_ROUND_STOCHASTIC)
            random =
                aps_rounding_draw_magnitudes(&e->draw, e->offset + first + i,
                                             x + i, count, e->vectors, word);
        for (size_t j = 0; j < count; j += block) {
            const size_t length = aps_size_min(count - j, block);

            if (inside == 0)
                scale = e->ops->choose(e->kernel, x + i + j,
                                       aps_size_min(n - i - j, block));
            aps_blocks_round(e, scale, x + i + j, length,
                             random ? random + j : NULL, codes.code + j, stats);
            scales[j / block] = scale.code;
            if (together && count % block == 0)
                continue;
            if (inside == 0)
                wire = aps_blocks_put_scale(scale.code, e->ops->scale, wire);
            wire = aps_blocks_put_codes(codes.code + j, length, width, wire);
        }
        if (together && count % block == 0)
            wire = aps_blocks_put(e, &codes, scales, count / block, block,
                                  (size_t)(end - wire), wire);
    }
}

/* --- by vectors ----------------------------------------------------------- */

/* A family's own loop for one instruction set, as in struct aps_block_ops. */
struct aps_blocks_loop {
    size_t (*step)(const struct aps_format *format);
    uint64_t (*encode)(const struct aps_block_kernel *kernel,
                       const aps_any_float *x, size_t n, uint8_t *wire);
};

APS_INLINE struct aps_blocks_loop
aps_blocks_loop_of(const struct aps_block_ops *ops, enum aps_vectors vectors)
{
    if (vectors == APS_VECTORS_AVX512)
        return (struct aps_blocks_loop){ops->vbmi_step, ops->vbmi};
    if (vectors == APS_VECTORS_AVX2)
        return (struct aps_blocks_loop){ops->avx2_step, ops->avx2};
    return (struct aps_blocks_loop){NULL, NULL};
}

/* Encodes whole blocks to nearest by the family's own loop, which leaves
 * special ones to the others. Returns the number of values encoded. */
APS_INLINE size_t aps_blocks_encode_vectors(const struct aps_blocks_encoder *e,
                                            struct aps_blocks_loop loop,
                                            const aps_any_float *x, size_t n,
                                            uint8_t *wire)
{
    const struct aps_format *format = &e->kernel->format;
    const size_t block = (size_t)format->block;
    const size_t code =
        e->ops->scale + aps_pack_bytes(block, (unsigned)format->width);
    const size_t step = loop.step(format);
    const size_t most = APS_BLOCKS_STEPS * step;
    const size_t whole = n / step * step;

    for (size_t i = 0; i < whole; i += most) {
        uint64_t special =
            loop.encode(e->kernel, x + i, aps_size_min(whole - i, most),
                        wire + i / block * code);

        for (size_t at = i; special; special >>= 1, at += step) {
            if (special & 1)
                aps_blocks_encode_any(e, x + at, step, at,
                                      wire + at / block * code, NULL);
        }
    }
    return whole;
}

#endif

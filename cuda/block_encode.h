/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work of one thread of the kernel that encodes formats in blocks
 * (cuda/threads.h defines the terms). A group of threads encodes a block,
 * `lanes` of them, a power of two up to a warp: each finds the greatest
 * magnitude of its share, the group's is the greatest of these, and each
 * encodes its share with it. Shares are eights of values, whose codes are whole
 * bytes, dealt out in rotation.
 */
#ifndef APS_CUDA_BLOCK_ENCODE_H
#define APS_CUDA_BLOCK_ENCODE_H

#include "cuda/block_values.h"
#include "number/draw.h"

#define APS_BLOCK_LANES 32u

struct aps_block_encode_work {
    struct aps_block_kernel kernel;
    struct aps_block_layout layout;
    const unsigned char *x;
    unsigned char *wire;  /* first block */
    unsigned char *piece; /* place of the piece's scale, or NULL */
    /* The piece's greatest finite magnitude: `max`, or, if the host does not
     * know it, the result of another kernel. */
    const struct aps_cuda_result *found;
    float max;
    uint32_t lanes;
    enum aps_rounding rounding; /* correlated is stochastic here */
    struct aps_draw draw;
    uint64_t offset; /* number of x[0] in the stream */
};

/* Prepares a launch of x[at], ... x[at + n - 1] of a piece; `at` is the first
 * of a block. `options` of the piece, NULL: to nearest. `max` may be NULL if
 * formats have no scale of a piece, or another kernel finds it. */
APS_INLINE struct aps_block_encode_work aps_block_encode_work_init(
    const struct aps_format *format, const float *x, size_t at, size_t n,
    const struct aps_cast_options *options, const float *max,
    const struct aps_cuda_result *found, void *wire)
{
    struct aps_block_encode_work w = {};

    w.kernel = aps_block_kernel_init(format);
    w.layout = aps_block_layout_init(format, n);
    w.x = (const unsigned char *)(x + at);
    w.wire = (unsigned char *)wire + aps_block_begin(format, at);
    if (format->piece_bytes > 0) {
        w.piece = at == 0 ? (unsigned char *)wire : NULL;
        w.found = max ? NULL : found;
        w.max = max ? *max : 0;
    }
    w.lanes = 1;
    while (w.lanes < APS_BLOCK_LANES && w.lanes * 8 < w.layout.block)
        w.lanes *= 2;
    if (!options)
        return w;
    w.offset = options->offset + at;
    if (aps_cast_draws(options->rounding)) {
        w.draw = aps_draw_init(options);
        w.rounding = APS_ROUND_STOCHASTIC;
    } else if (options->rounding == APS_ROUND_TOWARD_ZERO) {
        w.rounding = APS_ROUND_TOWARD_ZERO;
    }
    return w;
}

/* Returns the scale of the piece, once it can be known. */
APS_INLINE float aps_block_encode_piece(const struct aps_block_encode_work *w,
                                        enum aps_family family)
{
    return aps_block_piece(
        family, w->found ? aps_float_from_bits(w->found->finite) : w->max);
}

/* Writes the scale, by one thread of all. */
APS_INLINE void aps_block_put_piece(const struct aps_block_encode_work *w,
                                    float piece)
{
    const uint32_t bits = aps_float_bits(piece);

    for (uint32_t i = 0; w->piece && i < 4; i++)
        w->piece[i] = (unsigned char)(bits >> 8 * i);
}

/* Loads x[first], ... x[first + count - 1], count <= 8, into word[8], followed
 * by zeros. */
APS_INLINE void aps_block_load(const struct aps_block_encode_work *w,
                               uint32_t first, uint32_t count, uint32_t *word)
{
    const unsigned char *from = w->x + (size_t)first * 4;

    if (count == 8 && (uintptr_t)from % 16 == 0) {
        aps_threads_load16(from, word);
        aps_threads_load16(from + 16, word + 4);
        return;
    }
    for (uint32_t i = 0; i < 8; i++)
        word[i] = i < count ? aps_threads_load_float(w->x, first + i) : 0;
}

APS_INLINE uint32_t aps_block_eight(uint32_t at, uint32_t length)
{
    return length - at < 8 ? length - at : 8;
}

/* Returns the greatest magnitude of a thread's share. */
APS_INLINE uint32_t aps_block_greatest(const struct aps_block_encode_work *w,
                                       uint32_t block, uint32_t lane)
{
    const uint32_t length = aps_block_length(&w->layout, block);
    const uint32_t first = block * w->layout.block;
    struct aps_threads_seen seen = {};
    uint32_t word[8];

    for (uint32_t at = lane * 8; at < length; at += w->lanes * 8) {
        aps_block_load(w, first + at, aps_block_eight(at, length), word);
        for (uint32_t i = 0; i < 8; i++)
            aps_threads_see(&seen, word[i]);
    }
    return seen.greatest;
}

/* Returns the code of x[i]. */
APS_INLINE uint32_t aps_block_encode_value(
    const struct aps_block_encode_work *w, enum aps_family family,
    struct aps_block_scale scale, uint32_t i, struct aps_threads_seen *seen)
{
    const uint32_t digits = (1u << (w->layout.width - 1)) - 1;
    const uint32_t bits = aps_threads_load_float(w->x, i);
    const uint32_t magnitude = bits & ~APS_FLOAT_SIGN;
    uint32_t random = 0, over = 0, code;

    if (scale.nan || scale.zero) {
        seen->nonfinite += magnitude >= APS_FLOAT_INF;
        seen->underflow += magnitude > 0 && !scale.nan;
        return 0;
    }
    if (w->rounding == APS_ROUND_STOCHASTIC)
        random = aps_cast_random(
            w->draw.correlated ? APS_ROUND_CORRELATED : APS_ROUND_STOCHASTIC,
            bits, aps_draw_element(&w->draw, w->offset + i));
    code = aps_block_code(family, &w->kernel, scale, bits, w->rounding, random,
                          &over);
    seen->underflow += (code & digits) == 0 && magnitude > 0;
    seen->overflow += over;
    return code;
}

/* Encodes a thread's share of a block with that greatest magnitude. */
APS_INLINE void aps_block_encode(const struct aps_block_encode_work *w,
                                 enum aps_family family, float piece,
                                 uint32_t block, uint32_t lane,
                                 uint32_t greatest,
                                 struct aps_threads_seen *seen)
{
    const struct aps_block_scale scale =
        aps_block_choose(family, &w->kernel, piece, greatest);
    const uint32_t length = aps_block_length(&w->layout, block);
    const uint32_t first = block * w->layout.block;
    const uint32_t width = w->layout.width;
    unsigned char *wire = w->wire + (size_t)block * w->layout.bytes;

    if (lane == 0)
        wire[0] = scale.code;
    for (uint32_t at = lane * 8; at < length; at += w->lanes * 8) {
        const uint32_t count = aps_block_eight(at, length);
        unsigned char *to = wire + w->layout.scale + at / 8 * width;
        uint32_t filled = 0;
        uint64_t word = 0;

/* a thread has too few registers for several values' random bits */
#if defined(__CUDACC__)
#pragma unroll 1
#endif
        for (uint32_t i = 0; i < count; i++) {
            word |= (uint64_t)aps_block_encode_value(w, family, scale,
                                                     first + at + i, seen)
                    << filled;
            for (filled += width; filled >= 8; filled -= 8, word >>= 8)
                *to++ = (unsigned char)word;
        }
        if (filled > 0)
            *to = (unsigned char)word;
    }
}

/* --- eights that stay in registers --------------------------------------- */

/* Most bytes of the blocks that a warp encodes at once. */
#define APS_BLOCK_STAGED (APS_BLOCK_LANES * (8 + 1))

/* True if each thread of a group can keep its eight of a block in registers,
 * and a warp can write its blocks by whole words: for whole blocks, to nearest
 * and without statistics. */
APS_INLINE bool
aps_block_encode_by_eights(const struct aps_block_encode_work *w)
{
    const struct aps_block_layout *l = &w->layout;

    return w->rounding == APS_ROUND_NEAREST && l->scale == 1 && l->width <= 8 &&
           l->block % 8 == 0 && l->block <= w->lanes * 8 &&
           APS_BLOCK_LANES / w->lanes * l->bytes % 4 == 0 &&
           (uintptr_t)w->x % 16 == 0 && (uintptr_t)w->wire % 4 == 0;
}

APS_INLINE void aps_block_load_eight(const struct aps_block_encode_work *w,
                                     uint32_t first, uint32_t *word)
{
    const unsigned char *from = w->x + (size_t)first * 4;

    aps_threads_load16(from, word);
    aps_threads_load16(from + 16, word + 4);
}

/* Encodes word[8] in a block with that scale: writes the codes, the first in
 * the lowest bits, to bytes[width]. */
APS_INLINE void aps_block_encode_eight(const struct aps_block_encode_work *w,
                                       enum aps_family family,
                                       struct aps_block_scale scale,
                                       const uint32_t *word,
                                       unsigned char *bytes)
{
    const uint32_t width = w->layout.width;
    uint64_t codes = 0;

    for (uint32_t i = 0; i < 8 && !scale.nan && !scale.zero; i++) {
        uint32_t over;
        uint64_t code = aps_block_code(family, &w->kernel, scale, word[i],
                                       APS_ROUND_NEAREST, 0, &over);

        codes |= code << i * width;
    }
    for (uint32_t i = 0; i < 8; i++) {
        if (i < width)
            bytes[i] = (unsigned char)(codes >> 8 * i);
    }
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work of one thread of the kernel that decodes formats in blocks
 * (cuda/threads.h defines the terms). Units are fours of values of a block;
 * threads are independent of each other.
 */
#ifndef APS_CUDA_BLOCK_DECODE_H
#define APS_CUDA_BLOCK_DECODE_H

#include "cuda/block_values.h"
#include "cuda/decode.h"

struct aps_block_decode_work {
    struct aps_block_kernel kernel;
    struct aps_block_layout layout;
    unsigned char *x;
    const unsigned char *wire;  /* first block */
    const unsigned char *piece; /* scale of the piece, or NULL */
    uint32_t fours;             /* units of a whole block */
    uint32_t units;
};

/* Prepares a launch of x[at], ... x[at + n - 1] of a piece; `at` is the first
 * of a block. */
APS_INLINE struct aps_block_decode_work
aps_block_decode_work_init(const struct aps_format *format, const void *wire,
                           size_t at, size_t n, float *x)
{
    struct aps_block_decode_work w = {};

    w.kernel = aps_block_kernel_init(format);
    w.layout = aps_block_layout_init(format, n);
    w.x = (unsigned char *)(x + at);
    w.wire = (const unsigned char *)wire + aps_block_begin(format, at);
    w.piece = format->piece_bytes > 0 ? (const unsigned char *)wire : NULL;
    w.fours = (w.layout.block + 3) / 4;
    w.units = w.layout.n / w.layout.block * w.fours +
              (w.layout.n % w.layout.block + 3) / 4;
    return w;
}

APS_INLINE float aps_block_decode_piece(const struct aps_block_decode_work *w)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; w->piece && i < 4; i++)
        bits |= (uint32_t)w->piece[i] << 8 * i;
    return aps_float_from_bits(bits);
}

/* Returns code i of those that begin at `codes`; bits above its width may
 * belong to others. */
APS_INLINE uint32_t aps_block_code_at(const unsigned char *codes, uint32_t i,
                                      uint32_t width)
{
    const uint32_t bit = i * width;
    const uint32_t last = (bit + width - 1) / 8;
    uint64_t bits = 0;

#if defined(__CUDACC__)
#pragma unroll 1
#endif
    for (uint32_t byte = bit / 8; byte <= last; byte++)
        bits |= (uint64_t)codes[byte] << (byte - bit / 8) * 8;
    return (uint32_t)(bits >> bit % 8) & (uint32_t)((2ull << (width - 1)) - 1);
}

APS_INLINE void aps_block_decode_unit(const struct aps_block_decode_work *w,
                                      enum aps_family family, float piece,
                                      bool add, uint32_t unit)
{
    const struct aps_block_layout *l = &w->layout;
    const uint32_t block = unit / w->fours;
    const uint32_t at = unit % w->fours * 4;
    const uint32_t left = aps_block_length(l, block) - at;
    const uint32_t count = left < 4 ? left : 4;
    const uint32_t first = block * l->block + at;
    const unsigned char *from = w->wire + (size_t)block * l->bytes;
    const struct aps_block_scale scale =
        aps_block_read(family, &w->kernel, piece, from[0]);
    unsigned char *to = w->x + (size_t)first * 4;
    const bool whole = count == 4 && (uintptr_t)to % 16 == 0;
    uint32_t sum[4] = {0, 0, 0, 0};
    uint32_t y[4] = {0, 0, 0, 0};

    if (add && whole)
        aps_threads_load16(to, sum);
    for (uint32_t i = 0; i < 4; i++) {
        if (i >= count)
            continue;
        if (add && !whole)
            sum[i] = aps_threads_load_float(w->x, first + i);
        if (scale.nan)
            y[i] = APS_FLOAT_NAN;
        else if (!scale.zero)
            y[i] = aps_block_value(
                family, &w->kernel, scale,
                aps_block_code_at(from + l->scale, at + i, l->width));
        if (add)
            y[i] = aps_decode_sum(sum[i], y[i]);
        if (!whole)
            aps_threads_store_float(w->x, first + i, y[i]);
    }
    if (whole)
        aps_threads_store16(to, y);
}

/* --- eights ---------------------------------------------------------------- */

/* True if blocks are eights, whose codes can be loaded by whole words. */
APS_INLINE bool
aps_block_decode_by_eights(const struct aps_block_decode_work *w)
{
    const struct aps_block_layout *l = &w->layout;

    return l->scale == 1 && l->width <= 8 && l->block % 8 == 0 &&
           (uintptr_t)w->x % 16 == 0 && (uintptr_t)w->wire % 4 == 0;
}

/* Returns the codes of an eight, `width` <= 8 bytes from the wire's byte `at`
 * on, the first in the lowest bits; `end`: end of the wire, in bytes. */
APS_INLINE uint64_t aps_block_codes(const unsigned char *wire, uint32_t at,
                                    uint32_t width, uint32_t end)
{
    const uint32_t base = at / 4 * 4;
    const uint32_t shift = at % 4 * 8;
    uint64_t codes = 0;

    if (base + 12 > end) {
        for (uint32_t i = 0; i < width; i++)
            codes |= (uint64_t)wire[at + i] << 8 * i;
        return codes;
    }
    codes = aps_threads_load4(wire + base) |
            (uint64_t)aps_threads_load4(wire + base + 4) << 32;
    codes >>= shift;
    if (shift + width * 8 > 64)
        codes |= (uint64_t)aps_threads_load4(wire + base + 8) << (64 - shift);
    return codes;
}

/* Decodes unit `unit` of eights of whole blocks. */
APS_INLINE void aps_block_decode_eight(const struct aps_block_decode_work *w,
                                       enum aps_family family, float piece,
                                       bool add, uint32_t unit)
{
    const struct aps_block_layout *l = &w->layout;
    const uint32_t eights = l->block / 8;
    const uint32_t block = unit / eights;
    const uint32_t from = block * l->bytes;
    const uint32_t mask = (1u << l->width) - 1;
    const struct aps_block_scale scale =
        aps_block_read(family, &w->kernel, piece, w->wire[from]);
    unsigned char *to = w->x + (size_t)unit * 32;
    uint32_t sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    uint32_t y[8];
    uint64_t codes =
        aps_block_codes(w->wire, from + 1 + unit % eights * l->width, l->width,
                        l->blocks * l->bytes);

    if (add) {
        aps_threads_load16(to, sum);
        aps_threads_load16(to + 16, sum + 4);
    }
    for (uint32_t i = 0; i < 8; i++, codes >>= l->width) {
        y[i] = scale.nan    ? APS_FLOAT_NAN
               : scale.zero ? 0
                            : aps_block_value(family, &w->kernel, scale,
                                              (uint32_t)codes & mask);
        if (add)
            y[i] = aps_decode_sum(sum[i], y[i]);
    }
    aps_threads_store16(to, y);
    aps_threads_store16(to + 16, y + 4);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoding of formats in blocks (blocks.h): a fast way for whole blocks, and
 * one for all.
 */
#ifndef APS_BLOCKWISE_BLOCKS_DECODE_H
#define APS_BLOCKWISE_BLOCKS_DECODE_H

#include "base/size_min.h"
#include "blockwise/blocks.h"

/* Constants of all blocks of a decode. */
struct aps_blocks_decoder {
    const struct aps_block_ops *ops;
    const struct aps_block_kernel *kernel;
    bool vbmi;
    bool add;
};

/* Decodes the values of a block, or part of one. */
APS_INLINE void aps_blocks_decode_values(const struct aps_blocks_decoder *d,
                                         struct aps_block_scale scale,
                                         const void *codes, int size, size_t n,
                                         aps_any_float *x)
{
    if (scale.nan || scale.zero)
        aps_blocks_fill(scale.nan ? aps_float_from_bits(APS_FLOAT_NAN) : 0, n,
                        d->add, x);
    else
        d->ops->decode(d->kernel, scale, codes, size, n, d->add, x);
}

/* Unpacks `count` blocks of whole bytes, at most a chunk, to consecutive codes;
 * `room` bytes of the wire are left. */
APS_INLINE void aps_blocks_get(const struct aps_blocks_decoder *d,
                               const uint8_t *wire, size_t count, size_t block,
                               size_t room, uint32_t *scales,
                               struct aps_codes *codes)
{
    const unsigned width = (unsigned)d->kernel->format.width;
    const size_t scale = d->ops->scale;
    const size_t n = count * block;
    const size_t bytes = block * width / 8;
    uint8_t packed[APS_PACK_CHUNK * 4 + APS_PACK_SLACK];

    for (size_t b = 0; b < count; b++, wire += bytes, room -= scale + bytes) {
        scales[b] = aps_blocks_get_scale(wire, scale);
        wire += scale;
        if (room >= scale + bytes + 8)
            aps_blocks_copy(packed + b * bytes, wire, bytes);
        else
            memcpy(packed + b * bytes, wire, bytes);
    }
    memset(packed + count * bytes, 0, APS_PACK_SLACK);
    aps_unpack_blocks(packed, n + (0 - n) % APS_PACK_BLOCK, width, d->vbmi,
                      codes);
}

/* Decodes whole blocks, n values, of codes of `size` bytes. */
APS_INLINE size_t aps_blocks_decode_arrays(const struct aps_blocks_decoder *d,
                                           const uint8_t *wire, size_t n,
                                           size_t block, int size,
                                           aps_any_float *x)
{
    const size_t scale = d->ops->scale;
    const size_t bytes = scale + block * (size_t)size;

    for (size_t i = 0; i < n; i += block, wire += bytes)
        aps_blocks_decode_values(
            d, d->ops->read(d->kernel, aps_blocks_get_scale(wire, scale)),
            wire + scale, size, block, x + i);
    return n;
}

/* Decodes whole blocks, n values. Returns the number of values decoded. `block`
 * is a constant. */
APS_INLINE size_t aps_blocks_decode_fast(const struct aps_blocks_decoder *d,
                                         const uint8_t *wire, size_t n,
                                         size_t block, aps_any_float *x)
{
    const unsigned width = (unsigned)d->kernel->format.width;
    const size_t whole = n / block * block;
    const size_t scale = d->ops->scale;
    const size_t bytes = scale + aps_pack_bytes(block, width);
    const uint8_t *end = wire + n / block * bytes;
    struct aps_codes codes;
    uint32_t scales[APS_BLOCKS_SCALES];

    if (block > APS_BLOCKS_CHUNK || block * width % 8 != 0)
        return 0;
    if (width == 8)
        return aps_blocks_decode_arrays(d, wire, whole, block, 1, x);
    if (width == 16)
        return aps_blocks_decode_arrays(d, wire, whole, block, 2, x);
    for (size_t i = 0; i < whole;) {
        const size_t count =
            aps_size_min((whole - i) / block, APS_BLOCKS_CHUNK / block);

        aps_blocks_get(d, wire, count, block, (size_t)(end - wire), scales,
                       &codes);
        for (size_t b = 0; b < count; b++, i += block)
            aps_blocks_decode_values(d, d->ops->read(d->kernel, scales[b]),
                                     codes.code + b * block, 4, block, x + i);
        wire += count * bytes;
    }
    return whole;
}

/* Decodes n values that begin a block, of any length. */
APS_INLINE void aps_blocks_decode_any(const struct aps_blocks_decoder *d,
                                      const uint8_t *wire, size_t n,
                                      aps_any_float *x)
{
    const unsigned width = (unsigned)d->kernel->format.width;
    const size_t block = (size_t)d->kernel->format.block;
    struct aps_block_scale scale = {.code = 0};

    for (size_t i = 0, count; i < n; i += count) {
        const size_t inside = i % block;
        uint32_t codes[APS_PACK_CHUNK];

        count =
            aps_size_min(n - i, aps_size_min(APS_BLOCKS_CHUNK, block - inside));
        if (inside == 0) {
            scale = d->ops->read(d->kernel,
                                 aps_blocks_get_scale(wire, d->ops->scale));
            wire += d->ops->scale;
        }
        aps_blocks_unpack_bits(wire, count, width, codes);
        aps_blocks_decode_values(d, scale, codes, 4, count, x + i);
        wire += aps_pack_bytes(count, width);
    }
}

/* Decodes whole blocks by the family's own loop, which leaves special ones to
 * the others. Returns the number of values decoded. */
APS_INLINE size_t aps_blocks_decode_vbmi(const struct aps_blocks_decoder *d,
                                         const uint8_t *wire, size_t n,
                                         aps_any_float *x)
{
    const struct aps_format *format = &d->kernel->format;
    const size_t block = (size_t)format->block;
    const size_t code =
        d->ops->scale + aps_pack_bytes(block, (unsigned)format->width);
    const size_t step = d->ops->vbmi_step(format);
    const size_t most = APS_BLOCKS_STEPS * step;
    const size_t whole = n / step * step;

    for (size_t i = 0; i < whole; i += most) {
        uint64_t special =
            d->ops->vbmi_decode(d->kernel, wire + i / block * code,
                                aps_size_min(whole - i, most), d->add, x + i);

        for (size_t at = i; special; special >>= 1, at += step) {
            if (special & 1)
                aps_blocks_decode_any(d, wire + at / block * code, step,
                                      x + at);
        }
    }
    return whole;
}

#endif

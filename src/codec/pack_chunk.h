/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks of codes, packed and unpacked by the means of the CPU. Inlined into
 * float.c.
 */
#ifndef APS_CODEC_PACK_CHUNK_H
#define APS_CODEC_PACK_CHUNK_H

#include <stdbool.h>
#include <string.h>

#include "codec/pack.h"
#if defined(__x86_64__)
#include "codec/pack_vbmi.h"
#endif

#define CHUNK ((size_t)APS_PACK_CHUNK)

APS_INLINE size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The bytes of the first n values; n is a multiple of 8 or the last. */
APS_INLINE size_t packed_bytes(size_t n, unsigned width)
{
    return (n * width + 7) / 8;
}

APS_INLINE size_t whole_blocks(size_t n)
{
    return (n + APS_PACK_BLOCK - 1) / APS_PACK_BLOCK * APS_PACK_BLOCK;
}

APS_INLINE void pack_blocks(struct aps_codes *codes, size_t n, unsigned width,
                            bool vbmi, uint8_t *wire)
{
#if defined(__x86_64__)
    if (vbmi && width <= APS_PACK_VBMI_WIDTH) {
        aps_pack_vbmi(codes, n, width, wire);
        return;
    }
#endif
    (void)vbmi;
    aps_pack(codes, n, width, wire);
}

APS_INLINE void unpack_blocks(const uint8_t *wire, size_t n, unsigned width,
                              bool vbmi, struct aps_codes *codes)
{
#if defined(__x86_64__)
    if (vbmi && width <= APS_PACK_VBMI_WIDTH) {
        aps_unpack_vbmi(wire, n, width, codes);
        return;
    }
#endif
    (void)vbmi;
    aps_unpack(wire, n, width, codes);
}

/* A code's size where an array of codes is packed already, or 0. */
APS_INLINE int array_size(unsigned width)
{
    return width == 8 || width == 16 || width == 32 ? (int)(width / 8) : 0;
}

/* Pack n codes of a chunk; `room` bytes of the wire are left. */
APS_INLINE void pack_chunk(struct aps_codes *codes, size_t n, unsigned width,
                           bool vbmi, size_t room, uint8_t *wire)
{
    if (n == CHUNK && room >= packed_bytes(CHUNK, width) + APS_PACK_SLACK) {
        pack_blocks(codes, CHUNK, width, vbmi, wire);
        return;
    }
    uint8_t copy[CHUNK * 4 + APS_PACK_SLACK];

    memset(codes->code + n, 0, (CHUNK - n) * sizeof *codes->code);
    pack_blocks(codes, whole_blocks(n), width, vbmi, copy);
    memcpy(wire, copy, packed_bytes(n, width));
}

APS_INLINE void unpack_chunk(const uint8_t *wire, size_t n, unsigned width,
                             bool vbmi, size_t room, struct aps_codes *codes)
{
    if (n == CHUNK && room >= packed_bytes(CHUNK, width) + APS_PACK_SLACK) {
        unpack_blocks(wire, CHUNK, width, vbmi, codes);
        return;
    }
    uint8_t copy[CHUNK * 4 + APS_PACK_SLACK];
    size_t bytes = packed_bytes(n, width);

    memcpy(copy, wire, bytes);
    memset(copy + bytes, 0, sizeof copy - bytes);
    unpack_blocks(copy, whole_blocks(n), width, vbmi, codes);
}

#endif

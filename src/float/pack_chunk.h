/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packs and unpacks chunks of codes with the CPU's instructions. Inlined into
 * float.c.
 */
#ifndef APS_FLOAT_PACK_CHUNK_H
#define APS_FLOAT_PACK_CHUNK_H

#include <string.h>

#include "blockwise/pack_blocks.h"

#define CHUNK ((size_t)APS_PACK_CHUNK)

APS_INLINE size_t whole_blocks(size_t n)
{
    return (n + APS_PACK_BLOCK - 1) / APS_PACK_BLOCK * APS_PACK_BLOCK;
}

/* Returns a code's size, in bytes, if an array of codes is packed already, or
 * 0. */
APS_INLINE int array_size(unsigned width)
{
    return width == 8 || width == 16 || width == 32 ? (int)(width / 8) : 0;
}

/* Packs n codes of a chunk; `room` bytes of the wire are left. */
APS_INLINE void pack_chunk(struct aps_codes *codes, size_t n, unsigned width,
                           bool vbmi, size_t room, uint8_t *wire)
{
    if (n == CHUNK && room >= aps_pack_bytes(CHUNK, width) + APS_PACK_SLACK) {
        aps_pack_blocks(codes, CHUNK, width, vbmi, wire);
        return;
    }
    uint8_t copy[CHUNK * 4 + APS_PACK_SLACK];

    memset(codes->code + n, 0, (CHUNK - n) * sizeof *codes->code);
    aps_pack_blocks(codes, whole_blocks(n), width, vbmi, copy);
    memcpy(wire, copy, aps_pack_bytes(n, width));
}

APS_INLINE void unpack_chunk(const uint8_t *wire, size_t n, unsigned width,
                             bool vbmi, size_t room, struct aps_codes *codes)
{
    if (n == CHUNK && room >= aps_pack_bytes(CHUNK, width) + APS_PACK_SLACK) {
        aps_unpack_blocks(wire, CHUNK, width, vbmi, codes);
        return;
    }
    uint8_t copy[CHUNK * 4 + APS_PACK_SLACK];
    size_t bytes = aps_pack_bytes(n, width);

    memcpy(copy, wire, bytes);
    memset(copy + bytes, 0, sizeof copy - bytes);
    aps_unpack_blocks(copy, whole_blocks(n), width, vbmi, codes);
}

#endif

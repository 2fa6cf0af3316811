/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rounds a chunk of values to nearest by one float multiplication each, and
 * packs it. Inlined into float.c.
 */
#ifndef APS_FLOAT_FLOAT_CHUNK_H
#define APS_FLOAT_FLOAT_CHUNK_H

#include "kernel/kernel.h"
#include "float/pack_chunk.h"

/* Returns the magnitude of an array whose greatest bit pattern is known. */
APS_INLINE struct aps_magnitude magnitude_of(uint32_t greatest,
                                             const aps_any_float *x, size_t n)
{
    if (greatest < APS_FLOAT_INF)
        return (struct aps_magnitude){aps_float_from_bits(greatest), true};
    return (struct aps_magnitude){
        aps_float_from_bits(aps_kernel_max_finite(x, n)), false};
}

/* Writes codes [from, n) of 1, 2 or 4 bytes from 32 bits each. */
APS_INLINE void narrow_chunk(const struct aps_codes *codes, size_t from,
                             size_t n, int size, uint8_t *restrict wire)
{
    for (size_t i = from; i < n; i++)
        aps_kernel_store(wire, i, size, codes->code[i]);
}

/* Writes all codes of a chunk to a wire with room for `room` bytes. */
APS_INLINE void put_chunk(struct aps_codes *codes, size_t n, unsigned width,
                          bool vbmi, size_t room, uint8_t *wire)
{
    switch (array_size(width)) {
    case 1:
        narrow_chunk(codes, 0, n, 1, wire);
        break;
    case 2:
        narrow_chunk(codes, 0, n, 2, wire);
        break;
    case 4:
        narrow_chunk(codes, 0, n, 4, wire);
        break;
    default:
        pack_chunk(codes, n, width, vbmi, room, wire);
    }
}

/* Encodes to codes of `size` bytes. Returns true if they need the marker. */
APS_INLINE bool encode_array(const struct aps_kernel *kernel,
                             const aps_any_float *x, size_t n, float scale,
                             bool bounded, void *codes, int size,
                             struct aps_encode_stats *stats)
{
    if (stats)
        return aps_kernel_encode_array_stats(kernel, x, n, scale, codes, size,
                                             stats);
    if (!bounded)
        return aps_kernel_encode_array(kernel, x, n, scale, codes, size);
    aps_kernel_encode_array_bounded(kernel, x, n, scale, codes, size);
    return false;
}

/* Encodes a chunk to nearest, by one float multiplication for each value. */
APS_INLINE bool encode_chunk(const struct aps_kernel *kernel,
                             const aps_any_float *x, size_t n, float scale,
                             bool bounded, unsigned width, bool vbmi,
                             size_t room, uint8_t *wire,
                             struct aps_encode_stats *stats)
{
    struct aps_codes codes;
    bool marker;

    switch (array_size(width)) {
    case 1:
        return encode_array(kernel, x, n, scale, bounded, wire, 1, stats);
    case 2:
        return encode_array(kernel, x, n, scale, bounded, wire, 2, stats);
    case 4:
        return encode_array(kernel, x, n, scale, bounded, wire, 4, stats);
    default:
        marker =
            encode_array(kernel, x, n, scale, bounded, codes.code, 4, stats);
        pack_chunk(&codes, n, width, vbmi, room, wire);
        return marker;
    }
}

#endif

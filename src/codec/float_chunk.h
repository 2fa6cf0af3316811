/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A chunk of values rounded to nearest by one float multiplication each, and
 * packed; and the greatest magnitude of an array, chunk by chunk. Inlined into
 * float.c.
 */
#ifndef APS_CODEC_FLOAT_CHUNK_H
#define APS_CODEC_FLOAT_CHUNK_H

#include "base/least.h"
#include "codec/kernel.h"
#include "codec/pack_chunk.h"
#include "codec/tile.h"

/* What a variant is compiled for, beyond what the compiler makes of loops. */
enum vectors { PLAIN, AVX2, VBMI };

/* Codes [from, n) of 1, 2 or 4 bytes from 32 bits each. */
APS_INLINE void narrow_chunk(const struct aps_codes *codes, size_t from,
                             size_t n, int size, uint8_t *restrict wire)
{
    for (size_t i = from; i < n; i++)
        aps_kernel_store(wire, i, size, codes->code[i]);
}

/* All codes of a chunk, to a wire with room for so many bytes. */
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

/* Codes of `size` bytes; true if they ask for the marker. */
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

/* Encode a chunk to nearest, by one float multiplication. */
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

/* What AVX2 loads at a time. */
typedef int32_t aps_line __attribute__((vector_size(32)));
#define LINE (sizeof(aps_line) / sizeof(float))
#define LINES 4 /* whose maxima do not wait for each other */

/* The lanes' greatest magnitudes of so many lines more. */
APS_INLINE void greatest_lines(const aps_any_float *x, size_t lines,
                               aps_line *greatest)
{
    const aps_line magnitude = (aps_line){0} + (int32_t)~APS_FLOAT_SIGN;

    for (size_t l = 0; l < lines; l++) {
        aps_line line, more;

        memcpy(&line, x + l * LINE, sizeof line);
        line &= magnitude;
        more = line > *greatest;
        *greatest = (line & more) | (*greatest & ~more);
    }
}

/* A long array is read in strands, a cache line of each in turn, so that lines of more
 * pages are on their way at a time; each is asked for STRAND_AHEAD floats ahead of its
 * use. Measured on Intel's Emerald Rapids, two processes at once: 0.86 of the time from
 * memory, 0.98 from the L2 cache. Where asking ahead is not worth it, strands were not
 * measured, and there are none. */
#define STRANDS LINES
#define STRAND_ARRAY ((size_t)16 * 1024) /* floats, at least */
#define STRAND_AHEAD ((size_t)384)

/* aps_kernel_greatest of a long array, which is asked for ahead of its use, line by
 * line: a chunk at once is more than a core can wait for. */
APS_INLINE uint32_t greatest_body(const aps_any_float *x, size_t n)
{
    const size_t both = 64 / sizeof *x; /* of a cache line */
    const size_t strand =
        aps_tile_asks() && n >= STRAND_ARRAY ? n / STRANDS / both * both : 0;
    const size_t done = STRANDS * strand;
    const size_t whole = done + (n - done) / (LINES * LINE) * (LINES * LINE);
    aps_line greatest[LINES] = {{0}};
    uint32_t result = aps_kernel_greatest(x + whole, n - whole);

    for (size_t i = 0; i < strand; i += both)
        for (size_t j = 0; j < STRANDS; j++) {
            const aps_any_float *const y = x + j * strand + i;

            aps_tile_ask(y + STRAND_AHEAD, both);
            greatest_lines(y, both / LINE, &greatest[j]);
        }
    for (size_t i = done; i < whole; i += LINES * LINE) {
        aps_tile_ask_ahead(x + i, LINES * LINE);
        for (size_t j = 0; j < LINES; j++)
            greatest_lines(x + i + j * LINE, 1, &greatest[j]);
    }
    for (size_t j = 0; j < LINES; j++)
        for (size_t i = 0; i < LINE; i++) {
            const uint32_t here = (uint32_t)greatest[j][i];

            result = here > result ? here : result;
        }
    return result;
}

#endif

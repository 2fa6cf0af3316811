/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/chunk.h"

#include <string.h>

/* Blocks that travel together begin at multiples of this: their headers are
 * read and written as integers are. */
#define BLOCK_UNIT 4

static size_t chunk_round_up(size_t bytes)
{
    return (bytes + BLOCK_UNIT - 1) / BLOCK_UNIT * BLOCK_UNIT;
}

/* A piece of n elements, or the rest of what a chunk has room for. */
struct extent {
    size_t elements; /* of the longest slice */
    size_t bytes;    /* of its block */
    size_t inner_elements;
    size_t inner_bytes;
};

static struct extent chunk_extent(const struct aps_cut *cut, size_t n)
{
    const size_t slice = aps_slice_longest(n, cut->parts);
    const size_t inner = aps_slice_longest(slice, cut->inner);

    return (struct extent){
        .elements = slice,
        .bytes = aps_block_bytes(cut->wire, slice),
        .inner_elements = inner,
        .inner_bytes = aps_block_bytes(cut->wire, inner),
    };
}

/* Put the next piece into the chunk, unless it has no room: `used` is what the
 * pieces before it take. */
static bool chunk_add(struct aps_cut *cut, const struct extent *room,
                      struct extent *used, struct aps_chunk *chunk)
{
    const struct aps_vector *vector = &cut->vectors[cut->vector];
    const size_t rest = vector->n - cut->begin;
    const size_t n = rest < cut->length ? rest : cut->length;
    const struct extent extent = chunk_extent(cut, n);
    const struct extent at = {
        .elements = used->elements,
        .bytes = chunk_round_up(used->bytes),
        .inner_elements = used->inner_elements,
        .inner_bytes = chunk_round_up(used->inner_bytes),
    };

    if (chunk->count > 0 &&
        (chunk->count == APS_PIECES_MOST ||
         at.elements + extent.elements > room->elements ||
         at.bytes + extent.bytes > room->bytes ||
         at.inner_elements + extent.inner_elements > room->inner_elements ||
         at.inner_bytes + extent.inner_bytes > room->inner_bytes))
        return false;
    chunk->pieces[chunk->count++] = (struct aps_piece){
        .in = vector->in + cut->begin,
        .out = vector->out + cut->begin,
        .n = n,
        .memory = vector->memory,
        .exponent = cut->exponents ? cut->exponents[cut->vector] : 0,
        .base = at.elements,
        .offset = at.bytes,
        .inner_base = at.inner_elements,
        .inner_offset = at.inner_bytes,
    };
    used->elements = at.elements + extent.elements;
    used->bytes = at.bytes + extent.bytes;
    used->inner_elements = at.inner_elements + extent.inner_elements;
    used->inner_bytes = at.inner_bytes + extent.inner_bytes;
    cut->begin += n;
    if (cut->begin == vector->n) {
        cut->vector++;
        cut->begin = 0;
    }
    return true;
}

void aps_cut_next(struct aps_cut *cut, struct aps_chunk *chunk)
{
    const struct extent room = chunk_extent(cut, cut->length);
    struct extent used = {0};

    chunk->count = 0;
    chunk->blocks = NULL;
    while (cut->vector < cut->count && chunk_add(cut, &room, &used, chunk))
        ;
    chunk->elements = used.elements;
    chunk->bytes = used.bytes;
    chunk->inner_bytes = used.inner_bytes;
}

size_t aps_cut_chunks(const struct aps_cut *cut)
{
    struct aps_cut dry = *cut;
    struct aps_chunk chunk;
    size_t chunks = 0;

    if (cut->count == 1)
        return (cut->vectors[0].n + cut->length - 1) / cut->length;
    for (; dry.vector < dry.count; chunks++)
        aps_cut_next(&dry, &chunk);
    return chunks;
}

size_t aps_chunk_stride(const struct aps_chunk *chunk)
{
    return aps_block_aligned(chunk->bytes);
}

size_t aps_chunk_slice_bytes(const struct aps_chunk *chunk,
                             const struct aps_wire *wire, int parts, int i)
{
    for (int p = chunk->count - 1; p >= 0; p--) {
        const struct aps_piece *piece = &chunk->pieces[p];
        const size_t n = aps_slice_of(piece->n, parts, i).length;

        if (n > 0)
            return piece->offset + aps_block_bytes(wire, n);
    }
    return 0;
}

size_t aps_chunk_slice_elements(const struct aps_chunk *chunk, int parts, int i)
{
    size_t n = 0;

    for (int p = 0; p < chunk->count; p++)
        n += aps_slice_of(chunk->pieces[p].n, parts, i).length;
    return n;
}

void aps_chunk_inner(const struct aps_chunk *chunk, int parts, int i,
                     const float *sums, const struct aps_memory *memory,
                     struct aps_chunk *inner)
{
    inner->count = chunk->count;
    inner->elements = 0;
    inner->bytes = chunk->inner_bytes;
    inner->inner_bytes = chunk->inner_bytes;
    for (int p = 0; p < chunk->count; p++) {
        const struct aps_piece *piece = &chunk->pieces[p];

        inner->pieces[p] = (struct aps_piece){
            .in = sums + piece->base,
            .n = aps_slice_of(piece->n, parts, i).length,
            .memory = memory,
            .base = piece->inner_base,
            .offset = piece->inner_offset,
        };
    }
}

void aps_chunk_clear_gaps(const struct aps_chunk *chunk, unsigned char *bytes,
                          size_t size)
{
    if (chunk->count > 1)
        memset(bytes, 0, size);
}

void aps_chunk_decode(const struct aps_chunk *chunk,
                      const struct aps_wire *wire, int parts)
{
    for (int p = 0; p < chunk->count; p++) {
        const struct aps_piece *piece = &chunk->pieces[p];

        aps_blocks_decode(wire, piece->memory, parts,
                          chunk->blocks + piece->offset, chunk->stride,
                          piece->n, piece->out);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cut/chunk.h"

#include <string.h>

#include "codec/workers.h"

/* Blocks of one message begin at multiples of this number of bytes, because
 * their headers are read and written as integers. */
#define BLOCK_UNIT 4

static size_t chunk_round_up(size_t bytes)
{
    return (bytes + BLOCK_UNIT - 1) / BLOCK_UNIT * BLOCK_UNIT;
}

/* Size of one piece, or of several pieces. */
struct extent {
    size_t elements; /* length of the longest slice, in elements */
    size_t bytes;    /* size of its block, in bytes */
    size_t inner_elements;
    size_t inner_bytes;
};

static struct extent chunk_extent(const struct aps_chunks *chunks, size_t n)
{
    const size_t granule = aps_codec_granule(&chunks->wire->codec);
    struct extent extent = {.elements =
                                aps_slice_longest(n, granule, chunks->parts)};

    extent.bytes = aps_block_bytes(chunks->wire, extent.elements);
    extent.inner_elements = extent.elements;
    extent.inner_bytes = extent.bytes;
    if (chunks->inner > 1) {
        extent.inner_elements =
            aps_slice_longest(extent.elements, granule, chunks->inner);
        extent.inner_bytes =
            aps_block_bytes(chunks->wire, extent.inner_elements);
    }
    return extent;
}

static size_t chunk_next_length(const struct aps_chunks *chunks)
{
    const size_t rest = chunks->vectors[chunks->vector].n - chunks->begin;

    return rest < chunks->length ? rest : chunks->length;
}

/* Adds the next piece of n elements to the end of the chunk. */
static void chunk_add(struct aps_chunks *chunks, size_t n,
                      const struct extent *extent, struct extent *used,
                      struct aps_chunk *chunk)
{
    const struct aps_vector *vector = &chunks->vectors[chunks->vector];

    chunk->pieces[chunk->count++] = (struct aps_piece){
        .vector = vector,
        .begin = chunks->begin,
        .n = n,
        .granule = aps_codec_granule(&chunks->wire->codec),
        .base = used->elements,
        .offset = used->bytes,
        .inner_base = used->inner_elements,
        .inner_offset = used->inner_bytes,
    };
    used->elements += extent->elements;
    used->bytes += extent->bytes;
    used->inner_elements += extent->inner_elements;
    used->inner_bytes += extent->inner_bytes;
    chunks->begin += n;
    if (chunks->begin == vector->n) {
        chunks->vector++;
        chunks->begin = 0;
    }
}

/* Adds pieces as long as all of them take no more room than one piece of the
 * full length. */
static void chunk_fill(struct aps_chunks *chunks, struct extent *used,
                       struct aps_chunk *chunk)
{
    const struct extent room = chunk_extent(chunks, chunks->length);

    while (chunks->vector < chunks->count && chunk->count < APS_PIECES_MAX) {
        const size_t n = chunk_next_length(chunks);
        const struct extent extent = chunk_extent(chunks, n);
        struct extent at = *used;

        at.bytes = chunk_round_up(at.bytes);
        at.inner_bytes = chunk_round_up(at.inner_bytes);
        if (at.elements + extent.elements > room.elements ||
            at.bytes + extent.bytes > room.bytes ||
            at.inner_elements + extent.inner_elements > room.inner_elements ||
            at.inner_bytes + extent.inner_bytes > room.inner_bytes)
            return;
        *used = at;
        chunk_add(chunks, n, &extent, used, chunk);
    }
}

void aps_chunk_next(struct aps_chunks *chunks, struct aps_chunk *chunk)
{
    const size_t n = chunk_next_length(chunks);
    const struct extent extent = chunk_extent(chunks, n);
    struct extent used = {0};

    chunk->count = 0;
    chunk->blocks = NULL;
    chunk_add(chunks, n, &extent, &used, chunk);
    if (n < chunks->length && chunks->vector < chunks->count)
        chunk_fill(chunks, &used, chunk);
    chunk->elements = used.elements;
    chunk->bytes = used.bytes;
    chunk->inner_bytes = used.inner_bytes;
}

size_t aps_chunk_count(const struct aps_chunks *chunks)
{
    struct aps_chunks dry = *chunks;
    struct aps_chunk chunk;
    size_t count = 0;

    if (chunks->count == 1)
        return (chunks->vectors[0].n + chunks->length - 1) / chunks->length;
    for (; dry.vector < dry.count; count++)
        aps_chunk_next(&dry, &chunk);
    return count;
}

struct aps_block aps_piece_block(const struct aps_piece *piece,
                                 const struct aps_wire *wire, int rank,
                                 int ranks, struct aps_slice slice)
{
    const struct aps_vector *vector = piece->vector;

    return (struct aps_block){
        .memory = vector->memory,
        .x = aps_piece_in(piece, slice.begin),
        .n = slice.length,
        .number = vector->number,
        .first = vector->first + piece->begin + slice.begin,
        .stage = wire->stage,
        .rank = rank,
        .ranks = ranks,
        .exponent = vector->exponent,
        .known = vector->measured ? vector->magnitude
                                  : (struct aps_magnitude){0, false},
        .sums = piece->summed ? &piece->before : NULL,
    };
}

struct aps_block aps_piece_sum(const struct aps_piece *piece,
                               const struct aps_wire *wire,
                               struct aps_slice slice, int rank)
{
    struct aps_block sum = aps_piece_block(piece, wire, rank, 1, slice);

    sum.memory = aps_wire_sum_memory(wire);
    sum.x = NULL;
    sum.stage++;
    sum.exponent = piece->vector->sum_exponent;
    sum.known = (struct aps_magnitude){0, false};
    sum.sums = NULL;
    return sum;
}

size_t aps_chunk_scratch_stride(const struct aps_chunk *chunk)
{
    return aps_block_aligned(chunk->bytes);
}

size_t aps_chunk_slice_bytes(const struct aps_chunk *chunk,
                             const struct aps_wire *wire, int parts, int i)
{
    for (int p = chunk->count - 1; p >= 0; p--) {
        const struct aps_piece *piece = &chunk->pieces[p];
        const size_t n = aps_piece_slice(piece, parts, i).length;

        if (n > 0)
            return piece->offset + aps_block_bytes(wire, n);
    }
    return 0;
}

size_t aps_chunk_slice_elements(const struct aps_chunk *chunk, int parts, int i)
{
    size_t n = 0;

    for (int p = 0; p < chunk->count; p++)
        n += aps_piece_slice(&chunk->pieces[p], parts, i).length;
    return n;
}

void aps_chunk_inner(const struct aps_chunk *chunk, int parts, int i,
                     const void *sums, const struct aps_memory *memory,
                     struct aps_chunk *inner)
{
    inner->count = chunk->count;
    inner->elements = 0;
    inner->bytes = chunk->inner_bytes;
    inner->inner_bytes = chunk->inner_bytes;
    for (int p = 0; p < chunk->count; p++) {
        const struct aps_piece *piece = &chunk->pieces[p];
        const struct aps_vector *vector = piece->vector;
        const struct aps_slice slice = aps_piece_slice(piece, parts, i);

        inner->own[p] = (struct aps_vector){
            .in = aps_memory_at(memory, sums, piece->base),
            .n = slice.length,
            .memory = memory,
            .number = vector->number,
            .first = vector->first + piece->begin + slice.begin,
            .exponent = piece->summed ? vector->sum_exponent : vector->exponent,
            .sum_exponent = vector->sum_exponent,
        };
        inner->pieces[p] = (struct aps_piece){
            .vector = &inner->own[p],
            .n = slice.length,
            .granule = piece->granule,
            .summed = piece->summed,
            .before = piece->before,
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

bool aps_chunk_waits_for_gpu(const struct aps_chunk *chunk)
{
    for (int p = 0; p < chunk->count; p++) {
        if (chunk->pieces[p].vector->memory->run)
            return true;
    }
    return false;
}

void aps_chunk_encode_slice(const struct aps_chunk *chunk,
                            struct aps_blocks *blocks, int rank, int ranks,
                            int owner, unsigned char *bytes)
{
    const struct aps_wire *wire = blocks->wire;

    aps_chunk_clear_gaps(chunk, bytes,
                         aps_chunk_slice_bytes(chunk, wire, ranks, owner));
    for (int p = 0; p < chunk->count; p++) {
        const struct aps_piece *piece = &chunk->pieces[p];
        const struct aps_slice slice = aps_piece_slice(piece, ranks, owner);
        const struct aps_block block =
            aps_piece_block(piece, wire, rank, ranks, slice);

        if (slice.length == 0)
            continue;
        aps_blocks_encode(blocks, &block, bytes + piece->offset);
        if (owner != rank)
            aps_cost_add(blocks->cost, wire, slice.length, 1);
    }
}

void aps_chunk_decode(const struct aps_chunk *chunk,
                      const struct aps_wire *wire, int parts,
                      struct aps_blocks *blocks)
{
    aps_blocks_begin(blocks, wire, NULL);
    blocks->shared = aps_workers_prefer_list((size_t)parts, chunk->elements);
    for (int p = 0; p < chunk->count; p++) {
        const struct aps_piece *piece = &chunk->pieces[p];
        const unsigned char *from = chunk->blocks + piece->offset;

        if (piece->vector->state) {
            const struct aps_scale_record record =
                aps_redo_record(wire, parts, from, chunk->stride, piece->n);

            if (!aps_redo_settle(piece->vector->state, piece->begin, piece->n,
                                 &record))
                continue;
        }
        aps_blocks_decode_slices(blocks, piece->vector->memory, parts, from,
                                 chunk->stride, piece->n,
                                 aps_piece_out(piece, 0));
    }
    aps_blocks_run(blocks);
}

struct aps_scale_record aps_piece_record(const struct aps_wire *wire,
                                         const struct aps_piece *piece,
                                         const float *values, size_t n)
{
    struct aps_scale_record record = piece->before;
    struct aps_magnitude magnitude;

    if (!wire->records || piece->summed)
        return record;
    magnitude = aps_magnitude_of(values, n);
    record.in_max = magnitude.max;
    record.nonfinite |= !magnitude.finite;
    return record;
}

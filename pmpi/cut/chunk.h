/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How vectors, one a layer, are cut for a pipeline. A long vector is cut into
 * chunks of a fixed length; short ones share a chunk, each a piece of its own. A
 * piece has its own slices, blocks and scale exponent, the same whatever else is
 * in the chunk: what travels together is only sent together. So the result of a
 * layer does not depend on the layers that it is reduced with.
 */
#ifndef APS_PMPI_CUT_CHUNK_H
#define APS_PMPI_CUT_CHUNK_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/memory.h"
#include "block/block.h"
#include "block/block_batch.h"

/* Vectors that are reduced together at most, and pieces of a chunk. */
#define APS_VECTORS_MAX 128
#define APS_PIECES_MAX 16

/*
 * What all ranks know after a call of a vector whose scale keeps a state. A piece
 * that overflows and is to be redone is not decoded, so that its input is still
 * there, even in place.
 */
struct aps_history {
    bool redo;                      /* on overflow */
    struct aps_scale_record record; /* zeros at first */
    /* One bit for each APS_HISTORY_UNIT elements, zeros at first, not owned: 1
     * where a piece begins that is to be reduced again. Its length is `length`,
     * or what is left of the vector. */
    unsigned char *pieces;
    size_t length;
};
#define APS_HISTORY_UNIT ((size_t)64)

/* Bytes of `pieces` for n elements. */
static inline size_t aps_history_bytes(size_t n)
{
    return n / APS_HISTORY_UNIT / 8 + 1;
}

/* A vector to reduce: in[n] to out[n], which may be the same. */
struct aps_vector {
    const float *in;
    float *out;
    size_t n;
    const struct aps_memory *memory; /* of both */
    /* Random bits depend on a number that no other vector of the communicator has,
     * and on that of in[0] in the vector. */
    uint64_t number;
    uint64_t first;
    /* The magnitude of in[n] on this rank, if it is measured. */
    struct aps_magnitude magnitude;
    bool measured;
    /* The MAX of aps_scale_max_exponent over all ranks, if they have agreed on it
     * before the reduction. */
    int greatest;
    bool agreed;
    /* The scale exponents of values and of sums in the stage under way. At first
     * they are those that a state predicts, or zeros. */
    int exponent;
    int sum_exponent;
    /* Where the scale keeps a state, else NULL. Not owned. */
    struct aps_history *history;
};

/* A part of one vector, in slices (aps_piece_slice) of its own. */
struct aps_piece {
    const float *in;
    float *out;
    size_t n;
    size_t granule; /* of its slices' bounds */
    const struct aps_memory *memory;
    int exponent; /* the stage's */
    /* What no value of `in` is greater than, and whether all of them are known to
     * be finite; {0, false}: nobody knows. */
    struct aps_magnitude magnitude;
    int sum_exponent;            /* of its sums */
    struct aps_history *history; /* of its vector, or NULL ... */
    size_t begin;                /* ... and its place in that vector */
    uint64_t number;             /* of the vector, and */
    uint64_t first;              /* of in[0] in it */
    bool summed; /* `in` holds sums, of what `before` is the record; ... */
    struct aps_scale_record before; /* ... else that of no values */
    bool placed;   /* this rank's own result is in `out` already */
    size_t base;   /* its place in a slice's values, in elements ... */
    size_t offset; /* ... and in a slice's blocks, in bytes; from the begin of
                      the slice, equal in all slices */
    size_t inner_base; /* the same for slices of slices */
    size_t inner_offset;
};

static inline struct aps_slice aps_piece_slice(const struct aps_piece *piece,
                                               int parts, int i)
{
    return aps_slice_of(piece->n, piece->granule, parts, i);
}

/* A slice of a piece: what rank `rank` of the `ranks` whose values are added
 * contributes to the stage. */
struct aps_block aps_piece_block(const struct aps_piece *piece,
                                 const struct aps_wire *wire, int rank,
                                 int ranks, struct aps_slice slice);

/* The sums of a slice of a piece, which lie in host memory and which one rank rounds.
 * The caller adds where they lie and what is known of them. */
struct aps_block aps_piece_sum(const struct aps_piece *piece,
                               const struct aps_wire *wire,
                               struct aps_slice slice, int rank);

/* Pieces that are on their way together. */
struct aps_chunk {
    int count;
    size_t elements; /* of the longest slice */
    size_t bytes;    /* of its blocks */
    size_t inner_bytes;
    /* Where the result is to be: slice i of all pieces from blocks + i * stride
     * on. */
    unsigned char *blocks;
    size_t stride;
    struct aps_piece pieces[APS_PIECES_MAX]; /* [count] */
};

/* How the vectors of one call are cut. */
struct aps_cut {
    const struct aps_wire *wire;
    const struct aps_vector *vectors;
    int count;
    size_t length; /* elements of a chunk that is one piece */
    int parts;     /* slices of a piece */
    int inner;     /* slices of a slice, or 1 */
    int vector;    /* where the next chunk begins */
    size_t begin;
};

/* How many chunks there are: depends on lengths alone. */
size_t aps_cut_chunks(const struct aps_cut *cut);

/* The next chunk, its blocks NULL. There must be one. */
void aps_cut_next(struct aps_cut *cut, struct aps_chunk *chunk);

/* The results of a piece are here, and this is their record: false if the piece
 * is to be reduced again, and must not be decoded. That it is, whatever the scale
 * says of overflows, where a rank may have had another state than the others. */
bool aps_piece_settle(const struct aps_piece *piece,
                      const struct aps_scale_record *record);

/* The record of the results of a piece, in slices of n elements. */
struct aps_scale_record aps_results_record(const struct aps_wire *wire,
                                           int parts,
                                           const unsigned char *blocks,
                                           size_t stride, size_t n);

/* The first piece at or behind *begin, of a vector of n elements, that is to be
 * reduced again: false if there is none. */
bool aps_history_next(const struct aps_history *history, size_t n,
                      size_t *begin, size_t *length);

/* Elements of chunk k of n elements. */
static inline size_t aps_chunk_length(size_t n, size_t chunk, size_t k)
{
    return n - k * chunk < chunk ? n - k * chunk : chunk;
}

/* Between the blocks of two slices of a chunk, in scratch. */
size_t aps_chunk_stride(const struct aps_chunk *chunk);

/* Bytes of the blocks of slice i of `parts`, and its elements without the gaps
 * between pieces. */
size_t aps_chunk_slice_bytes(const struct aps_chunk *chunk,
                             const struct aps_wire *wire, int parts, int i);
size_t aps_chunk_slice_elements(const struct aps_chunk *chunk, int parts,
                                int i);

/*
 * The chunk that slice i of `parts` of `chunk` is in a stage of its own: sums,
 * where that slice's values are, each piece at its base, in memory `memory`.
 * Its exponents are those of sums. Blocks and stride are not set.
 */
void aps_chunk_inner(const struct aps_chunk *chunk, int parts, int i,
                     const float *sums, const struct aps_memory *memory,
                     struct aps_chunk *inner);

/* Gaps between blocks travel, too, and hold no secrets: zeros, if there are
 * gaps in bytes[size], where blocks are then written. */
void aps_chunk_clear_gaps(const struct aps_chunk *chunk, unsigned char *bytes,
                          size_t size);

/* Says whether a GPU has values of the chunk, whose blocks wait for aps_blocks_run.
 * Other blocks may be sent as soon as each is encoded. */
bool aps_chunk_waits_for_gpu(const struct aps_chunk *chunk);

/* Encode slice `owner` of `ranks`, of all pieces, to bytes[]: what rank `rank`
 * contributes. Gaps are cleared, and the cost of sending it is counted. */
void aps_chunk_encode_slice(const struct aps_chunk *chunk,
                            struct aps_blocks *blocks, int rank, int ranks,
                            int owner, unsigned char *bytes);

/* Decode the blocks of a chunk, of `parts` slices, to the pieces' `out`, unless
 * they are to be reduced again, all together. `blocks` is scratch. */
void aps_chunk_decode(const struct aps_chunk *chunk,
                      const struct aps_wire *wire, int parts,
                      struct aps_blocks *blocks);

#endif

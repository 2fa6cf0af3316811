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
#include "cut/redo.h"

/* Vectors that are reduced together at most, and pieces of a chunk. */
#define APS_VECTORS_MAX 128
#define APS_PIECES_MAX 16

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
    struct aps_scale_call *state; /* not owned; NULL: its scale keeps none */
};

/* A part of one vector, in slices (aps_piece_slice) of its own. */
struct aps_piece {
    const struct aps_vector *vector;
    size_t begin; /* in the vector */
    size_t n;
    size_t granule; /* of its slices' bounds */
    bool summed; /* the values are sums, of what `before` is the record; ... */
    struct aps_scale_record before; /* ... else that of no values */
    bool placed;   /* this rank's own result is in the vector already */
    size_t base;   /* its place in a slice's values, in elements ... */
    size_t offset; /* ... and in a slice's blocks, in bytes; from the begin of
                      the slice, equal in all slices */
    size_t inner_base; /* the same for slices of slices */
    size_t inner_offset;
};

static inline const float *aps_piece_in(const struct aps_piece *piece)
{
    return piece->vector->in + piece->begin;
}

static inline float *aps_piece_out(const struct aps_piece *piece)
{
    return piece->vector->out + piece->begin;
}

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
    /* The pieces' vectors, in a chunk of aps_chunk_inner. */
    struct aps_vector own[APS_PIECES_MAX];
};

/* The chunks of the vectors of one call: an iterator. */
struct aps_chunks {
    const struct aps_wire *wire;
    const struct aps_vector *vectors;
    int count;     /* vectors */
    size_t length; /* elements of a chunk that is one piece */
    int parts;     /* slices of a piece */
    int inner;     /* slices of a slice, or 1 */
    int vector;    /* where the next chunk begins */
    size_t begin;
};

/* How many chunks there are: depends on lengths alone. */
size_t aps_chunk_count(const struct aps_chunks *chunks);

/* The next chunk, its blocks NULL. There must be one. */
void aps_chunk_next(struct aps_chunks *chunks, struct aps_chunk *chunk);

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
 * Its exponents are those of sums. Blocks and stride are not set. `inner` stays where
 * it is, since its pieces point to its vectors.
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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cuts vectors, one for each layer, into chunks for a pipeline. A long vector
 * is cut into chunks of a fixed length. Short vectors share a chunk, in which
 * each is a piece.
 *
 * A piece has its own slices, blocks and scale exponent, which do not depend on
 * other pieces of the chunk: pieces of a chunk are only sent together. So the
 * result of a layer does not depend on the layers that it is reduced with.
 */
#ifndef APS_PMPI_CUT_CHUNK_H
#define APS_PMPI_CUT_CHUNK_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/memory.h"
#include "block/block.h"
#include "cut/redo.h"

/* Largest number of vectors that are reduced together, and of pieces of a
 * chunk. */
#define APS_VECTORS_MAX 128
#define APS_PIECES_MAX 16

/* A vector to reduce: in[n] to out[n], which may be the same array. */
struct aps_vector {
    const void *in;
    void *out;
    size_t n;
    const struct aps_memory *memory; /* memory of in[n] and out[n] */
    /* The random bits depend on `number`, which no other vector of the
     * communicator has, and on `first`, the number of in[0] in the vector. */
    uint64_t number;
    uint64_t first;
    /* Magnitude of in[n] on this rank, if `measured`. */
    struct aps_magnitude magnitude;
    bool measured;
    /* Maximum of aps_scale_max_exponent over all ranks, if they have agreed on
     * it before the reduction (`agreed`). */
    int greatest;
    bool agreed;
    /* Scale exponents of values and of sums in the current stage. Initially the
     * exponents that a state predicts, or zeros. */
    int exponent;
    int sum_exponent;
    /* not owned; NULL: its scale keeps no state */
    struct aps_scale_call *state;
};

/* Part of one vector, with its own slices (aps_piece_slice). */
struct aps_piece {
    const struct aps_vector *vector;
    size_t begin; /* first element in the vector */
    size_t n;
    size_t granule; /* alignment of its slices' bounds, in elements */
    bool summed;    /* true if the values are sums */
    /* record of the contributions if the values are sums; otherwise zeros */
    struct aps_scale_record before;
    bool placed; /* true if the vector has this rank's own result already */
    /* offset in a slice's values, in elements; equal in all slices */
    size_t base;
    /* offset in a slice's blocks, in bytes; equal in all slices */
    size_t offset;
    size_t inner_base; /* `base` and `offset` in slices of slices */
    size_t inner_offset;
};

/* Return the address of element i of a piece. */
static inline const void *aps_piece_in(const struct aps_piece *piece, size_t i)
{
    return aps_memory_at(piece->vector->memory, piece->vector->in,
                         piece->begin + i);
}

static inline void *aps_piece_out(const struct aps_piece *piece, size_t i)
{
    return aps_memory_at(piece->vector->memory, piece->vector->out,
                         piece->begin + i);
}

static inline struct aps_slice aps_piece_slice(const struct aps_piece *piece,
                                               int parts, int i)
{
    return aps_slice_of(piece->n, piece->granule, parts, i);
}

/* Returns the block of a slice of a piece, which rank `rank` contributes to the
 * stage. The stage adds the values of `ranks` ranks. */
struct aps_block aps_piece_block(const struct aps_piece *piece,
                                 const struct aps_wire *wire, int rank,
                                 int ranks, struct aps_slice slice);

/* Returns the block for the sums in a slice of a piece. The sums lie in host
 * memory, and rank `rank` rounds them. The caller sets the block's address and
 * what is known of its magnitude. */
struct aps_block aps_piece_sum(const struct aps_piece *piece,
                               const struct aps_wire *wire,
                               struct aps_slice slice, int rank);

/* Pieces that ranks send together. */
struct aps_chunk {
    int count;
    size_t elements; /* length of the longest slice, in elements */
    size_t bytes;    /* size of its blocks, in bytes */
    size_t inner_bytes;
    /* Address of the result: slice i of all pieces begins at blocks + i *
     * stride. */
    unsigned char *blocks;
    size_t stride;
    struct aps_piece pieces[APS_PIECES_MAX]; /* [count] */
    /* Vectors of the pieces, in a chunk of aps_chunk_inner. */
    struct aps_vector own[APS_PIECES_MAX];
};

/* Iterator over the chunks of the vectors of one call. */
struct aps_chunks {
    const struct aps_wire *wire;
    const struct aps_vector *vectors;
    int count;     /* number of vectors */
    size_t length; /* elements of a chunk that is one piece */
    int parts;     /* slices of a piece */
    int inner;     /* slices of a slice, or 1 */
    int vector;    /* vector in which the next chunk begins */
    size_t begin;
};

/* Returns the number of chunks, which depends on lengths only. */
size_t aps_chunk_count(const struct aps_chunks *chunks);

/* Sets *chunk to the next chunk, which must exist. Its `blocks` is NULL. */
void aps_chunk_next(struct aps_chunks *chunks, struct aps_chunk *chunk);

/* Returns the length of chunk k of n elements. */
static inline size_t aps_chunk_length(size_t n, size_t chunk, size_t k)
{
    return n - k * chunk < chunk ? n - k * chunk : chunk;
}

/* Returns the distance between the blocks of two slices of a chunk in scratch,
 * in bytes. */
size_t aps_chunk_scratch_stride(const struct aps_chunk *chunk);

/* Return the size of the blocks of slice i of `parts`, in bytes, and its number
 * of elements, without the gaps between pieces. */
size_t aps_chunk_slice_bytes(const struct aps_chunk *chunk,
                             const struct aps_wire *wire, int parts, int i);
size_t aps_chunk_slice_elements(const struct aps_chunk *chunk, int parts,
                                int i);

/*
 * Sets *inner to the chunk that slice i of `parts` of `chunk` is in its own
 * stage. Its values, and its exponents, are those of sums; each piece lies at
 * its base, in memory `memory`. The caller sets blocks and stride. It must not
 * move *inner, since its pieces point to its vectors.
 */
void aps_chunk_inner(const struct aps_chunk *chunk, int parts, int i,
                     const void *sums, const struct aps_memory *memory,
                     struct aps_chunk *inner);

/* Sets bytes[size], into which blocks are then written, to zeros if the chunk
 * has gaps: gaps are sent, too, and must not reveal old memory. */
void aps_chunk_clear_gaps(const struct aps_chunk *chunk, unsigned char *bytes,
                          size_t size);

/* True if values of the chunk lie in a GPU's memory, so that its blocks wait
 * for aps_blocks_run. Otherwise, and unless blocks are `shared`, each block may be
 * sent once it is encoded. */
bool aps_chunk_waits_for_gpu(const struct aps_chunk *chunk);

/* Encodes slice `owner` of `ranks`, of all pieces, to bytes[], as the
 * contribution of rank `rank`. Clears gaps, and counts the cost of sending the
 * slice. */
void aps_chunk_encode_slice(const struct aps_chunk *chunk,
                            struct aps_blocks *blocks, int rank, int ranks,
                            int owner, unsigned char *bytes);

/* Decodes the blocks of a chunk, of `parts` slices, to the pieces' `out`, in
 * one run. Skips pieces that are to be reduced again. `blocks` is scratch. */
void aps_chunk_decode(const struct aps_chunk *chunk,
                      const struct aps_wire *wire, int parts,
                      struct aps_blocks *blocks);

/* Returns the record of a rank's values, which are added uncast. A sum has a record
 * already. */
struct aps_scale_record aps_piece_record(const struct aps_wire *wire,
                                         const struct aps_piece *piece,
                                         const float *values, size_t n);

#endif

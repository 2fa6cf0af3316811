/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks, which ranks send: a small header (scale exponent, marker) and the
 * packed values of one slice. Slices: the division of a vector among ranks.
 */
#ifndef APS_PMPI_BLOCK_BLOCK_H
#define APS_PMPI_BLOCK_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/codec.h"
#include "codec/memory.h"
#include "policy/policy.h"

/* Header in the byte order of the (homogeneous) machine. */
struct aps_block_header {
    int16_t exponent; /* the block's scale exponent */
    uint8_t flags;    /* APS_BLOCK_* marker of the codec */
    uint8_t record;   /* APS_RECORD_* */
};

/* Follows the header if the scale keeps a state (aps_wire.records): the
 * magnitudes of struct aps_scale_record, of the values and of all their
 * contributions. So all ranks know the record once they have the results,
 * without a further message. */
struct aps_block_record {
    float in_max;
    float sum_max;
};
#define APS_RECORD_OVER 1u
#define APS_RECORD_NONFINITE 2u

/* Properties of the blocks of one layer: a plan, ready to run. */
struct aps_wire {
    struct aps_codec codec;
    const struct aps_memory *memory; /* memory of the program's buffers; that of
                                      * doubles if the format is wide */
    /* Device in whose memory blocks lie, as vectors do; NULL: host memory.
     * block_queue.h encodes and decodes them. *lost is set if values could not
     * be written to a block, or added. */
    const struct aps_device_memory *device;
    bool *lost;
    struct aps_scale scale;
    bool streams;     /* results are written past the caches */
    bool records;     /* the scale keeps a state, so headers have records */
    bool over_is_inf; /* an overflow must not arrive as a number */
    enum aps_accumulate_kind accumulate;
    /* sums by `fp32` are FP64 sums, each rounded once to FP32 unless the format is
     * wide */
    bool fp64;
    /* blocks of one chunk with sums in the format, as in the plan */
    int chunk;
    /* format of partial sums, unless they are FP32 */
    struct aps_codec sums;
    enum aps_rounding rounding; /* to nearest, stochastic or correlated */
    uint64_t seed;              /* seed of the random bits */
    /* number of the vector in the random bits (vectors of all-reduces have
     * their own) */
    uint64_t number;
    /* stage in the random bits of contributions; the next stage is for sums */
    uint32_t stage;
};

/*
 * True if a sum that APS has kept within the format may be rounded beyond it.
 * Rounding up may increase each contribution by a step. With a bit of mantissa
 * there is room for that above a power of two; without mantissa there is not.
 */
static inline bool aps_wire_may_step_over(const struct aps_wire *wire)
{
    return wire->rounding != APS_ROUND_NEAREST &&
           wire->codec.format.mantissa_bits == 0 &&
           aps_scale_ops_of(&wire->scale)->agreed;
}

/* Returns the backend of sums, which lie in host memory: of FP32 values, or of doubles
 * if the format is wide. */
static inline const struct aps_memory *
aps_wire_sum_memory(const struct aps_wire *wire)
{
    return wire->codec.format.wide ? wire->memory : &aps_memory_host;
}

/* True if the magnitude of a block must be known before the block is encoded. */
static inline bool aps_wire_measures(const struct aps_wire *wire)
{
    return wire->records || aps_scale_ops_of(&wire->scale)->per_block ||
           aps_wire_may_step_over(wire);
}

/* Returns the format that a stage's exponent must suit: that of the values or
 * that of the partial sums, whichever is narrower. */
static inline const struct aps_format *
aps_wire_narrowest(const struct aps_wire *wire)
{
    return wire->accumulate == APS_ACCUMULATE_FP32
               ? &wire->codec.format
               : aps_format_narrower(&wire->codec.format, &wire->sums.format);
}

/* Bytes that this rank has sent, and the bytes that FP32 would have sent. */
struct aps_cost {
    bool sampled; /* set by the caller: `residual` and `agree_ns` are wanted */
    int64_t agree_ns; /* time in which this rank agreed on exponents */
    unsigned long long wire_bytes;
    unsigned long long fp32_bytes;
    /* part of wire_bytes from a GPU's memory */
    unsigned long long device_bytes;
    unsigned long long streamed_bytes; /* part of wire_bytes past the caches */
    /* number of chunks that were reduced again */
    unsigned long long redone;
    /* number of layers that a compressor reduced */
    unsigned long long compressed;
    /* Number of layers in which a predicted scale let a value overflow, by
     * consequence. */
    unsigned long long overflowed[APS_OVERFLOW_KINDS];
    /* least exponent of the blocks that this rank encoded first */
    int least_exponent;
    bool encoded; /* true if there was such a block */
    /* Set for a sampled layer whose compressor keeps a residual on this rank:
     * norm of the residual over norm of the compressor's input, which is the
     * layer plus its error memory. Otherwise as the caller set it. */
    double residual;
};

/* Counts a block of this rank's inputs, encoded at a scale exponent. */
void aps_cost_note(struct aps_cost *cost, int exponent);

/* Counts a transfer of n values to `receivers` ranks. */
void aps_cost_add(struct aps_cost *cost, const struct aps_wire *wire, size_t n,
                  int receivers);

/*
 * True if the decoded values depend on the bounds of blocks. Then chunks must
 * not be longer than those of host memory.
 *
 * They depend on them if a block has its own exponent, its own marker for INF
 * and NaN (formats without codes for them), or a scale of all its values;
 * scales of parts that begin at granules (aps_codec_granule) do not count. They
 * also depend on them if a chunk may be reduced again with its own scale, and
 * with random rounding, whose bits are those of the rank that owns a slice of
 * the chunk.
 */
bool aps_wire_has_own_blocks(const struct aps_wire *wire);

/* Returns the size of a block of n values, in bytes, with its header; 0 for an
 * empty block. */
size_t aps_block_bytes(const struct aps_wire *wire, size_t n);

/* Return the distance of two blocks in scratch, in bytes, with up to n values
 * of this wire, up to n values of FP32, or `bytes` bytes of packed
 * values. */
size_t aps_block_stride(const struct aps_wire *wire, size_t n);
size_t aps_block_stride_widest(size_t n);
size_t aps_block_stride_bytes(size_t bytes);

/* Rounds a size up to a multiple of a cache line, as the strides are. */
size_t aps_block_aligned(size_t bytes);

/* Returns the magnitude of x[n], in memory `memory`. If it cannot be measured
 * and the wire's blocks lie on a device, sets *wire->lost. */
struct aps_magnitude aps_block_magnitude(const struct aps_wire *wire,
                                         const struct aps_memory *memory,
                                         const void *x, size_t n);

/*
 * A pass over x, part by part, during the encoding of a block. `see` gets n
 * values from element `begin` on, which have just been encoded, and may change
 * them. All of them are finite. `length` of a part is a multiple of the
 * granule, or all of x if the format has a scale of a whole block
 * (piece_bytes). x lies in host memory.
 */
struct aps_block_watch {
    size_t length;
    void (*see)(void *state, size_t begin, size_t n,
                const unsigned char *values, struct aps_scaling scaling);
    void *state;
};

/* Values of a block before they are encoded. */
struct aps_block {
    const struct aps_memory *memory;
    const void *x; /* [n] */
    size_t n;

    /* Random key: the values on which the random bits depend. `number` is equal
     * on all ranks, and no other vector of the communicator has it. */
    uint64_t number;
    uint64_t first; /* number of x[0] in the vector */
    uint32_t stage;
    int rank; /* rank that rounds */
    /* number of ranks whose values the stage adds; 1: the bits do not depend on
     * those of other ranks */
    int ranks;

    int exponent; /* exponent of the stage; ignored by a scale per block */
    /* Upper bound of the magnitude of x; {0, false}: not known. If `exact`, it
     * is the magnitude, and x is not measured. */
    struct aps_magnitude known;
    bool exact;
    /* Record of the contributions if x are sums; otherwise NULL. */
    const struct aps_scale_record *sums;
    const struct aps_block_watch *watch; /* may be NULL */
};

/* Encodes a block into `to`, which has room for aps_block_bytes. Returns the
 * exponent used. */
int aps_block_encode(const struct aps_wire *wire, const struct aps_block *block,
                     unsigned char *to);

/* Decodes a block in host memory to x[n], which is in `memory`. */
void aps_block_decode(const struct aps_wire *wire,
                      const struct aps_memory *memory,
                      const unsigned char *block, size_t n, void *x);

/*
 * Blocks in host memory that are encoded together, or decoded together. Blocks
 * whose values lie in a GPU's memory share one wait (struct aps_memory: run).
 * If the memory has no such verb, like host memory, each block is done at once,
 * unless `shared`: then the threads of a rank share the blocks of a run.
 * aps_blocks_run does all queued blocks, and runs when *blocks is full, too.
 * Values and bytes must stay until then.
 */
struct aps_blocks {
    const struct aps_wire *wire;
    struct aps_cost *cost; /* counts the encoded blocks */
    bool shared;           /* set after aps_blocks_begin */
    /* number of queued blocks, which have one verb and one memory */
    size_t count;
    struct aps_device_step steps[APS_DEVICE_STEPS];
    const struct aps_memory *memory;
    struct aps_block values[APS_DEVICE_STEPS]; /* blocks to encode */
    unsigned char *to[APS_DEVICE_STEPS];
};

/* Empties *blocks. `cost` may be NULL if no block is encoded. */
void aps_blocks_begin(struct aps_blocks *blocks, const struct aps_wire *wire,
                      struct aps_cost *cost);

/* Encodes a block, like aps_block_encode, by the end of the run. Notes the
 * exponent used in *cost. */
void aps_blocks_encode(struct aps_blocks *blocks, const struct aps_block *block,
                       unsigned char *to);

/* Decodes a block, like aps_block_decode. The block is read by the end of the
 * run. */
void aps_blocks_decode(struct aps_blocks *blocks,
                       const struct aps_memory *memory,
                       const unsigned char *block, size_t n, void *x);

/* Decodes one block of each of `parts` slices to x[n]. Block i lies at from + i
 * * stride. */
void aps_blocks_decode_slices(struct aps_blocks *blocks,
                              const struct aps_memory *memory, int parts,
                              const unsigned char *from, size_t stride,
                              size_t n, void *x);

/* Encodes or decodes all queued blocks. Waits for a GPU once, and once more if
 * the wire measures values before it encodes them. */
void aps_blocks_run(struct aps_blocks *blocks);

/* Number of bytes before the values of a block: largest number, and that of
 * this wire. */
#define APS_BLOCK_HEADER_MAX                                                   \
    (sizeof(struct aps_block_header) + sizeof(struct aps_block_record))
static inline size_t aps_block_header_bytes(const struct aps_wire *wire)
{
    return wire->records ? APS_BLOCK_HEADER_MAX
                         : sizeof(struct aps_block_header);
}

/* In a device's memory, where blocks have no records, a block begins this
 * number of bytes after a multiple of 16, so that its values begin at a
 * multiple of 16. */
#define APS_BLOCK_SKEW (16 - sizeof(struct aps_block_header))

/* Header fields of a block before it is encoded, for the files of pmpi/block. */
struct aps_block_meta {
    int exponent; /* exponent that is used */
    struct aps_scaling scaling;
    struct aps_scale_record record; /* zeros if the wire has no records */
};

/* Returns the header fields of a block. `magnitude` is that of the block's
 * values; {0, false} if the wire does not measure. */
struct aps_block_meta aps_block_meta_of(const struct aps_wire *wire,
                                        const struct aps_block *block,
                                        struct aps_magnitude magnitude);

/* Returns the codec's arguments for the random key of a block. */
struct aps_cast_options aps_block_options(const struct aps_wire *wire,
                                          const struct aps_block *block);

/* Writes the header of a block, with the codec's marker. */
void aps_block_write_header(const struct aps_wire *wire,
                            const struct aps_block_meta *meta, unsigned flags,
                            unsigned char *block);

/* Returns the scaling of the values of a block in host memory, and its marker:
 * the codec's arguments. */
struct aps_scaling aps_block_scaling(const struct aps_wire *wire,
                                     const unsigned char *block,
                                     unsigned *flags);

/* Returns the common record of `count` blocks, at blocks + i * stride; zeros if
 * the wire has no records. */
struct aps_scale_record aps_blocks_record(const struct aps_wire *wire,
                                          int count,
                                          const unsigned char *blocks,
                                          size_t stride);

/* Slice i of `parts` of n elements. Its bounds are multiples of `granule`
 * elements, the wire's granule (aps_codec_granule). */
struct aps_slice {
    size_t begin;
    size_t length;
};
struct aps_slice aps_slice_of(size_t n, size_t granule, int parts, int i);

/* Returns the length of the longest slice, in elements. */
size_t aps_slice_longest(size_t n, size_t granule, int parts);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks: what travels. A small header (scale exponent, marker) and the packed
 * values of one slice. And slices: how a vector is shared out among ranks.
 */
#ifndef APS_PMPI_BLOCK_BLOCK_H
#define APS_PMPI_BLOCK_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/codec.h"
#include "codec/memory.h"
#include "policy/policy.h"

/* On the wire, in the byte order of the (homogeneous) machine. */
struct aps_block_header {
    int16_t exponent; /* the block's scale exponent */
    uint8_t flags;    /* APS_BLOCK_* marker of the codec */
    uint8_t record;   /* APS_RECORD_* */
};

/* What follows the header where the scale keeps a state (aps_wire.records): the
 * struct aps_scale_record of the values and of all that went into them. Thus
 * all ranks know it when they have the results, without a message. */
struct aps_block_record {
    float in_max;
    float sum_max;
};
#define APS_RECORD_OVER 1u
#define APS_RECORD_NONFINITE 2u

/* How the blocks of one layer are made: a plan made ready to run. */
struct aps_wire {
    struct aps_codec codec;
    const struct aps_memory *memory; /* of the program's buffers */
    /* NULL: blocks lie in the host's memory; else in a device's, as vectors do:
     * block_queue.h encodes and decodes them, and *lost is set where values could
     * not be written to a block, or added. */
    const struct aps_device_memory *device;
    bool *lost;
    struct aps_scale scale;
    bool streams;     /* results are written past the caches */
    bool records;     /* the scale keeps a state: headers have records */
    bool over_is_inf; /* an overflow is not to arrive as a number */
    enum aps_accumulate_kind accumulate;
    int chunk;                  /* of sums in the format, as in the plan */
    struct aps_codec sums;      /* of partial sums, unless they are FP32 */
    enum aps_rounding rounding; /* to nearest, stochastic or correlated ... */
    uint64_t seed;              /* ... by bits of this seed, ... */
    uint64_t number; /* ... where the vector has this number (vectors of
                        all-reduces have their own), ... */
    uint32_t stage;  /* ... and their roundings this and the one after it: of
                        contributions, and of sums */
};

/*
 * May a sum that APS has kept within the format be rounded beyond it? Rounded up,
 * contributions may be greater than they were by a step each. With a bit of
 * mantissa there is room for that above a power of two, without there is none.
 */
static inline bool aps_wire_may_step_over(const struct aps_wire *wire)
{
    return wire->rounding != APS_ROUND_NEAREST &&
           wire->codec.format.mantissa_bits == 0 &&
           aps_scale_ops_of(&wire->scale)->agreed;
}

/* Must the magnitude of a block be known when it is encoded? */
static inline bool aps_wire_measures(const struct aps_wire *wire)
{
    return wire->records || aps_scale_ops_of(&wire->scale)->needs_magnitude ||
           aps_wire_may_step_over(wire);
}

/* The format that a stage's exponent must suit: where partial sums are kept in
 * another one, both. */
static inline const struct aps_format *
aps_wire_narrowest(const struct aps_wire *wire)
{
    return wire->accumulate == APS_ACCUMULATE_FP32
               ? &wire->codec.format
               : aps_format_narrower(&wire->codec.format, &wire->sums.format);
}

/* Bytes that this rank sent, and what FP32 would have sent in their place. */
struct aps_cost {
    bool sampled; /* by the caller: `residual` is wanted */
    unsigned long long wire_bytes;
    unsigned long long fp32_bytes;
    unsigned long long device_bytes;   /* of wire_bytes, from a GPU's memory */
    unsigned long long streamed_bytes; /* of wire_bytes, past the caches */
    unsigned long long redone;         /* chunks that were reduced again */
    unsigned long long compressed;     /* layers that a compressor took */
    /* Layers in which a predicted scale let a value overflow, by what became of
     * it. */
    unsigned long long overflowed[APS_OVERFLOW_KINDS];
    int least_exponent; /* of the blocks that it encoded first */
    bool encoded;       /* there was one */
    /* Of a sampled layer whose compressor remembers on this rank what it leaves
     * out: the norm of that over the norm of what it was given, which is the
     * layer and what it remembered before; otherwise as the caller set it. */
    double residual;
};

/* Count a block of this rank's inputs, encoded at a scale exponent. */
void aps_cost_note(struct aps_cost *cost, int exponent);

/* Count a transfer of n values to `receivers` ranks. */
void aps_cost_add(struct aps_cost *cost, const struct aps_wire *wire, size_t n,
                  int receivers);

/* Does what is decoded depend on where blocks begin? So it does with exponents
 * of their own, with the marker for INF and NaN of formats without codes for
 * them, and with a scale of all values of a block; the scales of parts of it that
 * begin at granules (aps_codec_granule) are those of the layer. So it does where
 * a chunk may be reduced again, with a scale of its own, and with roundings by
 * random bits, which are those of the rank that owns a slice of the chunk. Then
 * chunks must not be longer than the host's. */
bool aps_wire_has_own_blocks(const struct aps_wire *wire);

/* Bytes of a block of n values, header included; an empty block has none. */
size_t aps_block_bytes(const struct aps_wire *wire, size_t n);

/* From one block of up to n values to the next, in scratch: of this wire, of
 * the widest there is, and of so many bytes of values whatever their width. */
size_t aps_block_stride(const struct aps_wire *wire, size_t n);
size_t aps_block_stride_widest(size_t n);
size_t aps_block_stride_bytes(size_t bytes); /* of packed values */

/* The multiple of a cache line from so many bytes on: what the strides are. */
size_t aps_block_aligned(size_t bytes);

/* The magnitude of x[n], in memory `memory`; lost, too, where it cannot be had
 * and the wire's blocks lie on a device. */
struct aps_magnitude aps_block_magnitude(const struct aps_wire *wire,
                                         const struct aps_memory *memory,
                                         const float *x, size_t n);

/*
 * A pass over x during the encoding of a block, part by part: `see` gets n values from
 * element `begin` on, which have just been encoded, and may change them. All of them
 * are finite. `length` of a part is a multiple of the granule, or all of x where the
 * format has a scale of a whole block (piece_bytes). x lies in host memory.
 */
struct aps_block_watch {
    size_t length;
    void (*see)(void *state, size_t begin, size_t n,
                const unsigned char *values, struct aps_scaling scaling);
    void *state;
};

/* The values of a block, before they are encoded. */
struct aps_block {
    const struct aps_memory *memory;
    const float *x; /* [n] */
    size_t n;

    /* The random key: all that random bits depend on. */
    uint64_t number; /* that no other vector of the communicator has, and all
                        ranks give this one */
    uint64_t first;  /* number of x[0] in the vector */
    uint32_t stage;
    int rank;  /* that rounds */
    int ranks; /* whose values of the stage are added; 1: the bits do not depend
                  on those of other ranks */

    int exponent; /* the stage's; a scale per block finds its own */
    /* An upper bound of the magnitude of x; {0, false} where there is none. If it is
     * `exact`, it is that magnitude, and x is not measured. */
    struct aps_magnitude known;
    bool exact;
    /* The record of the contributions where x are sums, else NULL. */
    const struct aps_scale_record *sums;
    const struct aps_block_watch *watch; /* or NULL */
};

/* Encodes a block into `to`, which has room for aps_block_bytes. Returns the exponent
 * used. */
int aps_block_encode(const struct aps_wire *wire, const struct aps_block *block,
                     unsigned char *to);

void aps_block_decode(const struct aps_wire *wire,
                      const struct aps_memory *memory,
                      const unsigned char *block, size_t n, float *x);

/*
 * Blocks in host memory that are encoded together, or decoded together: those of
 * values in a GPU's memory are waited for once (struct aps_memory: run). Where the
 * memory of the values has no such verb, as the host's, each block is done at once.
 * aps_blocks_run does all that wait, and a full struct aps_blocks calls it, too. Values
 * and bytes must stay until then.
 */
struct aps_blocks {
    const struct aps_wire *wire;
    struct aps_cost *cost; /* counts the blocks that are encoded */
    size_t count;          /* that wait, with one verb and in one memory */
    struct aps_device_step steps[APS_DEVICE_STEPS];
    const struct aps_memory *memory;
    struct aps_block values[APS_DEVICE_STEPS]; /* to encode */
    unsigned char *to[APS_DEVICE_STEPS];
};

/* None. `cost` may be NULL where no block is encoded. */
void aps_blocks_begin(struct aps_blocks *blocks, const struct aps_wire *wire,
                      struct aps_cost *cost);

/* The exponent used is noted in *cost. */
void aps_blocks_encode(struct aps_blocks *blocks, const struct aps_block *block,
                       unsigned char *to);

/* Like aps_block_decode. The block is read by the end of the run. */
void aps_blocks_decode(struct aps_blocks *blocks,
                       const struct aps_memory *memory,
                       const unsigned char *block, size_t n, float *x);

/* Decodes one block a slice, of all `parts` slices, to x[n]: block i lies at from + i
 * * stride. */
void aps_blocks_decode_slices(struct aps_blocks *blocks,
                              const struct aps_memory *memory, int parts,
                              const unsigned char *from, size_t stride,
                              size_t n, float *x);

/* Encodes or decodes all that wait. One wait for a GPU, and another one where the
 * wire measures values before it encodes them. */
void aps_blocks_run(struct aps_blocks *blocks);

/* Bytes before the values of a block: of this wire, and at most. */
#define APS_BLOCK_HEADER_MAX                                                   \
    (sizeof(struct aps_block_header) + sizeof(struct aps_block_record))
static inline size_t aps_block_header_bytes(const struct aps_wire *wire)
{
    return wire->records ? APS_BLOCK_HEADER_MAX
                         : sizeof(struct aps_block_header);
}

/* In a device's memory, where there are no records, blocks begin so many bytes
 * behind a multiple of 16: then their values begin at one. */
#define APS_BLOCK_SKEW (16 - sizeof(struct aps_block_header))

/* The header of a block before the block is encoded, for the files of this room. */
struct aps_block_meta {
    int exponent; /* that is used */
    struct aps_scaling scaling;
    struct aps_scale_record record; /* zeros where the wire has none */
};

/* `magnitude` is that of the block's values; {0, false} where the wire does not
 * measure. */
struct aps_block_meta aps_block_meta_of(const struct aps_wire *wire,
                                        const struct aps_block *block,
                                        struct aps_magnitude magnitude);

/* The codec's arguments for the random key of a block. */
struct aps_cast_options aps_block_options(const struct aps_wire *wire,
                                          const struct aps_block *block);

/* Writes the header of a block, with the codec's marker. */
void aps_block_write_header(const struct aps_wire *wire,
                            const struct aps_block_meta *meta, unsigned flags,
                            unsigned char *block);

/* How the values of a block in host memory were scaled, and its marker: the
 * codec's arguments. */
struct aps_scaling aps_block_scaling(const struct aps_wire *wire,
                                     const unsigned char *block,
                                     unsigned *flags);

/* The record of `count` blocks together, at blocks + i * stride; zeros where the
 * wire has none. */
struct aps_scale_record aps_blocks_record(const struct aps_wire *wire,
                                          int count,
                                          const unsigned char *blocks,
                                          size_t stride);

/* Add another record to one: the greatest, and all flags. */
void aps_record_merge(struct aps_scale_record *record,
                      const struct aps_scale_record *other);

/* Slice i of `parts` of n elements: bounds at multiples of `granule` elements,
 * which is the wire's (aps_codec_granule). */
struct aps_slice {
    size_t begin;
    size_t length;
};
struct aps_slice aps_slice_of(size_t n, size_t granule, int parts, int i);

/* The longest slice. */
size_t aps_slice_longest(size_t n, size_t granule, int parts);

#endif

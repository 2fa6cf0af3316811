/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ops table of codecs: encode and decode between float arrays and densely
 * packed wire bytes, with the scale applied at the same time. A family of
 * formats (table.h) fills the table; codec.h chooses the variant.
 *
 * Value i of a message block occupies the bits [i*width, (i+1)*width) of the
 * wire, least significant bit first within a byte. A message block starts at a
 * byte and its last byte is filled up with zero bits. All CPU variants give
 * identical bits. A format in blocks has the layout of aps.h
 * (aps_format_block): x[0] begins a block, there are no markers, and the
 * scaling is ignored, because blocks scale themselves.
 *
 * The arithmetic assumes the default floating point environment (round to
 * nearest, no flush to zero), which aps_fpenv_enter (base/fpenv.h) sets.
 */
#ifndef APS_KERNEL_OPS_H
#define APS_KERNEL_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/element.h"
#include "number/format.h"

/* Scaling of a block: x is multiplied by factor * 2^exponent before the cast,
 * and a decoded value by its inverse. Powers of two (factor 1) are exact: only
 * the cast rounds the product, once, whatever the exponent, even if x *
 * 2^exponent is not a float. */
struct aps_scaling {
    int exponent; /* -400 ... 400 */
    float factor; /* in [1, 2); 1 for every scale except `fixed` */
    bool bounded; /* all x are finite, and none is beyond the largest finite
                     value once it is scaled: a hint with which encode gives the
                     same bytes sooner */
};

/*
 * The marker in the block header, which encode reports and decode needs. Set if
 * M = 0 and there is a NaN; then INF codes stand for INF or NaN. Set if the
 * format saturates and there is an INF or a NaN; then codes of the largest
 * finite value stand for that value, for INF, or for NaN if it has no code of
 * its own. No INF or NaN is ever decoded as finite; some large values of such a
 * block are decoded as NaN.
 */
#define APS_BLOCK_NAN                                                          \
    1u /* holds values that the format has no code for: the                    \
          codes of the largest magnitude decode to NaN */

/* For decode to host memory (codec/memory.h): the values are written with
 * streaming stores (codec/stream.h). Codecs themselves ignore it. */
#define APS_DECODE_STREAM 2u

/* Counts of the values of a block, by the effect of the encoding. */
struct aps_encode_stats {
    uint64_t underflow; /* finite and not 0, encoded as 0 */
    uint64_t overflow;  /* finite, rounded beyond the largest finite value:
                           encoded as INF, NaN or, saturating, that value */
    uint64_t nonfinite; /* INF and NaN in the input */
};

static inline void aps_encode_stats_add(struct aps_encode_stats *sum,
                                        const struct aps_encode_stats *more)
{
    sum->underflow += more->underflow;
    sum->overflow += more->overflow;
    sum->nonfinite += more->nonfinite;
}

/* Result of a search for exponents in an array: the greatest finite magnitude
 * (0 for none), and whether all of the array is known to be finite. */
struct aps_magnitude {
    float max;
    bool finite;
};

/* One summand: an array of codes, with the arguments of decode. */
struct aps_summand {
    const void *wire;
    struct aps_scaling scaling;
    unsigned flags;
};

/* The arrays of values of a wide format (struct aps_format) are of doubles, although
 * their type here is float. Its codec (float/wide.h) does not have all functions. */
struct aps_codec {
    struct aps_format format;
    const char *cpu; /* variant: "avx512", "avx2" or "plain" */

    /* Encodes x[n] to aps_codec_bytes(n) bytes. Returns the block's marker
     * flags. x and wire have any alignment and do not overlap. `options` NULL
     * is round to nearest. With CPD, or with a factor, the product is rounded
     * to float before the cast. */
    unsigned (*encode)(const struct aps_codec *codec, const float *x, size_t n,
                       struct aps_scaling scaling,
                       const struct aps_cast_options *options, void *wire);

    /* Writes the bytes of encode; adds to *stats. */
    unsigned (*encode_stats)(const struct aps_codec *codec, const float *x,
                             size_t n, struct aps_scaling scaling,
                             const struct aps_cast_options *options, void *wire,
                             struct aps_encode_stats *stats);

    /* Decodes the wire to x[n]. */
    void (*decode)(const struct aps_codec *codec, const void *wire, size_t n,
                   struct aps_scaling scaling, unsigned flags, float *x);

    /* sum[i] += decoded value i: one FP32 addition for each element. */
    void (*decode_add)(const struct aps_codec *codec, const void *wire,
                       size_t n, struct aps_scaling scaling, unsigned flags,
                       float *sum);

    /*
     * sum[n] = the sum of `count` >= 2 summands in their order, with the bits
     * of decode and decode_add; also finds its magnitude. Returns false, with
     * any values in sum, if this codec cannot do that in one pass, at least
     * with these scalings or with codes of values that are not finite. May be
     * NULL: it never can.
     */
    bool (*sum)(const struct aps_codec *codec,
                const struct aps_summand *summands, int count, size_t n,
                float *sum, struct aps_magnitude *magnitude);

    /*
     * Encodes the sum to nearest without storing the sum; the wire is not a
     * summand's. The bytes are those of encode, without a marker, if no sum
     * proves to be beyond the format. x[n], unless NULL, gets the values that
     * decode makes of the wire; if `stream`, by streaming stores, and x begins
     * with a cache line. *max is the greatest magnitude. Returns false like
     * `sum`, and if a sum is not finite; then the bytes at the wire and in x
     * have any value.
     */
    bool (*sum_encode)(const struct aps_codec *codec,
                       const struct aps_summand *summands, int count, size_t n,
                       struct aps_scaling scaling, void *wire, float *x,
                       bool stream, float *max);

    /* Decodes with streaming stores (stream.h) to an x that begins with a cache
     * line. Returns false, and writes nothing, if this codec cannot do that by
     * itself, at least with this scaling. May be NULL: it never can. */
    bool (*stream)(const struct aps_codec *codec, const void *wire, size_t n,
                   struct aps_scaling scaling, unsigned flags, float *x);

    /* Encodes elements of 16 bits to nearest, without statistics, in tiles of
     * kernel/tile.h, up to the first tile that has an INF or a NaN. Returns the
     * number of elements that are encoded; 0 if this codec cannot do that by
     * itself. May be NULL: it never can. */
    size_t (*encode_elements)(const struct aps_codec *codec,
                              enum aps_element element, const void *x, size_t n,
                              struct aps_scaling scaling, void *wire);

    /* Decodes to elements of 16 bits, rounded once from FP32. Returns false, and
     * writes nothing, if this codec cannot do that by itself. May be NULL: it
     * never can. */
    bool (*decode_elements)(const struct aps_codec *codec, const void *wire,
                            size_t n, struct aps_scaling scaling,
                            unsigned flags, enum aps_element element, void *x);

    /* y[n] = the decoded values of the encoded x[n], exactly; y may be x. NULL
     * if any chunks can be encoded and decoded one after the other. Formats in
     * blocks have it. */
    void (*cast)(const struct aps_codec *codec, const float *x, size_t n,
                 const struct aps_cast_options *options, float *y);

    /* sum[i] = cast(sum[i] * s) / s: rounds a partial sum to the format
     * (accumulate: format). */
    void (*round)(const struct aps_codec *codec, size_t n,
                  struct aps_scaling scaling, float *sum);
};

/* Returns the bytes of n packed values: aps_packed_bytes of the format. */
size_t aps_codec_bytes(const struct aps_codec *codec, size_t n);

/* Packed values may be cut at multiples of the granule without changing a byte:
 * these are whole bytes, whole blocks of a format in blocks, and whole cache
 * lines of FP32. The granule is APS_CODEC_GRANULE values if the format is not
 * in blocks. */
#define APS_CODEC_GRANULE APS_FORMAT_LINE
size_t aps_codec_granule(const struct aps_codec *codec);

/* Returns the most values that fit into `bytes` bytes, a multiple of the
 * granule, but at most aps_codec_elements_max; 0 if not even one granule
 * fits. */
size_t aps_codec_elements(const struct aps_codec *codec, size_t bytes);

/* Like aps_codec_elements, for values that are not encoded (FP32, or doubles of a wide
 * format) and are cut at the codec's granules, and for a format of two bits. */
size_t aps_codec_elements_fp32(const struct aps_codec *codec, size_t bytes);
size_t aps_codec_elements_max(size_t bytes);

#endif

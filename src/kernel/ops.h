/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ops table of codecs: encode and decode between float arrays and densely
 * packed wire bytes, with the scale applied on the way. A family of formats
 * (table.h) fills the table; codec.h chooses the variant.
 *
 * Value i of a message block occupies the bits [i*width, (i+1)*width) of the
 * wire, least significant bit first within a byte. A message block starts at a
 * byte and its last byte is filled up with zero bits. All CPU variants give
 * identical bits. Where the format is in blocks itself, aps.h says how they lie
 * (aps_format_block): x[0] begins one, there are no markers, and blocks scale
 * themselves: the scaling is ignored.
 *
 * The arithmetic assumes the default floating point environment (round to
 * nearest, no flush to zero): aps_fpenv_enter (base/fpenv.h) sees to it.
 */
#ifndef APS_KERNEL_OPS_H
#define APS_KERNEL_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "number/format.h"

/*
 * How a block is scaled: x is multiplied by factor * 2^exponent before the
 * cast, and a decoded value by its inverse. Powers of two (factor 1) are exact:
 * the product is rounded only once, by the cast, whatever the exponent, also
 * where x * 2^exponent is not a float.
 */
struct aps_scaling {
    int exponent; /* -400 ... 400 */
    float factor; /* in [1, 2); 1 for every scale but `fixed` */
    bool bounded; /* the caller knows that all x are finite, and none is beyond
                     the largest finite value once it is scaled: a hint for
                     encode, which gives the same bytes sooner */
};

/*
 * What encode reports of a block and decode has to know: the marker in the
 * block header. Set if M = 0 and there is a NaN; then INF codes stand for INF
 * or NaN. Set if the format saturates and there is an INF or a NaN; then codes
 * of the largest finite value stand for that, for INF, or for NaN if it has no
 * code of its own. No INF or NaN ever comes out finite; some large values of
 * such a block come out as NaN with them.
 */
#define APS_BLOCK_NAN                                                          \
    1u /* holds values that the format has no code for: the                    \
          codes of the largest magnitude decode to NaN */

/* For decode of the host's memory (codec/memory.h): what is decoded passes the
 * caches (codec/stream.h). Codecs themselves ignore it. */
#define APS_DECODE_STREAM 2u

/* What became of the values of a block. */
struct aps_encode_stats {
    uint64_t underflow; /* finite and not 0, encoded as 0 */
    uint64_t overflow;  /* finite, rounded beyond the largest finite value:
                           encoded as INF, NaN or, saturating, that value */
    uint64_t nonfinite; /* INF and NaN to begin with */
};

static inline void aps_encode_stats_add(struct aps_encode_stats *sum,
                                        const struct aps_encode_stats *more)
{
    sum->underflow += more->underflow;
    sum->overflow += more->overflow;
    sum->nonfinite += more->nonfinite;
}

/* What a search for exponents needs to know of an array: the greatest finite
 * magnitude (0 for none), and whether all of the array is known to be finite. */
struct aps_magnitude {
    float max;
    bool finite;
};

/* An array of codes that goes into a sum: what decode asks for. */
struct aps_summand {
    const void *wire;
    struct aps_scaling scaling;
    unsigned flags;
};

struct aps_codec {
    struct aps_format format;
    const char *cpu; /* "avx512", "avx2" or "plain": the variant chosen */

    /* x[n] -> aps_codec_bytes(n) bytes. Returns the block's marker flags. x
     * and wire have any alignment and do not overlap. `options` NULL is round
     * to nearest; with CPD, or with a factor, it is the product rounded to
     * float that is cast. */
    unsigned (*encode)(const struct aps_codec *codec, const float *x, size_t n,
                       struct aps_scaling scaling,
                       const struct aps_cast_options *options, void *wire);

    /* The same bytes as encode's; adds to *stats. */
    unsigned (*encode_stats)(const struct aps_codec *codec, const float *x,
                             size_t n, struct aps_scaling scaling,
                             const struct aps_cast_options *options, void *wire,
                             struct aps_encode_stats *stats);

    /* wire -> x[n]. */
    void (*decode)(const struct aps_codec *codec, const void *wire, size_t n,
                   struct aps_scaling scaling, unsigned flags, float *x);

    /* sum[i] += decoded value i: one FP32 addition an element. */
    void (*decode_add)(const struct aps_codec *codec, const void *wire,
                       size_t n, struct aps_scaling scaling, unsigned flags,
                       float *sum);

    /* sum[n] = the sum of `count` >= 2 summands in their order, by decode and
     * decode_add; and its magnitude. False, with any values in sum, where this codec
     * does not do that in one go, at least with these scalings or with codes of values
     * that are not finite. NULL: it never does. */
    bool (*sum)(const struct aps_codec *codec,
                const struct aps_summand *summands, int count, size_t n,
                float *sum, struct aps_magnitude *magnitude);

    /* Encodes the sum to nearest, which is left nowhere; wire is none of the summands'.
     * The bytes are encode's, without a marker, if no sum proves to be beyond the
     * format, else they have any value. x[n], unless NULL, is what decode makes of the
     * wire; if `stream`, past the caches, and x begins with a cache line. Also false
     * where a sum is not finite; where it is false, the bytes at the wire and in x have
     * any value. *max is the greatest magnitude. */
    bool (*sum_encode)(const struct aps_codec *codec,
                       const struct aps_summand *summands, int count, size_t n,
                       struct aps_scaling scaling, void *wire, float *x,
                       bool stream, float *max);

    /* As decode, past the caches (stream.h), to an x that begins with a cache line.
     * False, and nothing is written, where this codec does not do that by itself, at
     * least with this scaling. NULL: it never does. */
    bool (*stream)(const struct aps_codec *codec, const void *wire, size_t n,
                   struct aps_scaling scaling, unsigned flags, float *x);

    /* y[n] = what is decoded of x[n] encoded, exactly; y may be x. NULL where
     * any chunks can be encoded and decoded one after the other. Formats in
     * blocks have it. */
    void (*cast)(const struct aps_codec *codec, const float *x, size_t n,
                 const struct aps_cast_options *options, float *y);

    /* sum[i] = cast(sum[i] * s) / s: the partial sum rounded to the format, for
     * sums that are kept in it (accumulate: format). */
    void (*round)(const struct aps_codec *codec, size_t n,
                  struct aps_scaling scaling, float *sum);
};

/* Bytes of n packed values: aps_packed_bytes of the format. */
size_t aps_codec_bytes(const struct aps_codec *codec, size_t n);

/*
 * Where packed values may be cut, so that each piece is what it would be in the
 * whole: at multiples of the granule, which are whole bytes, whole blocks of a
 * format in blocks, and whole cache lines of FP32. APS_CODEC_GRANULE values
 * where the format is not in blocks.
 */
#define APS_CODEC_GRANULE APS_FORMAT_LINE
size_t aps_codec_granule(const struct aps_codec *codec);

/* The most values that fit into so many bytes, a multiple of the granule, but
 * not more than aps_codec_elements_max; 0 where not even one granule fits. */
size_t aps_codec_elements(const struct aps_codec *codec, size_t bytes);

/* The same of FP32 values that are cut where the codec's are, and of a format of
 * two bits. */
size_t aps_codec_elements_fp32(const struct aps_codec *codec, size_t bytes);
size_t aps_codec_elements_max(size_t bytes);

#endif

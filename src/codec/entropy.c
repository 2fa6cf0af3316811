/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "codec/entropy.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/size_min.h"

/* Values that are encoded at a time; rounded to a multiple of the granule. */
#define CHUNK ((size_t)16384)

double aps_entropy_of(const size_t *counts, size_t codes, size_t n)
{
    double entropy = 0;

    for (size_t i = 0; i < codes; i++) {
        const double p = (double)counts[i] / (double)n;

        if (counts[i] > 0)
            entropy -= p * log2(p);
    }
    return entropy;
}

/* Counts n codes of `width` bits, from bit 0 of `bytes` on. */
static void count_codes(const unsigned char *bytes, size_t n, unsigned width,
                        size_t *counts)
{
    const uint64_t mask = ((uint64_t)1 << width) - 1;
    uint64_t word = 0;
    unsigned held = 0;

    for (size_t i = 0; i < n; i++) {
        while (held < width) {
            word |= (uint64_t)*bytes++ << held;
            held += 8;
        }
        counts[word & mask]++;
        word >>= width;
        held -= width;
    }
}

/* Counts the codes of a piece of n values, in which the scale of a block
 * precedes its codes. */
static void count_piece(const struct aps_format *format,
                        const unsigned char *wire, size_t n, size_t *counts)
{
    const size_t block = format->block > 1 ? (size_t)format->block : n;
    const unsigned width = (unsigned)format->width;

    wire += format->piece_bytes;
    for (size_t i = 0; i < n; i += block) {
        const size_t length = aps_size_min(n - i, block);

        wire += format->scale_bytes;
        count_codes(wire, length, width, counts);
        wire += (length * width + 7) / 8;
    }
}

double aps_codes_entropy(const struct aps_codec *codec, const float *x,
                         size_t n, struct aps_scaling scaling,
                         const struct aps_cast_options *options)
{
    struct aps_cast_options here =
        options ? *options : (struct aps_cast_options)APS_CAST_OPTIONS_INIT;
    const struct aps_format *format = &codec->format;
    const size_t codes = (size_t)1 << (format->width & 31);
    const size_t granule = aps_codec_granule(codec);
    /* The scale of a whole piece depends on all values. */
    const size_t chunk =
        format->piece_bytes > 0 ? n : CHUNK / granule * granule;
    double entropy = NAN;
    unsigned char *wire;
    size_t *counts;

    if (n == 0 || format->width > APS_ENTROPY_WIDTH)
        return NAN;
    wire = malloc(aps_codec_bytes(codec, chunk) + 64);
    counts = calloc(codes, sizeof *counts);
    if (wire && counts) {
        for (size_t i = 0; i < n; i += chunk) {
            const size_t length = aps_size_min(n - i, chunk);

            codec->encode(codec, x + i, length, scaling, &here, wire);
            count_piece(format, wire, length, counts);
            here.offset += length;
        }
        entropy = aps_entropy_of(counts, codes, n);
    }
    free(counts);
    free(wire);
    return entropy;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Philox4x32-10, a counter-based random number generator: four words of random
 * bits are a function of a counter and a key, without any state. Salmon,
 * Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3 (SC'11).
 */
#ifndef APS_NUMBER_PHILOX_H
#define APS_NUMBER_PHILOX_H

#include <stdint.h>

#include "aps.h"
#include "number/bits.h"

/* word[4]: the counter on entry, the random bits on return. */
APS_INLINE void aps_philox(uint64_t key, uint32_t *word)
{
    uint32_t key0 = (uint32_t)key, key1 = (uint32_t)(key >> 32);
    uint32_t a = word[0], b = word[1], c = word[2], d = word[3];

    for (int round = 0; round < 10; round++) {
        uint64_t first = (uint64_t)a * 0xd2511f53u;
        uint64_t second = (uint64_t)c * 0xcd9e8d57u;

        a = (uint32_t)(second >> 32) ^ b ^ key0;
        b = (uint32_t)second;
        c = (uint32_t)(first >> 32) ^ d ^ key1;
        d = (uint32_t)first;
        key0 += 0x9e3779b9u; /* golden ratio */
        key1 += 0xbb67ae85u; /* sqrt(3) - 1 */
    }
    word[0] = a;
    word[1] = b;
    word[2] = c;
    word[3] = d;
}

/* One stream of random bits, selected by aps_cast_options without the element.
 * aps.h has the derivation, on which programs may rely. */
struct aps_stream {
    uint64_t key;
    uint32_t layer;
    uint32_t step;
};

/* A bijection of 64-bit words in which every bit of z changes half of the
 * result's: one step of SplitMix64 (Steele, Lea, Flood: Fast Splittable
 * Pseudorandom Number Generators, OOPSLA'14). */
APS_INLINE uint64_t aps_stream_mix(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

APS_INLINE struct aps_stream
aps_stream_init(const struct aps_cast_options *options)
{
    uint64_t place = (uint64_t)options->stage << 32 | options->rank;
    struct aps_stream stream;

    stream.key = aps_stream_mix(aps_stream_mix(options->seed) ^ place);
    stream.layer = options->layer;
    stream.step = options->step;
    return stream;
}

/* word[4]: the random bits of the elements 4*group ... 4*group + 3. */
APS_INLINE void aps_stream_group(const struct aps_stream *stream,
                                 uint64_t group, uint32_t *word)
{
    word[0] = (uint32_t)group;
    word[1] = (uint32_t)(group >> 32);
    word[2] = stream->layer;
    word[3] = stream->step;
    aps_philox(stream->key, word);
}

/* The random bits of one element. */
APS_INLINE uint32_t aps_stream_element(const struct aps_stream *stream,
                                       uint64_t element)
{
    uint32_t word[4];

    aps_stream_group(stream, element / 4, word);
    /* not word[element % 4]: a GPU's registers have no index */
    return element & 2 ? (element & 1 ? word[3] : word[2])
                       : (element & 1 ? word[1] : word[0]);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Draws the random bits that round an element. They are those of one stream. If
 * the values of several ranks are to be added, the bits may be correlated between
 * the ranks, so that errors cancel in the sum. (Suresh, Sun, Ro, Yu: Correlated
 * Quantization for Distributed Mean Estimation and Optimization, ICML 2022.)
 * aps.h has the definition, on which programs may rely.
 *
 * The interval of all 32-bit numbers is cut into as many parts as there are
 * ranks. In every element each rank draws from another part: its index is the
 * rank's place in a permutation, which is drawn once for a layer and a step,
 * and rotated by a number that is drawn for the element. A rotation alone would
 * leave neighbouring ranks in neighbouring parts: their errors would add if
 * only those two ranks have values to round. With both, the parts of two ranks
 * are any two different ones with equal probability, so that no two errors are
 * positively correlated, whatever the values.
 */
#ifndef APS_NUMBER_DRAW_H
#define APS_NUMBER_DRAW_H

#include "aps.h"
#include "number/bits.h"
#include "number/philox.h"

/* The most ranks: less than 2^19, so that aps_draw_within is exact. */
#define APS_DRAW_RANKS (1 << 18)

/* The permutation uses the bits of the elements from 2^64 on. */
#define APS_DRAW_PERMUTATION ((uint64_t)1 << 62) /* a group of four */

struct aps_draw {
    struct aps_stream own;
    bool correlated;
    /* Members of correlated bits. */
    struct aps_stream shared; /* the same on all ranks */
    uint32_t ranks;
    uint32_t place; /* place of this rank in the permutation */
    double share;   /* 1 / ranks */
};

/* Returns floor(random * n / 2^32), which is less than n. */
APS_INLINE uint32_t aps_draw_below(uint32_t random, uint32_t n)
{
    return (uint32_t)((uint64_t)random * n >> 32);
}

/* Returns the place of a rank after a shuffle of 0 ... ranks - 1 (Fisher,
 * Yates): from the last place down, each place is exchanged with one drawn from
 * those up to it. Takes time in proportion to `ranks`, and no memory. */
APS_INLINE uint32_t aps_draw_place(const struct aps_stream *shared,
                                   uint32_t rank, uint32_t ranks)
{
    uint32_t place = rank;
    uint32_t word[4];

    aps_stream_group(shared, APS_DRAW_PERMUTATION + (ranks - 1) / 4, word);
    for (uint32_t k = ranks - 1; k > 0; k--) {
        uint32_t other = aps_draw_below(word[k % 4], k + 1);

        place = place == k ? other : place == other ? k : place;
        if (k % 4 == 0)
            aps_stream_group(shared, APS_DRAW_PERMUTATION + k / 4 - 1, word);
    }
    return place;
}

/* For the host; cheap for few ranks only. Correlated if the options select it
 * and there are several ranks. */
APS_INLINE struct aps_draw aps_draw_init(const struct aps_cast_options *options)
{
    struct aps_cast_options all = *options;
    struct aps_draw draw = {};

    draw.own = aps_stream_init(options);
    draw.correlated =
        options->rounding == APS_ROUND_CORRELATED && options->ranks > 1;
    if (draw.correlated) {
        all.rank = APS_RANK_ALL;
        draw.shared = aps_stream_init(&all);
        draw.ranks = (uint32_t)options->ranks;
        draw.place = aps_draw_place(&draw.shared, options->rank, draw.ranks);
        draw.share = 1.0 / draw.ranks;
    }
    return draw;
}

/* Returns the index of this rank's part of the 32-bit numbers, from the bits
 * that all ranks draw for the element. */
APS_INLINE uint32_t aps_draw_part(const struct aps_draw *draw, uint32_t shared)
{
    uint32_t turned = draw->place + aps_draw_below(shared, draw->ranks);

    return turned < draw->ranks ? turned : turned - draw->ranks;
}

/*
 * Returns the bits of a rank in its part: floor((part * 2^32 + own) / ranks).
 * The quotient is exact: with the 0.5 it is never closer to an integer than
 * 2^-19, and two roundings of a number below 2^32 have an error of less than
 * 2^-20. Adding 1.5 * 2^52 extracts the integer, because not every vector unit
 * can convert to unsigned integers.
 */
APS_INLINE uint32_t aps_draw_within(const struct aps_draw *draw, uint32_t part,
                                    uint32_t own)
{
    double low = (double)(int32_t)(own ^ 0x80000000u) + 2147483648.5;
    double numerator = (double)(int32_t)part * 4294967296.0 + low;
    union {
        double value;
        uint64_t bits;
    } floored;

    floored.value = (numerator * draw->share - 0.5) + 6755399441055744.0;
    return (uint32_t)floored.bits;
}

/* Returns the bits of one element. */
APS_INLINE uint32_t aps_draw_element(const struct aps_draw *draw,
                                     uint64_t element)
{
    uint32_t bits = 0, part = 0;

/* one after the other: a GPU has too few registers for both */
#if defined(__CUDACC__)
#pragma unroll 1
#endif
    for (int own = !draw->correlated; own < 2; own++) {
        struct aps_stream stream = draw->own;

        stream.key = own ? draw->own.key : draw->shared.key;
        bits = aps_stream_element(&stream, element);
        if (!own)
            part = aps_draw_part(draw, bits);
    }
    return draw->correlated ? aps_draw_within(draw, part, bits) : bits;
}

#endif

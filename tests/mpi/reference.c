/* SPDX-License-Identifier: BSD-3-Clause */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rounding.h"

#define SLICE_UNIT 64

/* --- parts of vectors ---------------------------------------------------- */

static size_t slice_begin(size_t n, int parts, int i)
{
    size_t units = (n + SLICE_UNIT - 1) / SLICE_UNIT;
    size_t begin = 0;

    for (int k = 0; k < i; k++)
        begin += units / (size_t)parts + ((size_t)k < units % (size_t)parts);
    return begin * SLICE_UNIT < n ? begin * SLICE_UNIT : n;
}

static size_t slice_length(size_t n, int parts, int i)
{
    return slice_begin(n, parts, i + 1) - slice_begin(n, parts, i);
}

static size_t chunk_length(size_t n, size_t begin, size_t chunk)
{
    return n - begin < chunk ? n - begin : chunk;
}

/* Sets part[count] to the vectors x[count] from `begin` on. */
static void part_of(int count, const float *const x[], size_t begin,
                    const float *part[])
{
    for (int i = 0; i < count; i++)
        part[i] = x[i] + begin;
}

/* Sets members[] to the inputs of group g, and returns their number. */
static int members_of(const struct groups *groups, int g, float *const in[],
                      const float *members[])
{
    for (int i = 0; i < groups->sizes[g]; i++)
        members[i] = in[groups->members[g][i]];
    return groups->sizes[g];
}

static float *new_floats(size_t n)
{
    float *x = malloc(n * sizeof *x + 1);

    if (!x)
        abort();
    return x;
}

/* --- direct -------------------------------------------------------------- */

/* For every slice: the owner sums it, and sends the result once to all. */
static void exchange(const struct way *way, int exponent, int ranks,
                     const float *const in[], size_t n, float *out)
{
    for (int i = 0; i < ranks; i++) {
        size_t begin = slice_begin(n, ranks, i);
        size_t length = slice_length(n, ranks, i);
        const float *slices[RANKS_MAX];
        float *sum = new_floats(length);

        part_of(ranks, in, begin, slices);
        sum_blocks(way, exponent, ranks, slices, length, sum);
        send_block(way, exponent, length, sum, out + begin);
        free(sum);
    }
}

static void reduce_direct(const struct way *way, int ranks, size_t n,
                          const float *const in[], float *out)
{
    const size_t chunk = way_chunk(way, ranks);
    const int exponent = stage_exponent(way, ranks, in, n);

    for (size_t begin = 0; begin < n; begin += chunk) {
        const float *chunks[RANKS_MAX];

        part_of(ranks, in, begin, chunks);
        exchange(way, exponent, ranks, chunks, chunk_length(n, begin, chunk),
                 out + begin);
    }
}

/* --- hierarchical -------------------------------------------------------- */

/* Sums a group to sum[n], from element `begin` on. */
static void sum_group(const struct way *way, int exponent, int count,
                      const float *const members[], size_t begin, size_t n,
                      float *sum)
{
    const float *slices[RANKS_MAX];

    part_of(count, members, begin, slices);
    if (!way->node_fp32) {
        sum_blocks(way, exponent, count, slices, n, sum);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        sum[i] = slices[0][i];
        for (int k = 1; k < count; k++)
            sum[i] += slices[k][i];
    }
}

/* Reduces the slice of an owner in a chunk: `n` elements from `begin` on. */
static void reduce_slice(const struct way *way, const struct groups *groups,
                         const int exponents[], float *const in[], size_t begin,
                         size_t n, float *out)
{
    float *sums[RANKS_MAX];
    const float *const *const read_sums = (const float *const *)sums;

    for (int g = 0; g < groups->count; g++) {
        const float *members[RANKS_MAX];
        int count = members_of(groups, g, in, members);

        sums[g] = new_floats(n);
        sum_group(way, exponents[g], count, members, begin, n, sums[g]);
    }
    if (groups->count > 1)
        exchange(way, stage_exponent(way, groups->count, read_sums, n),
                 groups->count, read_sums, n, out + begin);
    else if (way->node_fp32)
        memcpy(out + begin, sums[0], n * sizeof *out);
    else
        send_block(way, exponents[0], n, sums[0], out + begin);
    for (int g = 0; g < groups->count; g++)
        free(sums[g]);
}

/* Computes the exponents of the groups, of the whole layer. */
static void group_exponents(const struct way *way, const struct groups *groups,
                            float *const in[], size_t n, int exponents[])
{
    for (int g = 0; g < groups->count; g++) {
        const float *members[RANKS_MAX];
        int count = members_of(groups, g, in, members);

        exponents[g] = stage_exponent(way, count, members, n);
    }
}

static void reduce_hierarchical(const struct way *way, int ranks, size_t n,
                                float *const in[], float *out)
{
    const size_t chunk = way_chunk(way, ranks);
    struct groups groups;
    int exponents[RANKS_MAX];

    way_groups(way, ranks, &groups);
    if (groups.count == ranks) {
        reduce_direct(way, ranks, n, (const float *const *)in, out);
        return;
    }
    group_exponents(way, &groups, in, n, exponents);
    for (size_t begin = 0; begin < n; begin += chunk) {
        size_t length = chunk_length(n, begin, chunk);

        for (int owner = 0; owner < groups.smallest; owner++)
            reduce_slice(way, &groups, exponents, in,
                         begin + slice_begin(length, groups.smallest, owner),
                         slice_length(length, groups.smallest, owner), out);
    }
}

/* --- ring ---------------------------------------------------------------- */

/*
 * Moves one slice round the ring: x[count][n] in the order in which it meets them. The
 * owner's sum is sent to all as a block; partial sums before it are in the format.
 */
static void travel(const struct way *way, int exponent, int count,
                   const float *const x[], size_t n, float *out)
{
    const bool cast_each = way->accumulate == ACCUMULATE_FORMAT;
    float *own = new_floats(n);

    for (int k = 0; k < count; k++) {
        if (cast_each)
            send_block(way, exponent, n, x[k], own);
        else
            memcpy(own, x[k], n * sizeof *own);
        if (k == 0)
            memcpy(out, own, n * sizeof *out);
        else
            add_values(way, exponent, n, own, out);
        if (k == count - 1 || (cast_each && k > 0))
            send_block(way, exponent, n, out, out);
    }
    free(own);
}

/* One chunk: slice j starts after its owner j and ends there. */
static void pass_round(const struct way *way, int exponent, int count,
                       const float *const in[], size_t n, float *out)
{
    for (int j = 0; j < count; j++) {
        size_t begin = slice_begin(n, count, j);
        const float *stops[RANKS_MAX];

        for (int k = 0; k < count; k++)
            stops[k] = in[(j + 1 + k) % count] + begin;
        travel(way, exponent, count, stops, slice_length(n, count, j),
               out + begin);
    }
}

static void reduce_ring(const struct way *way, int ranks, size_t n,
                        const float *const in[], float *out)
{
    const size_t chunk = way_chunk(way, ranks);
    const int exponent = stage_exponent(way, ranks, in, n);

    for (size_t begin = 0; begin < n; begin += chunk) {
        const float *chunks[RANKS_MAX];

        part_of(ranks, in, begin, chunks);
        pass_round(way, exponent, ranks, chunks, chunk_length(n, begin, chunk),
                   out + begin);
    }
}

/* --- master -------------------------------------------------------------- */

/* Reduces one chunk, whose elements start at `begin`. */
static void reduce_by_masters(const struct way *way,
                              const struct groups *groups,
                              const int exponents[], float *const in[],
                              size_t begin, size_t n, float *out)
{
    float *sums[RANKS_MAX];
    const float *const *const read_sums = (const float *const *)sums;

    for (int g = 0; g < groups->count; g++) {
        const float *members[RANKS_MAX], *chunks[RANKS_MAX];
        int count = members_of(groups, g, in, members);

        part_of(count, members, begin, chunks);
        sums[g] = new_floats(n);
        /* A rank that is alone in its group sends nothing to its master. */
        if (count == 1 && way->accumulate == ACCUMULATE_FP32)
            memcpy(sums[g], chunks[0], n * sizeof *sums[g]);
        else
            sum_blocks(way, exponents[g], count, chunks, n, sums[g]);
    }
    if (groups->count > 1)
        pass_round(way, stage_exponent(way, groups->count, read_sums, n),
                   groups->count, read_sums, n, out + begin);
    else
        send_block(way, exponents[0], n, sums[0], out + begin);
    for (int g = 0; g < groups->count; g++)
        free(sums[g]);
}

static void reduce_master(const struct way *way, int ranks, size_t n,
                          float *const in[], float *out)
{
    const size_t chunk = way_chunk(way, ranks);
    struct groups groups;
    int exponents[RANKS_MAX];

    way_groups(way, ranks, &groups);
    group_exponents(way, &groups, in, n, exponents);
    for (size_t begin = 0; begin < n; begin += chunk)
        reduce_by_masters(way, &groups, exponents, in, begin,
                          chunk_length(n, begin, chunk), out);
}

/* --- gather -------------------------------------------------------------- */

/* Every rank sums all blocks itself, and sends nothing after that. */
static void reduce_gather(const struct way *way, int ranks, size_t n,
                          const float *const in[], float *out)
{
    const size_t chunk = way_chunk(way, ranks);
    const int exponent = stage_exponent(way, ranks, in, n);

    for (size_t begin = 0; begin < n; begin += chunk) {
        const float *chunks[RANKS_MAX];

        part_of(ranks, in, begin, chunks);
        sum_blocks(way, exponent, ranks, chunks, chunk_length(n, begin, chunk),
                   out + begin);
    }
}

/* --- all of them --------------------------------------------------------- */

void reference_reduce(const struct way *way, int ranks, size_t n,
                      float *const in[], float *out)
{
    const float *const *const read_in = (const float *const *)in;

    switch (way->reduce) {
    case REDUCE_DIRECT:
        reduce_direct(way, ranks, n, read_in, out);
        break;
    case REDUCE_HIERARCHICAL:
        reduce_hierarchical(way, ranks, n, in, out);
        break;
    case REDUCE_RING:
        reduce_ring(way, ranks, n, read_in, out);
        break;
    case REDUCE_MASTER:
        reduce_master(way, ranks, n, in, out);
        break;
    case REDUCE_GATHER:
        reduce_gather(way, ranks, n, read_in, out);
        break;
    }
}

/* Returns the exact sum of element i; `first` is the group whose sum is added first. */
static float exact_sum(const struct groups *groups, int first,
                       float *const in[], size_t i)
{
    float total = 0;

    for (int k = 0; k < groups->count; k++) {
        int g = (first + k) % groups->count;
        float sum = in[groups->members[g][0]][i];

        for (int m = 1; m < groups->sizes[g]; m++)
            sum += in[groups->members[g][m]][i];
        total = k == 0 ? sum : total + sum;
    }
    return total;
}

void reference_exact(const struct way *way, int ranks, size_t n,
                     float *const in[], float *out)
{
    const bool round =
        way->reduce == REDUCE_RING || way->reduce == REDUCE_MASTER;
    const size_t chunk = way_chunk(way, ranks);
    struct groups groups;

    way_groups(way, ranks, &groups);
    for (size_t begin = 0; begin < n; begin += chunk) {
        size_t length = chunk_length(n, begin, chunk);

        for (int j = 0; j < groups.count; j++) {
            size_t from = begin + slice_begin(length, groups.count, j);
            size_t to = from + slice_length(length, groups.count, j);

            for (size_t i = from; i < to; i++)
                out[i] = exact_sum(&groups, round ? j + 1 : 0, in, i);
        }
    }
}

/* In slices, one for each rank except the root; aps has one exponent, of N = 1. */
void reference_bcast(const struct way *way, int ranks, size_t n, const float *x,
                     float *out)
{
    const size_t chunk =
        way_chunk(way, ranks) / (size_t)ranks * (size_t)(ranks - 1);
    const int exponent = stage_exponent(way, 1, &x, n);

    for (size_t begin = 0; begin < n; begin += chunk) {
        const size_t length = chunk_length(n, begin, chunk);

        for (int i = 0; i < ranks - 1; i++) {
            const size_t at = begin + slice_begin(length, ranks - 1, i);

            send_block(way, exponent, slice_length(length, ranks - 1, i),
                       x + at, out + at);
        }
    }
}

bool same_float(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

size_t first_difference(size_t n, const float *a, const float *b)
{
    size_t i = 0;

    while (i < n && same_float(a[i], b[i]))
        i++;
    return i;
}

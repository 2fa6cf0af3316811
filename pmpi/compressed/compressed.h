/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layers that a compressor takes, on a virtual communicator: what travels in
 * place of their values, and in which order.
 */
#ifndef APS_PMPI_COMPRESSED_COMPRESSED_H
#define APS_PMPI_COMPRESSED_COMPRESSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"
#include "cut/exchange.h"
#include "reduce/reduction.h"

/* A layer of a call, in host memory. */
struct aps_compressed {
    const float *in; /* [matrix.count] */
    float *out;      /* the same, or apart */
    struct aps_matrix matrix;
    const float *error; /* [matrix.count]: what calls have left out, which this
                           one adds; NULL: no feedback */
    float *delta;       /* the same, apart, with feedback: room for the sum of
                           the layer and what calls have left out. In the end it
                           holds what is remembered, unless the layer is whole */
    float *kept;     /* so many floats as `kept` of the ops says, zeros at the
                        layer's first call; NULL: none */
    uint64_t calls;  /* of the layer before this one */
    long place;      /* of the layer in its step, or -1 */
    uint64_t number; /* of the vector: what random bits are drawn by */
    float *scratch; /* so many floats as `scratch` says, from a cache line on */
    bool fp32_fallback; /* in the end: it was reduced as it is, in full floats,
                        because something was not finite, and what is remembered
                        stays as it was */
};

/* Of a communicator; the same on all of its ranks. */
struct aps_compressed_ranks {
    int all;
    /* Of ops that are `grouped`: groups, and ranks of the smallest and the largest
     * of them. Otherwise 0. */
    int groups, smallest, largest;
};

struct aps_compressed_env {
    struct aps_reductions *reductions; /* prepared for the plan */
    const struct aps_vcomm *vcomm;     /* theirs */
    /* Of ops that are `grouped`, otherwise NULL: the plan's groups; exchanges inside
     * this rank's group, and with its peers, which is without a communicator where
     * it has none. */
    const struct aps_groups *groups;
    struct aps_exchange *group, *peers;
    const struct aps_plan *plan;   /* whose compressor takes the layers */
    struct aps_exchange *exchange; /* on it, with nothing under way */
    unsigned char
        *messages; /* room for a message of each rank: the `message` of
                                all layers together, times ranks */
};

struct aps_compressed_ops {
    /* Does it need the groups of a plan that reduces by groups? */
    bool grouped;

    /* Floats that a layer keeps, and that a call needs. NULL: none. */
    size_t (*kept)(const struct aps_plan *plan, const struct aps_matrix *matrix,
                   const struct aps_compressed_ranks *ranks);
    size_t (*scratch)(const struct aps_plan *plan,
                      const struct aps_matrix *matrix,
                      const struct aps_compressed_ranks *ranks);

    /* Bytes, at most, of what a rank sends for a layer in messages of the
     * compressor's own, or more where all ranks' have to hold something else as
     * well. NULL: there are none. */
    size_t (*message)(const struct aps_plan *plan,
                      const struct aps_matrix *matrix,
                      const struct aps_compressed_ranks *ranks);

    /* The rule's parameters have changed from `before`: fill `kept`, of zeros, for
     * the plan from what was kept. NULL: the compressor begins anew. */
    void (*carry_on)(const struct aps_compressor *before, const float *was,
                     const struct aps_plan *plan,
                     const struct aps_matrix *matrix, float *kept);

    /* Before the layer goes on by another plan than `before`, under which `kept`
     * holds something of this rank's alone that calls have left out: add it to
     * error[matrix->count]. Then `kept` begins anew, also where only the format
     * has changed. NULL: it holds nothing like that. */
    void (*give_back)(const struct aps_plan *before,
                      const struct aps_matrix *matrix, int ranks, int rank,
                      const float *kept, float *error);

    /* COLLECTIVE over the reductions' communicator. Reduce `count` layers,
     * APS_VECTORS_MAX at most, each to what it would be alone. An MPI error
     * code; then nothing is remembered of the call. */
    int (*run)(const struct aps_compressed_env *site, int count,
               struct aps_compressed layers[], struct aps_cost *cost);
};

/* Floats that a call needs for a layer. */
static inline size_t aps_compressed_scratch(
    const struct aps_compressed_ops *ops, const struct aps_plan *plan,
    const struct aps_matrix *matrix, const struct aps_compressed_ranks *ranks)
{
    return ops->scratch ? ops->scratch(plan, matrix, ranks) : 0;
}

#endif

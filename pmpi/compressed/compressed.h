/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layers of a virtual communicator that a compressor takes: messages that
 * travel in place of their values, and their order.
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
    float *out;      /* [matrix.count]: may equal `in` or be separate */
    struct aps_matrix matrix;
    const float *error; /* [matrix.count]: error memory, which this call adds;
                         * NULL: no feedback */
    float *delta;       /* [matrix.count], separate, with feedback: room for the
                         * sum of the layer and its error memory. After the call
                         * it holds the new error memory, unless the layer fell
                         * back to FP32 */
    float *kept;        /* floats that the layer keeps (`kept` of the ops),
                         * zeros in the layer's first call; NULL: none */
    uint64_t calls;     /* number of earlier calls of the layer */
    long place;         /* index of the layer in its step, or -1 */
    uint64_t number;    /* number of the vector, a key of its random bits */
    float *scratch; /* floats for this call (`scratch` of the ops), aligned to a
                     * cache line */
    bool fp32_fallback; /* output: the layer was reduced in FP32, because
                         * some value was not finite; its error memory is
                         * unchanged */
};

/* Counts of ranks, the same on all ranks of a communicator. */
struct aps_compressed_ranks {
    int all;
    /* Groups, and ranks of the smallest and the largest group, for ops that are
     * `grouped`; otherwise 0. */
    int groups, smallest, largest;
};

struct aps_compressed_env {
    struct aps_reductions *reductions; /* prepared for the plan */
    const struct aps_vcomm *vcomm;     /* communicator of `reductions` */
    /* For ops that are `grouped`, otherwise NULL: the plan's groups; exchanges
     * inside this rank's group and with its peers. The peers' exchange has no
     * communicator if this rank has no peers. */
    const struct aps_groups *groups;
    struct aps_exchange *group, *peers;
    const struct aps_plan *plan;   /* plan whose compressor takes the layers */
    struct aps_exchange *exchange; /* exchange on vcomm, with no message in
                                    * progress */
    unsigned char
        *messages; /* room for a message of each rank: `message` of all layers
                    * together, times ranks */
};

struct aps_compressed_ops {
    /* True if the compressor needs the groups of a plan that reduces by
     * groups. */
    bool grouped;

    /* Returns the floats that a layer keeps, and the floats that a call needs.
     * May be NULL: the layer needs no floats. */
    size_t (*kept)(const struct aps_plan *plan, const struct aps_matrix *matrix,
                   const struct aps_compressed_ranks *ranks);
    size_t (*scratch)(const struct aps_plan *plan,
                      const struct aps_matrix *matrix,
                      const struct aps_compressed_ranks *ranks);

    /* Returns the most bytes that a rank sends for a layer in the compressor's
     * own messages, or more if the messages of all ranks must hold other data.
     * May be NULL: the compressor has no messages of its own. */
    size_t (*message)(const struct aps_plan *plan,
                      const struct aps_matrix *matrix,
                      const struct aps_compressed_ranks *ranks);

    /* Called when the rule's parameters have changed from `before`. Fills
     * `kept`, which is zeros, for the plan from the old kept floats. May be
     * NULL: the compressor starts again from zeros. */
    void (*carry_on)(const struct aps_compressor *before, const float *was,
                     const struct aps_plan *plan,
                     const struct aps_matrix *matrix, float *kept);

    /* Called before the layer changes from the plan `before` to another plan.
     * If `kept` holds residuals of this rank alone, the function adds them to
     * error[matrix->count]. Then `kept` starts again from zeros, even if only
     * the format changes. May be NULL: `kept` holds no such residuals. */
    void (*give_back)(const struct aps_plan *before,
                      const struct aps_matrix *matrix, int ranks, int rank,
                      const float *kept, float *error);

    /* COLLECTIVE over the reductions' communicator. Reduces `count` layers, at
     * most APS_VECTORS_MAX, each to the result that it would have alone.
     * Returns an MPI error code. After an error no error memory has been
     * updated. */
    int (*run)(const struct aps_compressed_env *site, int count,
               struct aps_compressed layers[], struct aps_cost *cost);
};

/* Returns the floats that a call needs for a layer. */
static inline size_t aps_compressed_scratch(
    const struct aps_compressed_ops *ops, const struct aps_plan *plan,
    const struct aps_matrix *matrix, const struct aps_compressed_ranks *ranks)
{
    return ops->scratch ? ops->scratch(plan, matrix, ranks) : 0;
}

#endif

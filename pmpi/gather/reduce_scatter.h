/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce-scatter: every rank owns a share of a vector; encoded contributions go
 * to the owner, which sums them in rank order. One rounding a contribution,
 * none of the sum but those of `accumulate`.
 *
 * It works part by part in two stages, which callers run in a pipeline
 * (pipeline.h), APS_PIPELINE_WIRE_LAG rounds apart: offer, turn.
 */
#ifndef APS_PMPI_GATHER_REDUCE_SCATTER_H
#define APS_PMPI_GATHER_REDUCE_SCATTER_H

#include <stddef.h>

#include "message/vcomm.h"
#include "block/block.h"

/*
 * Who owns what of a vector. Shares are cut into parts, of which round k moves
 * part k of every owner; parts are blocks of their own (block.h).
 */
struct aps_shares {
    int ranks;
    size_t rounds;
    size_t
        longest; /* elements of a part, at most aps_reduce_scatter_elements */

    /* Part k of the owner's share; of no elements where it has no such part. */
    struct aps_slice (*part)(const struct aps_shares *shares, int owner,
                             size_t k);

    /* For `part`: elements of the vector, and where the shares begin and the
     * last one ends ([ranks + 1], not owned); or what bounds are multiples
     * of. */
    size_t n;
    size_t granule;
    const size_t *bounds;
};

struct aps_reduce_scatter; /* opaque: a virtual communicator and scratch */

/* Over `vcomm`, a virtual communicator that is not owned; `granule` is as in
 * pipeline_sizes.h. Local; NULL when out of memory. */
struct aps_reduce_scatter *
aps_reduce_scatter_create(const struct aps_vcomm *vcomm, size_t granule);
void aps_reduce_scatter_destroy(
    struct aps_reduce_scatter *scatter); /* NULL: nothing */

/* Elements of the longest part there is room for. */
size_t aps_reduce_scatter_elements(const struct aps_wire *wire, int ranks);

/* Local, first: the outcome of the call so far (messages.h); and for a stage
 * that fails elsewhere. */
void aps_reduce_scatter_begin(struct aps_reduce_scatter *scatter, int outcome);
void aps_reduce_scatter_fail(struct aps_reduce_scatter *scatter, int rc);

/*
 * COLLECTIVE over vcomm, each, in the order of k: send our contributions to part
 * k of every share, from the vector `in`; sum our own part into sum[], where
 * *sum is scratch until the next turn and *magnitude, unless NULL, that of the
 * sum. The outcome of the call so far: after an error the stages are gone
 * through to the end.
 */
int aps_reduce_scatter_send(struct aps_reduce_scatter *scatter,
                            const struct aps_wire *wire,
                            const struct aps_shares *shares, size_t k,
                            const float *in, int exponent,
                            struct aps_cost *cost);
int aps_reduce_scatter_receive(struct aps_reduce_scatter *scatter,
                               const struct aps_wire *wire,
                               const struct aps_shares *shares, size_t k,
                               const float **sum,
                               struct aps_magnitude *magnitude);

/*
 * COLLECTIVE over vcomm. MPI_Reduce_scatter: in[bounds[ranks]] is
 * summed, and rank i gets [bounds[i], bounds[i + 1]) of it in `out`, which may
 * be `in`. A share is cut into parts of aps_reduce_scatter_elements from its
 * begin on. An MPI error code.
 */
int aps_reduce_scatter_run(struct aps_reduce_scatter *scatter,
                           const struct aps_wire *wire, const float *in,
                           const size_t bounds[], float *out,
                           struct aps_cost *cost);

#endif

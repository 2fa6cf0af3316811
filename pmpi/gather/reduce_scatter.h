/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce-scatter: every rank owns a share of a vector and gets encoded
 * contributions, which it sums in rank order. A contribution is rounded once;
 * the sum is rounded only as `accumulate` demands.
 *
 * It works part by part in two stages, offer and turn. Callers run them in a
 * pipeline (pipeline.h), APS_PIPELINE_WIRE_LAG rounds apart.
 */
#ifndef APS_PMPI_GATHER_REDUCE_SCATTER_H
#define APS_PMPI_GATHER_REDUCE_SCATTER_H

#include <stddef.h>

#include "message/vcomm.h"
#include "block/block.h"

/*
 * Shares of a vector that the ranks own. Shares are cut into parts, each a
 * block of its own (block.h); round k moves part k of every share.
 */
struct aps_shares {
    int ranks;
    size_t rounds;
    size_t longest; /* most elements of a part: aps_reduce_scatter_elements or
                     * fewer */

    /* Returns part k of the owner's share; empty if the share has no such
     * part. */
    struct aps_slice (*part)(const struct aps_shares *shares, int owner,
                             size_t k);

    /* Arguments of `part`: elements of the vector; and either the bounds of the
     * shares ([ranks + 1], not owned) or the granule of the bounds. */
    size_t n;
    size_t granule;
    const size_t *bounds;
};

struct aps_reduce_scatter; /* opaque: a virtual communicator and scratch */

/* Local. Creates a reduce-scatter over `vcomm`, which is not owned. `granule`
 * is as in pipeline_sizes.h. Returns NULL if out of memory. */
struct aps_reduce_scatter *
aps_reduce_scatter_create(const struct aps_vcomm *vcomm, size_t granule);
void aps_reduce_scatter_destroy(
    struct aps_reduce_scatter *scatter); /* NULL is allowed */

/* Returns the most elements of a part that there is room for. */
size_t aps_reduce_scatter_elements(const struct aps_wire *wire, int ranks);

/* Local. aps_reduce_scatter_begin comes first and sets the outcome of the call
 * so far (messages.h). aps_reduce_scatter_fail reports a stage that failed
 * elsewhere. */
void aps_reduce_scatter_begin(struct aps_reduce_scatter *scatter, int outcome);
void aps_reduce_scatter_fail(struct aps_reduce_scatter *scatter, int rc);

/*
 * COLLECTIVE over vcomm. Callers call both functions in the order of k.
 * aps_reduce_scatter_send sends this rank's contributions to part k of every
 * share, from the vector `in`. aps_reduce_scatter_receive sums this rank's own
 * part. *sum is scratch until the next turn; *magnitude, unless NULL, is the
 * magnitude of the sum. Both return the outcome of the call so far. After an
 * error callers still run all stages.
 */
int aps_reduce_scatter_send(struct aps_reduce_scatter *scatter,
                            const struct aps_wire *wire,
                            const struct aps_shares *shares, size_t k,
                            const void *in, int exponent,
                            struct aps_cost *cost);
int aps_reduce_scatter_receive(struct aps_reduce_scatter *scatter,
                               const struct aps_wire *wire,
                               const struct aps_shares *shares, size_t k,
                               const float **sum,
                               struct aps_magnitude *magnitude);

/*
 * COLLECTIVE over vcomm. MPI_Reduce_scatter: sums in[bounds[ranks]]; rank i
 * gets [bounds[i], bounds[i + 1]) of the sum in `out`, which may be `in`. A
 * share is cut into parts of aps_reduce_scatter_elements from its start.
 * Returns an MPI error code.
 */
int aps_reduce_scatter_run(struct aps_reduce_scatter *scatter,
                           const struct aps_wire *wire, const void *in,
                           const size_t bounds[], void *out,
                           struct aps_cost *cost);

#endif

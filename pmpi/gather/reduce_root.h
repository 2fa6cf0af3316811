/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reduction to one rank: slices are summed by their owners as `direct`
 * does, encoded once and sent to the root alone. The root gets the bits that
 * `direct` would give to all.
 */
#ifndef APS_PMPI_GATHER_REDUCE_ROOT_H
#define APS_PMPI_GATHER_REDUCE_ROOT_H

#include <stddef.h>

#include "message/vcomm.h"
#include "block/block.h"
#include "gather/reduce_scatter.h"

struct aps_reduce_root; /* opaque: scratch */

/* Over `vcomm`, a virtual communicator that is not owned; `granule` is as in
 * wire/pipeline_sizes.h. Local; NULL when out of memory. */
struct aps_reduce_root *aps_reduce_root_create(const struct aps_vcomm *vcomm,
                                               size_t granule);
void aps_reduce_root_destroy(
    struct aps_reduce_root *rooted); /* NULL: nothing */

/* COLLECTIVE over vcomm. in[n] of all to out[n] of `root`, which may
 * be the same; the others' `out` is not looked at. An MPI error code. */
int aps_reduce_root_run(struct aps_reduce_root *rooted,
                        const struct aps_wire *wire, int root, const float *in,
                        float *out, size_t n, struct aps_cost *cost);

#endif

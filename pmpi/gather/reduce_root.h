/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduction to one rank: owners sum slices as `direct` does, encode each sum
 * once and send it to the root alone. The root gets the bits that `direct`
 * would give to all ranks.
 */
#ifndef APS_PMPI_GATHER_REDUCE_ROOT_H
#define APS_PMPI_GATHER_REDUCE_ROOT_H

#include <stddef.h>

#include "message/vcomm.h"
#include "block/block.h"
#include "gather/reduce_scatter.h"

struct aps_reduce_root; /* opaque: scratch */

/* Local. Creates a reduction over `vcomm`, which is not owned. `granule` is as
 * in wire/pipeline_sizes.h. Returns NULL if out of memory. */
struct aps_reduce_root *aps_reduce_root_create(const struct aps_vcomm *vcomm,
                                               size_t granule);
void aps_reduce_root_destroy(
    struct aps_reduce_root *rooted); /* NULL is allowed */

/* COLLECTIVE over vcomm. Sums in[n] of all ranks in out[n] of `root`; `out` may
 * be `in`. Other ranks do not use `out`. Returns an MPI error code. */
int aps_reduce_root_run(struct aps_reduce_root *rooted,
                        const struct aps_wire *wire, int root, const void *in,
                        void *out, size_t n, struct aps_cost *cost);

#endif

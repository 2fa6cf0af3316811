/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reduction `master`, the hierarchical all-reduce of the APS paper. The
 * members of a group send their encoded values to its master, which sums them
 * in rank order. The masters sum by the ring (ring.h). Every master passes the
 * encoded result on to its members. The paper's arithmetic is accumulate:
 * format with scale: aps; N is first the ranks of the group, then the number of
 * groups.
 */
#ifndef APS_PMPI_REDUCE_MASTER_H
#define APS_PMPI_REDUCE_MASTER_H

#include <stddef.h>

#include "reduce/algorithm.h"
#include "block/block.h"
#include "group/topology.h"

struct aps_master; /* opaque: groups and scratch */

/*
 * COLLECTIVE over vcomm, which is not owned and outlives the object. `granule`
 * is as in pipeline_sizes.h. Returns as aps_algorithm_create_fn.
 */
int aps_master_create(const struct aps_vcomm *vcomm,
                      const struct aps_grouping *grouping, size_t granule,
                      struct aps_master **master, char *cause, size_t size);
void aps_master_destroy(struct aps_master *master); /* local; NULL is allowed */

/* COLLECTIVE over vcomm. Runs the reduction as `run` in algorithm.h. */
int aps_master_run(struct aps_master *master, const struct aps_wire *wire,
                   int count, struct aps_vector vectors[],
                   struct aps_cost *cost);

/* `reduce: master`. */
aps_algorithm_create_fn aps_master_algorithm;

#endif

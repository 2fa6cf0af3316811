/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hierarchical reduction. Inside a group, ranks use shared memory and every
 * rank sums its slice. Across groups every rank runs `direct` on its slice. The
 * results return through shared memory. If every group is a single rank, the
 * reduction is `direct`. Ranks with vectors in GPU memory share GPU memory if
 * they can.
 */
#ifndef APS_PMPI_REDUCE_HIERARCHICAL_H
#define APS_PMPI_REDUCE_HIERARCHICAL_H

#include <stdbool.h>
#include <stddef.h>

#include "reduce/algorithm.h"
#include "block/block.h"
#include "device/device.h"
#include "group/topology.h"

struct aps_hierarchical; /* opaque: groups, shared memory, peers */

/* COLLECTIVE over the site's ranks. Returns as aps_algorithm_create_fn. */
int aps_hierarchical_create(const struct aps_algorithm_params *site,
                            struct aps_hierarchical **hierarchical, char *cause,
                            size_t size);

/* Local; may be called while a communicator is freed. NULL is allowed. */
void aps_hierarchical_destroy(struct aps_hierarchical *hierarchical);

/*
 * COLLECTIVE over vcomm. Runs the reduction as `run` in algorithm.h. With
 * `exact_inside` (node: fp32) sums inside a group stay FP32.
 */
int aps_hierarchical_run(struct aps_hierarchical *hierarchical,
                         const struct aps_wire *wire, bool exact_inside,
                         int count, struct aps_vector vectors[],
                         struct aps_cost *cost);

/* `reduce: hierarchical`. */
aps_algorithm_create_fn aps_hierarchical_algorithm;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reduction `gather`: every rank gets the encoded values of all ranks and
 * sums them itself, in rank order. A contribution is rounded once, a sum only
 * as `accumulate` demands, and the result is not rounded. The arithmetic is
 * that of CPD's emulation, which gathers casted values in FP32; the codes are
 * the same values in fewer bytes. For N ranks the traffic is N times the bytes
 * of one rank.
 */
#ifndef APS_PMPI_REDUCE_ALLGATHER_SUM_H
#define APS_PMPI_REDUCE_ALLGATHER_SUM_H

#include <stddef.h>

#include "message/vcomm.h"
#include "reduce/algorithm.h"
#include "block/block.h"

struct aps_allgather_sum; /* opaque: a virtual communicator and scratch */

/* Local. Creates the reduction over `vcomm`, which is not owned. Returns NULL
 * if out of memory. */
struct aps_allgather_sum *
aps_allgather_sum_create(const struct aps_vcomm *vcomm, size_t granule);
void aps_allgather_sum_destroy(
    struct aps_allgather_sum *gather); /* NULL is allowed */

/* COLLECTIVE over vcomm. Runs the reduction as `run` in algorithm.h. */
int aps_allgather_sum_run(struct aps_allgather_sum *gather,
                          const struct aps_wire *wire, int count,
                          struct aps_vector vectors[], struct aps_cost *cost);

/* `reduce: gather`. */
aps_algorithm_create_fn aps_allgather_sum_algorithm;

#endif

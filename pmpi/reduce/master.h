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

#include "reduce/algorithm.h"

aps_algorithm_create_fn aps_master_algorithm;

#endif

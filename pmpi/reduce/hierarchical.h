/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hierarchical reduction. Inside a group, ranks use shared memory, and the
 * owners, as many ranks as the smallest group has, sum a slice each. Across groups
 * each owner runs `direct` on its slice. The
 * results return through shared memory. If every group is a single rank, the
 * reduction is `direct`. Ranks with vectors in GPU memory share GPU memory if
 * they can.
 */
#ifndef APS_PMPI_REDUCE_HIERARCHICAL_H
#define APS_PMPI_REDUCE_HIERARCHICAL_H

#include "reduce/algorithm.h"

/* `reduce: hierarchical`; with `node: fp32` sums inside a group stay FP32. */
aps_algorithm_create_fn aps_hierarchical_algorithm;

#endif

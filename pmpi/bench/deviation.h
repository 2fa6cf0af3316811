/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APS_PMPI_BENCH_DEVIATION_H
#define APS_PMPI_BENCH_DEVIATION_H

#include "bench/bench.h"

/* COLLECTIVE. Returns the L2 norm of the difference of sum and reference, over that of
 * the reference, in the pieces of both, on the worst rank. INFINITY: some sum is NaN,
 * or all are zero. */
double aps_bench_deviation(const float *reference, const float *sum,
                           const struct aps_bench_piece *pieces, int count);

#endif

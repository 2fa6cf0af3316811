/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rounds of apsmpi-bench: every variant is timed once in each.
 */
#ifndef APS_PMPI_BENCH_ROUNDS_H
#define APS_PMPI_BENCH_ROUNDS_H

#include "bench/bench.h"

/* COLLECTIVE. Warms up, compares the sums with native FP32's, and times all variants
 * for one case, which `pieces` and `count` describe. */
void aps_bench_rounds_run(struct aps_bench *bench,
                          const struct aps_bench_piece *pieces, int count);

#endif

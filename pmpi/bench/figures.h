/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Figures of apsmpi-bench: they are computed once, and the table and the files show
 * them.
 */
#ifndef APS_PMPI_BENCH_FIGURES_H
#define APS_PMPI_BENCH_FIGURES_H

#include "bench/bench.h"

/* Local. Sorts the samples of the case and sets the figures, the least size from which
 * each variant is as fast as native FP32, and the spread. Cases come in ascending
 * order of their sizes, and that of the tensors is the last one. */
void aps_bench_figures_take(struct aps_bench *bench);

/* True if the variant is compared with native FP32's sum. */
bool aps_bench_has_error(const struct aps_bench_variant *variant);

/* True if a call that the library should have rewritten has FP32's sum. */
bool aps_bench_is_passed(const struct aps_bench_variant *variant);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Table of apsmpi-bench, on standard output. Rank 0 alone prints it.
 */
#ifndef APS_PMPI_BENCH_TABLE_H
#define APS_PMPI_BENCH_TABLE_H

#include "bench/bench.h"

/* Prints the head, which explains the columns. */
void aps_bench_table_begin(const struct aps_bench *bench);

/* Prints the figures of a case. */
void aps_bench_table_case(const struct aps_bench *bench);

/* Prints a min_count for each format and reduction, and explains marks. */
void aps_bench_table_end(const struct aps_bench *bench);

#endif

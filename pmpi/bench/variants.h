/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Variants of apsmpi-bench, and one call of each.
 */
#ifndef APS_PMPI_BENCH_VARIANTS_H
#define APS_PMPI_BENCH_VARIANTS_H

#include "bench/bench.h"

/* COLLECTIVE. Adds the variants of the choice. If MPI has no type of its own for 16-bit
 * floats, the variant is absent, and rank 0 prints that. The caller destroys the
 * variants before MPI is finalized. */
void aps_bench_variants_create(struct aps_bench *bench);
void aps_bench_variants_destroy(struct aps_bench *bench);

/* Returns the variant of a kind and, for floors, of a width; -1: there is none. */
int aps_bench_variants_find(const struct aps_bench *bench,
                            enum aps_bench_kind kind, int width);

/* Local. Converts the values that a call sums in a type of MPI's own; and its sums
 * back. Other variants need neither. */
void aps_bench_variant_prepare(const struct aps_bench *bench,
                               const struct aps_bench_variant *variant);
void aps_bench_variant_finish(const struct aps_bench *bench,
                              const struct aps_bench_variant *variant);

/* COLLECTIVE. Sums one piece. */
void aps_bench_variant_call(const struct aps_bench *bench,
                            const struct aps_bench_variant *variant,
                            const struct aps_bench_piece *piece);

#endif

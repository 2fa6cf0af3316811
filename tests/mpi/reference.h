/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The expected result of a reduction, computed on one rank from the inputs of
 * all ranks. This file, rounding.h and way.h share no code with the code under
 * test; they follow the rules of DESIGN.md and of the headers of pmpi/ (order
 * of sums, slices, chunks).
 */
#ifndef APS_TEST_REFERENCE_H
#define APS_TEST_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "reduction_spec.h"

/*
 * Computes the FP32 sum. The members of a group add up in rank order, and the groups in
 * their order; `ring` and `master` start every slice after the group that owns it.
 */
void reference_exact(const struct way *way, int ranks, size_t n,
                     float *const in[], float *out);

/* Computes the reduction with all its roundings. */
void reference_reduce(const struct way *way, int ranks, size_t n,
                      float *const in[], float *out);

/* MPI_Bcast of x[n]: the result of all ranks. */
void reference_bcast(const struct way *way, int ranks, size_t n, const float *x,
                     float *out);

/* True if the bits are the same, or both are NaN. */
bool same_float(float a, float b);

/* Returns the first i at which they differ, or n. */
size_t first_difference(size_t n, const float *a, const float *b);

#endif

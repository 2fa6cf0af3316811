/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a reduction has to give, computed on one rank from the inputs of all:
 * nothing here, in rounding.h or in way.h is shared with the code under test
 * but the rules of DESIGN.md and of the headers of pmpi/ (order of sums,
 * slices, chunks).
 */
#ifndef APS_TEST_REFERENCE_H
#define APS_TEST_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "reduction_spec.h"

/*
 * The FP32 sum. The members of a group add up in rank order, the groups in
 * their order; `ring` and `master` start every slice behind the group that
 * owns it.
 */
void reference_exact(const struct way *way, int ranks, size_t n,
                     float *const in[], float *out);

/* The reduction with all its roundings. */
void reference_reduce(const struct way *way, int ranks, size_t n,
                      float *const in[], float *out);

/* MPI_Bcast of x[n]: what all of the ranks have. */
void reference_bcast(const struct way *way, int ranks, size_t n, const float *x,
                     float *out);

/* Same bits; all NaN are alike. */
bool same_float(float a, float b);

/* The first i where they differ, or n. */
size_t first_difference(size_t n, const float *a, const float *b);

#endif

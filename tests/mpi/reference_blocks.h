/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The expected result of a reduction in a block format, computed on one rank
 * from the inputs of all ranks. libaps casts the values, a whole layer at a
 * time. The cuts of a reduction change only the order of sums that go round a
 * ring, and NVFP4, whose pieces have a scale.
 */
#ifndef APS_TEST_REFERENCE_BLOCKS_H
#define APS_TEST_REFERENCE_BLOCKS_H

#include <stddef.h>

#include "reduction_spec.h"

void reference_blocks(const struct way *way, int ranks, size_t n,
                      float *const in[], float *out);

/* MPI_Reduce_scatter of in[ranks][bounds[ranks]], one share after the other:
 * each share begins with a block. */
void reference_blocks_scatter(const struct way *way, int ranks,
                              const size_t bounds[], float *const in[],
                              float *sum);

/* MPI_Allgather of in[ranks][n]. */
void reference_blocks_gather(const struct way *way, int ranks, size_t n,
                             float *const in[], float *gathered);

void reference_blocks_bcast(const struct way *way, int ranks, size_t n,
                            const float *x, float *out);

/* Returns the number of values at whose multiples such a layer is cut. */
size_t blocks_granule(const char *format);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a reduction in a format in blocks has to give, computed on one rank from
 * the inputs of all. Values are cast by libaps, a whole layer at a time: how a
 * reduction cuts it matters only to the order of sums that travel round a ring,
 * and to NVFP4, whose pieces have a scale.
 */
#ifndef APS_TEST_REFERENCE_BLOCKS_H
#define APS_TEST_REFERENCE_BLOCKS_H

#include <stddef.h>

#include "reduction_spec.h"

/* As reference_reduce. */
void reference_blocks(const struct way *way, int ranks, size_t n,
                      float *const in[], float *out);

/* MPI_Reduce_scatter of in[ranks][bounds[ranks]], one share after the other:
 * blocks begin with each share. */
void reference_blocks_scatter(const struct way *way, int ranks,
                              const size_t bounds[], float *const in[],
                              float *sum);

/* MPI_Allgather of in[ranks][n]. */
void reference_blocks_gather(const struct way *way, int ranks, size_t n,
                             float *const in[], float *gathered);

/* As reference_bcast. */
void reference_blocks_bcast(const struct way *way, int ranks, size_t n,
                            const float *x, float *out);

/* Values at whose multiples such a layer is cut. */
size_t blocks_granule(const char *format);

#endif

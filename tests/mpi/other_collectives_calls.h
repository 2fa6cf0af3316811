/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One call of another collective, its inputs and its expected result: rank 0
 * computes a reference from the inputs of all ranks.
 */
#ifndef APS_TEST_OTHER_COLLECTIVES_CALLS_H
#define APS_TEST_OTHER_COLLECTIVES_CALLS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "reduction_spec.h"

enum kind { SCATTER, SCATTER_BLOCK, GATHER, ROOTED, KINDS };

extern int rank, size;
extern unsigned long made[KINDS]; /* calls */
extern bool deferred;             /* nonblocking forms, followed by a wait */

/* Buffers that main() makes. */
extern float *in[RANKS_MAX]; /* rank 0 has the inputs of all ranks */
extern float *out, *expected, *before, *whole;

/* Fills this rank's inputs[n], and on rank 0 those of all ranks. */
void others_fill(unsigned seed, size_t n);

/* True if got[n] has the bits of wanted[n] on this rank. */
bool others_check(const char *what, unsigned seed, size_t n, const float *got,
                  const float *wanted);

/* COLLECTIVE over MPI_COMM_WORLD. Calls MPI_Reduce_scatter, or with `block`
 * MPI_Reduce_scatter_block: rank r gets the elements from bounds[r] to bounds[r
 * + 1]. True if the result is right on this rank. */
bool others_scatter(const struct way *way, unsigned seed, const size_t bounds[],
                    bool block);

/* COLLECTIVE over MPI_COMM_WORLD. Calls MPI_Allgather of n elements of each rank. */
bool others_gather(const struct way *way, unsigned seed, size_t n);

/* COLLECTIVE over MPI_COMM_WORLD. Calls MPI_Reduce, with the reference of the
 * all-reduce `direct`; sum[n], unless NULL, gets the library's result. */
bool others_reduce(const struct way *way, unsigned seed, size_t n, int root,
                   const float *sum);

#endif

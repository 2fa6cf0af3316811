/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Half precision for the comparison with other tools: gradients cast to 16
 * bits, summed by an MPI operation of the program, and cast back. Uses F16C if
 * the CPU has it, as those tools do, and plain C otherwise.
 */
#ifndef APS_BENCH_HALF_H
#define APS_BENCH_HALF_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* Round n floats to nearest, ties to even; and convert back. */
void half_encode(const float *x, size_t n, uint16_t *half);
void half_decode(const uint16_t *half, size_t n, float *x);

/* Create the type of one half and the sum of halves, for MPI_Allreduce. The
 * caller frees both. */
void half_create(MPI_Datatype *type, MPI_Op *sum);
void half_destroy(MPI_Datatype *type, MPI_Op *sum);

#endif

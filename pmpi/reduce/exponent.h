/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scale exponent that the ranks of a stage share (`scale: aps`; the APS
 * paper, Algorithm 1, with N = ranks of the stage).
 */
#ifndef APS_PMPI_REDUCE_EXPONENT_H
#define APS_PMPI_REDUCE_EXPONENT_H

#include <mpi.h>
#include <stddef.h>

#include "reduce/block.h"

/*
 * COLLECTIVE over comm, the ranks of the stage, where `wire` scales by APS;
 * else local, and *exponent is 0. x[n] is what this rank contributes, in the
 * memory of `wire`. An MPI error code.
 */
int aps_exponent_agree(MPI_Comm comm, const struct aps_wire *wire,
                       const float *x, size_t n, int *exponent);

/* The same for several vectors at a time, whose greatest finite magnitudes are
 * max[count]. */
int aps_exponent_agree_all(MPI_Comm comm, const struct aps_wire *wire,
                           int count, const float max[], int exponents[]);

/*
 * The same in two steps, so that the exchange is under way while other work is
 * done: COLLECTIVE in the order of the calls, and *request and *greatest stay
 * until the end. Without APS the request is MPI_REQUEST_NULL.
 */
int aps_exponent_begin(MPI_Comm comm, const struct aps_wire *wire, float max,
                       int *greatest, MPI_Request *request);
int aps_exponent_end(const struct aps_wire *wire, const int *greatest,
                     MPI_Request *request, int *exponent);

#endif

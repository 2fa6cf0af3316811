/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of 16-bit floats without the library: by an MPI operation of the program, as
 * some training tools do, and in a type of MPI's own.
 */
#ifndef APS_PMPI_BENCH_HALF_H
#define APS_PMPI_BENCH_HALF_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "aps.h"

/* Round n floats to a format of 16 bits; and convert back. */
void aps_half_encode(const struct aps_format *format, const float *x, size_t n,
                     uint16_t *codes);
void aps_half_decode(const struct aps_format *format, const uint16_t *codes,
                     size_t n, float *x);

/* Create the type of one FP16 value and the sum of such values, for MPI_Allreduce.
 * The caller frees both. */
void aps_half_create(MPI_Datatype *type, MPI_Op *sum);
void aps_half_destroy(MPI_Datatype *type, MPI_Op *sum);

/* COLLECTIVE. Returns MPI's own type of bf16 or fp16 values, or MPI_DATATYPE_NULL if
 * this MPI has no such type or cannot sum it. */
MPI_Datatype aps_half_native(const char *name);

#endif

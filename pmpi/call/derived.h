/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of derived types, which are not rewritten but may have to wait in a queue
 * for that answer: they are kept until then, and carried as bytes.
 */
#ifndef APS_PMPI_CALL_DERIVED_H
#define APS_PMPI_CALL_DERIVED_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "job/job.h"

/* Local. Is there no buffer? From MPI_BOTTOM on there may be one, of a type with
 * addresses of its own. */
bool aps_derived_is_missing(const struct aps_job *job, const void *buffer,
                            MPI_Datatype type);

/* Local. Keep a type that the program may free while its call waits: *type is ours
 * then, for MPI_Type_free, and *buffer is not MPI_BOTTOM. An MPI error code. */
int aps_derived_hold(const void **buffer, MPI_Datatype *type);

/* Local. Elements in host memory as packed[size], and back. An MPI error code. */
int aps_derived_pack(const void *from, MPI_Count count, MPI_Datatype type,
                     unsigned char *packed, size_t size, MPI_Comm comm);
int aps_derived_unpack(const unsigned char *packed, size_t size, void *to,
                       MPI_Count count, MPI_Datatype type, MPI_Comm comm);

#endif

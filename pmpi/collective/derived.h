/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of derived types. A call with such a type is not rewritten, but may
 * wait in a queue until the ranks have agreed on that. Until then the type is
 * kept, and then the elements travel as bytes.
 */
#ifndef APS_PMPI_COLLECTIVE_DERIVED_H
#define APS_PMPI_COLLECTIVE_DERIVED_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "job/job.h"

/* Local. True if there is no buffer. A type with absolute addresses may have
 * one at MPI_BOTTOM. */
bool aps_derived_is_missing(const struct aps_job *job, const void *buffer,
                            MPI_Datatype type);

/* Local. Replaces *type by a copy, since the program may free the type while
 * its call waits. The caller frees the copy by MPI_Type_free. Afterwards
 * *buffer is not MPI_BOTTOM. Returns an MPI error code. */
int aps_derived_hold(const void **buffer, MPI_Datatype *type);

/* Local. Packs elements in host memory into packed[size], and unpacks them.
 * Returns an MPI error code. */
int aps_derived_pack(const void *from, MPI_Count count, MPI_Datatype type,
                     unsigned char *packed, size_t size, MPI_Comm comm);
int aps_derived_unpack(const unsigned char *packed, size_t size, void *to,
                       MPI_Count count, MPI_Datatype type, MPI_Comm comm);

#endif

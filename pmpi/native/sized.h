/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts above INT_MAX: uses MPI's large-count functions if MPI has them, and
 * int counts otherwise. */
#ifndef APS_PMPI_NATIVE_SIZED_H
#define APS_PMPI_NATIVE_SIZED_H

#include <mpi.h>

#ifdef HAVE_PMPI_ISEND_C
#define APS_SIZED(name) PMPI_##name##_c
typedef MPI_Count aps_sized;
#else
#define APS_SIZED(name) PMPI_##name
typedef int aps_sized;
#endif

#endif

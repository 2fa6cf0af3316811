/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls with counts that an int does not hold: where MPI takes them, so do we. */
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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Name of the thread level of MPI.
 */
#ifndef APS_PMPI_JOB_THREAD_LEVEL_H
#define APS_PMPI_JOB_THREAD_LEVEL_H

/* Returns a name such as "MPI_THREAD_MULTIPLE", or NULL if MPI is not
 * initialised, is finalised already, or runs with sessions alone. */
const char *aps_thread_level_name(void);

#endif

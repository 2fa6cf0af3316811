/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread level of MPI, for people.
 */
#ifndef APS_PMPI_JOB_THREAD_LEVEL_H
#define APS_PMPI_JOB_THREAD_LEVEL_H

/* "MPI_THREAD_MULTIPLE" and the like; NULL if MPI is not initialised, is finalised
 * already, or runs by sessions alone. */
const char *aps_thread_level_name(void);

#endif

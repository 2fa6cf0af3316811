/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread level of MPI: its name, and the level that the program sees.
 */
#ifndef APS_PMPI_JOB_THREAD_LEVEL_H
#define APS_PMPI_JOB_THREAD_LEVEL_H

/* Returns a name such as "MPI_THREAD_MULTIPLE", or NULL if MPI is not
 * initialised, is finalised already, or runs with sessions alone. */
const char *aps_thread_level_name(void);

/* Local. Returns the level to pass to MPI_Init_thread if the program asks for
 * `required`: nonblocking reductions need MPI_THREAD_MULTIPLE. Keeps `required`
 * for aps_thread_level_shown. */
int aps_thread_level_raise(int required);

/* Local. Returns the level to show to the program if MPI has `level`: the
 * program's own, unless APSMPI_THREADS is `shown`. */
int aps_thread_level_shown(int level);

#endif

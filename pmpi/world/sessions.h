/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions model of MPI, without MPI_Init and MPI_Finalize: the job ends with
 * its last session, or with the process.
 */
#ifndef APS_PMPI_WORLD_SESSIONS_H
#define APS_PMPI_WORLD_SESSIONS_H

/* Local, thread-safe. Counts a session that MPI_Session_init has made. */
void aps_sessions_begin(void);

/*
 * Local, thread-safe. Called before the program's MPI_Session_finalize reaches
 * MPI. If the call ends the last session, the library carries out the queued
 * calls and ends its progress threads, and the first rank by the launcher's
 * numbers prints the summary. If the calls for sessions do not reach the
 * library, the first rank prints the summary when the process exits.
 */
void aps_sessions_end(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sessions model, where no MPI_Init and no MPI_Finalize say when the job
 * begins and ends: it ends with its last session, or with the process.
 */
#ifndef APS_PMPI_JOB_SESSIONS_H
#define APS_PMPI_JOB_SESSIONS_H

/* MPI_Session_init has made a session. Local, thread-safe. */
void aps_sessions_begin(void);

/*
 * MPI_Session_finalize was called and is yet to be passed on. Local,
 * thread-safe. Where it ends the last session, what is queued is carried out, no
 * thread of the library goes on, and the first rank, as the launcher numbers the
 * processes, prints the summary. Where the calls of sessions are not seen, the
 * summary is printed when the process exits.
 */
void aps_sessions_end(void);

#endif

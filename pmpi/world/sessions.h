/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sessions model, which has no MPI_Init and no MPI_Finalize: the job ends
 * with its last session, or with the process.
 */
#ifndef APS_PMPI_WORLD_SESSIONS_H
#define APS_PMPI_WORLD_SESSIONS_H

/* MPI_Session_init has made a session. Local, thread-safe. */
void aps_sessions_begin(void);

/*
 * The program called MPI_Session_finalize, and MPI has not got the call yet.
 * Local, thread-safe. If the call ends the last session, the library carries
 * out what is queued and ends its progress threads, and the first rank by the
 * launcher's numbers prints the summary. If the calls for sessions pass the
 * library by, the first rank prints the summary when the process exits.
 */
void aps_sessions_end(void);

#endif

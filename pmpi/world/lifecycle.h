/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The beginning and the end of a job, as far as the library sees them.
 */
#ifndef APS_PMPI_WORLD_LIFECYCLE_H
#define APS_PMPI_WORLD_LIFECYCLE_H

/*
 * The program called MPI_Init, or MPI_Init_thread with the level `required`,
 * and MPI has returned. COLLECTIVE over MPI_COMM_WORLD unless APSMPI_WORLD is
 * off: makes the job's world, on which the ranks agree on their options and the
 * policy. Does not return if the policy is bad and the job must stop.
 */
void aps_lifecycle_begin(int required);

/* Local. The job's world has been made: by all ranks in MPI_Init, or by some of
 * them at a call, which met the others there (handshake.h: mixed). */
struct aps_hidden_comm;
void aps_lifecycle_take_world(struct aps_hidden_comm *world);

/* The thread level to pass to MPI_Init_thread if the program asks for
 * `required`: nonblocking reductions need MPI_THREAD_MULTIPLE. */
int aps_lifecycle_thread_level(int required);

/*
 * Make sure that the library notices the end of the job: it sets an attribute
 * on MPI_COMM_SELF, which MPI_Finalize deletes first, even if the call of
 * MPI_Finalize passes the library by. Local; cheap after the first time.
 */
void aps_lifecycle_watch_end(void);

/* The program called MPI_Finalize, and MPI has not got the call yet. COLLECTIVE
 * over MPI_COMM_WORLD: carries out what is queued and ends the progress
 * threads. If the call passes the library by, the attribute's callback does the
 * same inside MPI_Finalize. */
void aps_lifecycle_finish(void);

/* Stop the job because of a bad policy. */
void aps_lifecycle_stop(void) __attribute__((noreturn));

#endif

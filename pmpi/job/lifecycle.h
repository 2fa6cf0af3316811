/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The beginning and the end of a job, as far as we get to see them.
 */
#ifndef APS_PMPI_JOB_LIFECYCLE_H
#define APS_PMPI_JOB_LIFECYCLE_H

/*
 * MPI_Init was seen, or MPI_Init_thread with the level `required`. COLLECTIVE
 * over MPI_COMM_WORLD unless APSMPI_WORLD is off: makes the job's world, on which
 * the ranks agree on their options and the policy. Does not return where the
 * policy is bad and the job is to stop.
 */
void aps_lifecycle_begin(int required);

/* The level of threads to initialise MPI with, where the program asks for
 * `required`: nonblocking reductions need the highest. */
int aps_lifecycle_thread_level(int required);

/*
 * Make sure that the end of the job is noticed: an attribute on MPI_COMM_SELF,
 * which MPI_Finalize deletes first, however it is called. Local, cheap when
 * done.
 */
void aps_lifecycle_watch_end(void);

/* MPI_Finalize was called and is yet to be passed on. COLLECTIVE over
 * MPI_COMM_WORLD: what is queued is carried out, and the library's threads end.
 * Where the call passes the library by, that is done inside MPI_Finalize. */
void aps_lifecycle_finish(void);

/* The policy is bad and the job is to stop; does not return. */
void aps_lifecycle_stop(void) __attribute__((noreturn));

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Beginning and end of a job, as far as the library sees them.
 */
#ifndef APS_PMPI_WORLD_LIFECYCLE_H
#define APS_PMPI_WORLD_LIFECYCLE_H

#include <stdbool.h>

/* True between MPI_Init and MPI_Finalize, when MPI_COMM_WORLD and MPI_COMM_SELF
 * exist. In the sessions model they do not, but they may be created later. */
bool aps_lifecycle_has_world(void);

/*
 * COLLECTIVE over MPI_COMM_WORLD unless APSMPI_WORLD is off. Called after
 * MPI_Init, or MPI_Init_thread with the level `required`, has returned, in Fortran
 * also with an error, after which it does nothing: makes
 * the job's world, on which the ranks agree on their options and the policy.
 * Does not return if the policy is bad and the job must stop.
 */
void aps_lifecycle_begin(int required);

/* Local. Takes a new world as the world of the job. Either all ranks made it in
 * MPI_Init, or some of them at a call, where they met the others (handshake.h:
 * mixed). */
struct aps_hidden_comm;
void aps_lifecycle_take_world(struct aps_hidden_comm *world);

/*
 * Local; cheap after the first time. Sets an attribute on MPI_COMM_SELF, so
 * that the library notices the end of the job: MPI_Finalize deletes the
 * attribute first, even if the call of MPI_Finalize does not reach the library.
 */
void aps_lifecycle_watch_end(void);

/* COLLECTIVE over MPI_COMM_WORLD. Called before the program's MPI_Finalize
 * reaches MPI: carries out the queued calls and ends the progress threads. If
 * the program's call does not reach the library, the attribute's callback does
 * this inside MPI_Finalize. */
void aps_lifecycle_finish(void);

/* Stops the job because of a bad policy. */
void aps_lifecycle_stop(void) __attribute__((noreturn));

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent all-reduces: MPI_Allreduce_init, MPI_Start and the calls that
 * follow.
 *
 * The program holds MPI's own persistent request, which is never started.
 * Instead MPI_Start starts a nonblocking all-reduce, which the completion calls
 * (completion.h) complete in place of the persistent request.
 *
 * That is correct only if all ranks start the requests of a communicator in the
 * same order, which MPI does not require. So a request stays MPI's own unless
 * the program asserts that order, by
 * mpi_assert_strict_persistent_collective_ordering in the info of the request
 * or of its communicator. A request that a program makes by mpi_f08 stays MPI's
 * own, too, because the library does not see the functions that start it
 * (entry/f08.c).
 */
#ifndef APS_PMPI_WAITING_PERSISTENT_H
#define APS_PMPI_WAITING_PERSISTENT_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "call/call.h"

/* Local. Makes the request of an MPI_Allreduce_init. Returns an MPI error code. */
int aps_persistent_init(const struct aps_call_arguments *arguments,
                        MPI_Info info, MPI_Request *request);

extern atomic_int aps_persistent_requests; /* number of requests that the
                                              library starts */

/* Local. True if the library starts any request. */
static inline bool aps_persistent_any(void)
{
    return atomic_load_explicit(&aps_persistent_requests,
                                memory_order_relaxed) > 0;
}

/* Number of requests that are MPI's own, whose starts are counted for the
 * summary. */
extern atomic_int aps_persistent_passing;

/* Local. True if any request is recorded, of the library or of MPI. */
static inline bool aps_persistent_any_kept(void)
{
    return aps_persistent_any() ||
           atomic_load_explicit(&aps_persistent_passing, memory_order_relaxed) >
               0;
}

/* Local. Counts a start by MPI itself, if the request is a persistent
 * all-reduce. */
void aps_persistent_count_start(MPI_Request request);

/* Local. True if the library starts one of requests[count], which may be NULL. */
bool aps_persistent_holds(int count, const MPI_Request requests[]);

/* Local. `leave`: requests that this thread initialises from now on are MPI's
 * own; false ends that. */
void aps_persistent_leave_to_mpi(bool leave);

/* MPI_Start, MPI_Startall and MPI_Request_free; requests of other kinds go to
 * MPI. */
int aps_persistent_start(MPI_Request *request);
int aps_persistent_startall(int count, MPI_Request requests[]);
int aps_persistent_free(MPI_Request *request);

/* Local. Forgets a request that the program frees by another call. */
void aps_persistent_forget(MPI_Request request);

/* Local. Returns the place of the nonblocking request that is to be completed instead
 * of `request` (MPI_REQUEST_NULL is there while it is inactive), or NULL if `request`
 * is MPI's own. The place exists until the program frees `request`. */
MPI_Request *aps_persistent_inner(MPI_Request request);

#endif

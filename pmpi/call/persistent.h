/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent all-reduces: MPI_Allreduce_init, MPI_Start and what follows.
 *
 * The program holds MPI's own persistent request, which is never started. Instead
 * MPI_Start starts a nonblocking all-reduce, which the completion calls
 * (completion.h) complete in the place of the persistent request.
 *
 * That is right only if all ranks start the requests of a communicator in one
 * order, which MPI does not ask for. So a request stays MPI's own unless the
 * program asserts that order, by mpi_assert_strict_persistent_collective_ordering
 * in the info of the request or of its communicator. A request that a program
 * makes by mpi_f08 stays MPI's own, too, because its other calls come by
 * functions that the library does not see (entry/f08.c).
 */
#ifndef APS_PMPI_CALL_PERSISTENT_H
#define APS_PMPI_CALL_PERSISTENT_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "call/call.h"

/* Local. Makes the request of an MPI_Allreduce_init. Returns an MPI error code. */
int aps_persistent_init(const struct aps_call_arguments *arguments,
                        MPI_Info info, MPI_Request *request);

extern atomic_int aps_persistent_requests; /* that live */

/* Is any request perhaps ours? */
static inline bool aps_persistent_any(void)
{
    return atomic_load_explicit(&aps_persistent_requests,
                                memory_order_relaxed) > 0;
}

/* Starts of requests that are MPI's own are counted for the summary. */
extern atomic_int aps_persistent_passing; /* such requests that live */

/* Is any request kept, ours or MPI's own? */
static inline bool aps_persistent_any_kept(void)
{
    return aps_persistent_any() ||
           atomic_load_explicit(&aps_persistent_passing, memory_order_relaxed) >
               0;
}

/* Local. MPI itself starts this request: count it, if it is a persistent
 * all-reduce. */
void aps_persistent_count_start(MPI_Request request);

/* Does one of requests[count] have something behind it? NULL: no. */
bool aps_persistent_holds(int count, const MPI_Request requests[]);

/* From now on, or no longer: what this thread initialises is MPI's own. */
void aps_persistent_leave_to_mpi(bool leave);

/* As MPI_Start, MPI_Startall and MPI_Request_free; other requests go to MPI. */
int aps_persistent_start(MPI_Request *request);
int aps_persistent_startall(int count, MPI_Request requests[]);
int aps_persistent_free(MPI_Request *request);

/* It is freed elsewhere. */
void aps_persistent_forget(MPI_Request request);

/*
 * *inner, an MPI_Request, is what stands behind `request` and is to be
 * completed in its place, MPI_REQUEST_NULL if it is inactive; false: `request`
 * is MPI's own. Afterwards aps_persistent_set takes what *inner has become.
 */
bool aps_persistent_get(MPI_Request request, MPI_Request *inner);
void aps_persistent_set(MPI_Request request, const MPI_Request *inner);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests of our own: generalized ones, which all of MPI's completion calls
 * know. Where MPI has extended ones (MPICH's MPIX_Grequest_start) those calls
 * drive the queues too, even when no wrapper of ours sees them, as mpi_f08's.
 */
#ifndef APS_PMPI_QUEUE_REQUEST_H
#define APS_PMPI_QUEUE_REQUEST_H

#include <mpi.h>
#include <stdbool.h>

struct aps_queue;
struct aps_request; /* opaque; shared by MPI and who completes it */

/*
 * *handle is for the program, *request for what will complete it: with
 * `threaded` a thread of ours, without a call of the program. If the thread is
 * that of `queue`, whose operations end in their order and independently of other
 * queues, the program's thread may carry them out while it waits; otherwise
 * NULL. An MPI error code.
 */
int aps_request_start(bool threaded, struct aps_queue *queue,
                      struct aps_request **request, MPI_Request *handle);

/* Has the program begun to wait for it, or to test it? */
bool aps_request_is_waited(const struct aps_request *request);

/* While a thread's completion call is ours, which drives the queues itself, MPI
 * need not do so for each of its requests. */
void aps_request_set_driven(bool driven);

/* Between two of the tests of one request by a completion call of ours, which has
 * not found it complete: carry out here what its queue's thread has not begun. True:
 * something was carried out. */
bool aps_request_help(void);

/*
 * Between two of the tests of one request by a completion call of ours, which has
 * not found it complete: does a thread of ours work for it? Then the caller may
 * rest until that thread completes it, or for half a millisecond.
 */
bool aps_request_may_rest(void);
void aps_request_rest(void);

/* It is complete, with this MPI error code; `request` is gone. */
void aps_request_complete(struct aps_request *request, int rc);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library's own requests: generalized requests, which all of MPI's
 * completion calls accept. If MPI has extended ones (MPICH's
 * MPIX_Grequest_start), those calls drive the queues, too, even if the library
 * does not wrap them, like those of mpi_f08.
 */
#ifndef APS_PMPI_QUEUE_REQUEST_H
#define APS_PMPI_QUEUE_REQUEST_H

#include <mpi.h>
#include <stdbool.h>

struct aps_queue;
struct aps_request; /* shared by MPI and the code that completes it */

/*
 * Starts a request: *handle for the program, *request for the code that
 * completes it. With `threaded` a thread of the library completes it without a
 * call of the program.
 *
 * `queue` is the queue of that thread if its operations end in their order and
 * independently of other queues: the program's thread may then carry them out
 * while it waits. Otherwise it is NULL. Returns an MPI error code.
 */
int aps_request_start(bool threaded, struct aps_queue *queue,
                      struct aps_request **request, MPI_Request *handle);

/* True if the program has begun to wait for the request, or to test it. */
bool aps_request_is_waited(const struct aps_request *request);

/* Sets whether this thread is in a completion call of the library, which
 * drives the queues itself, so that MPI need not do so for each of its
 * requests. */
void aps_request_set_driven(bool driven);

/* Carries out operations that the queue's thread has not begun. Called between
 * two tests of one request by a completion call of the library, which has not
 * found it complete. Returns true if an operation was carried out. */
bool aps_request_help(void);

/*
 * aps_request_may_rest is true if a thread of the library works for the
 * request. The caller may then rest until that thread completes it, or for half
 * a millisecond (aps_request_rest). Called between two tests of one request by
 * a completion call of the library, which has not found it complete.
 */
bool aps_request_may_rest(void);
void aps_request_rest(void);

/* Completes the request with this MPI error code, and releases `request`. */
void aps_request_complete(struct aps_request *request, int rc);

#endif

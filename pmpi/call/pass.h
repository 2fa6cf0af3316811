/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passes a call to the next MPI library: with bounce buffers if that MPI does
 * not accept GPU memory, and with a progress thread that drives what is under
 * way while the call blocks.
 */
#ifndef APS_PMPI_CALL_PASS_H
#define APS_PMPI_CALL_PASS_H

#include <stddef.h>

#include "call/call.h"

/* Local. Counts a call that is not rewritten, with the reason. */
void aps_call_count_passed(const struct aps_call *call, enum aps_reason reason);

/* COLLECTIVE over the call's communicator. Passes the whole call. Returns an
 * MPI error code; after an error the program's error handler has been
 * called. */
int aps_call_pass(const struct aps_call *call);

/* COLLECTIVE. Counts the call with the reason, and passes it like
 * aps_call_pass. */
int aps_call_pass_because(const struct aps_call *call, enum aps_reason reason);

/* COLLECTIVE. Passes `count` elements of an all-reduce, from `offset` on; does
 * nothing if `count` is 0. */
int aps_call_pass_part(const struct aps_call *call, size_t offset,
                       size_t count);

/* Local. Passes the whole call in its nonblocking form; *request is the
 * program's. */
int aps_call_pass_start(const struct aps_call *call, MPI_Request *request);

/* Local. Counts the call with the reason, and passes it like
 * aps_call_pass_start. */
int aps_call_start_because(const struct aps_call *call, MPI_Request *request,
                           enum aps_reason reason);

/* Local. Passes `count` elements from `offset` on in the nonblocking form.
 * After an error the program's error handler has been called, *request is
 * MPI_REQUEST_NULL, and *rc is the error unless it held one before. */
void aps_call_start_part(const struct aps_call *call, size_t offset,
                         size_t count, MPI_Request *request, int *rc);

#endif

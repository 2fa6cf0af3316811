/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passing a call on to the next library in line: with bounce buffers where its
 * MPI does not take a GPU's memory, and with somebody to drive what is under way
 * while it blocks.
 */
#ifndef APS_PMPI_CALL_PASS_H
#define APS_PMPI_CALL_PASS_H

#include <stddef.h>

#include "call/call.h"

/* Local. A call is not rewritten: count it with the reason. */
void aps_call_count_passed(const struct aps_call *call, enum aps_reason reason);

/* COLLECTIVE over the call's communicator. The whole call. An MPI error code, of
 * which the error handler knows. */
int aps_call_pass(const struct aps_call *call);

/* COLLECTIVE. The same, counted with the reason. */
int aps_call_pass_because(const struct aps_call *call, enum aps_reason reason);

/* COLLECTIVE. `count` elements of an all-reduce from `offset` on; none:
 * nothing. */
int aps_call_pass_part(const struct aps_call *call, size_t offset,
                       size_t count);

/* Local. The whole call in its nonblocking form; *request is the program's. */
int aps_call_pass_start(const struct aps_call *call, MPI_Request *request);

/* Local. The same, counted with the reason. */
int aps_call_start_because(const struct aps_call *call, MPI_Request *request,
                           enum aps_reason reason);

/* Local. `count` elements from `offset` on. After an error, of which the error
 * handler knows, *request is MPI_REQUEST_NULL, and *rc the error unless it is
 * one already. */
void aps_call_start_part(const struct aps_call *call, size_t offset,
                         size_t count, MPI_Request *request, int *rc);

#endif

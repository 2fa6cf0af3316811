/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carries out and completes a call: at once if it blocks, otherwise when it is
 * due in its queue. After an error the remaining layers run, too, because other
 * ranks may not know of the error.
 */
#ifndef APS_PMPI_CALL_RUN_H
#define APS_PMPI_CALL_RUN_H

#include "call/call.h"

/* COLLECTIVE over the communicator. Identifies, plans, carries out and
 * completes a blocking call. Returns an MPI error code; after an error the
 * program's error handler has been called. If the program runs with an MPI that
 * the library was not built for, the call passes. */
int aps_call_run(const struct aps_call_arguments *arguments);

/* COLLECTIVE over the context's communicator. Carries out a queued call by
 * itself, waits for its parts that went to MPI, and completes it. */
void aps_call_finish(struct aps_call *call);

/* Local. Ends a call. If it was queued, its request completes with call->rc, and
 * the call is freed; otherwise the program's error handler gets an error, unless
 * it was called before. Returns the code. */
int aps_call_complete(struct aps_call *call);

#endif

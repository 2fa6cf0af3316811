/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call carried out and completed: at once if it blocks, in its turn if it is queued.
 * All layers are gone through also after an error of one, because other ranks may know
 * nothing of it.
 */
#ifndef APS_PMPI_CALL_RUN_H
#define APS_PMPI_CALL_RUN_H

#include "call/call.h"

/*
 * COLLECTIVE over the communicator. A blocking call of the program: identifies, plans,
 * carries out and completes it. Returns an MPI error code; after an error the
 * program's error handler has been called. Calls of an MPI that the library was not
 * built for pass.
 */
int aps_call_run(const struct aps_call_arguments *arguments);

/* COLLECTIVE over the context's communicator. Carries out a queued call by itself,
 * waits for its parts that MPI has got, and completes it. */
void aps_call_finish(struct aps_call *call);

/*
 * Local. The end of a call: tells call->rc to the program's error handler (blocking)
 * or to the request, which completes; a queued call is then freed. Returns the code.
 */
int aps_call_complete(struct aps_call *call);

#endif

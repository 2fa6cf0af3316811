/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A blocking call of whatever kind, from its arguments to its end: identified,
 * placed in the step, and rewritten or passed on.
 */
#ifndef APS_PMPI_CALL_HANDLE_H
#define APS_PMPI_CALL_HANDLE_H

#include "call/call.h"

/* COLLECTIVE over the call's communicator. Reduces a blocking call of the program,
 * or passes it on, as all calls of an MPI that the library was not built for.
 * Returns an MPI error code, for which the error handler has been called. */
int aps_call_run(const struct aps_call_arguments *arguments);

#endif

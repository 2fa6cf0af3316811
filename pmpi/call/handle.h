/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A blocking call of whatever kind, from its arguments to its end: identified,
 * placed in the step, and rewritten or passed on.
 */
#ifndef APS_PMPI_CALL_HANDLE_H
#define APS_PMPI_CALL_HANDLE_H

#include "call/call.h"

/* COLLECTIVE over the call's communicator. Of a call that nobody has counted yet.
 * An MPI error code, of which the program's error handler knows. */
int aps_call_handle(const struct aps_call *call);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "call/call.h"

#include "call/kind.h"
#include "comm/context.h"
#include "comm/report.h"

const char *aps_call_function(const struct aps_call *call)
{
    const struct aps_collective *collective = call->arguments.collective;

    switch (call->arguments.form) {
    case APS_BLOCKING:
        return collective->name;
    case APS_NONBLOCKING:
        return collective->nonblocking;
    default:
        return "MPI_Allreduce_init";
    }
}

struct aps_counters *aps_call_counters(const struct aps_call *call)
{
    return aps_counters_of(call->arguments.collective->counted);
}

struct aps_pcontrol aps_call_control(const struct aps_context *context,
                                     const struct aps_call *call)
{
    static const struct aps_pcontrol none = {.off = false, .epoch = -1};

    return context->own_world ? none : call->control;
}

int aps_call_raise(const struct aps_call *call, int rc)
{
    if (rc != MPI_SUCCESS && call->arguments.form == APS_BLOCKING)
        PMPI_Comm_call_errhandler(call->arguments.comm, rc);
    return rc;
}

int aps_call_check(struct aps_context *context, const struct aps_call *call,
                   unsigned long failures)
{
    int rc = aps_context_check(context, aps_call_function(call), failures,
                               MPI_SUCCESS);

    if (rc != MPI_SUCCESS)
        context->damaged = true;
    return rc;
}

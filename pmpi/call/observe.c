/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "call/observe.h"

#include <math.h>

#include "base/fpenv.h"
#include "call/collective.h"
#include "comm/report.h"

void aps_sample_before(struct aps_call *call, const struct aps_layer *layer,
                       int *ready)
{
    struct aps_context *context = call->context;
    fenv_t environment;
    int rc;

    aps_fpenv_enter(&environment);
    rc = call->arguments.collective->reference(call, layer, ready);
    if (context->rank == 0 && layer->key.call == APS_CALL_ALLREDUCE)
        aps_context_write_exponents(context, &layer->key,
                                    aps_call_function(call), layer->memory,
                                    layer->in);
    aps_fpenv_leave(&environment);
    (void)aps_context_fail(context, aps_call_function(call), rc);
}

void aps_sample_after(struct aps_call *call, const struct aps_layer *layer,
                      const struct aps_cost *cost, int64_t taken, int rc,
                      int ready)
{
    struct aps_context *context = call->context;
    const bool merges = call->arguments.collective->merges;
    const bool gathers = layer->key.call == APS_CALL_ALLGATHER;
    struct aps_measure measure = {0};
    fenv_t environment;

    if (rc != MPI_SUCCESS && !merges)
        return;
    ready = ready && rc == MPI_SUCCESS;
    aps_fpenv_enter(&environment);
    if (ready && (merges || context->rank == 0))
        aps_sample_compare(
            &context->sample, layer->memory,
            gathers ? aps_memory_at(layer->memory, layer->out,
                                    (size_t)context->rank * layer->own)
                    : layer->out,
            layer->own, &measure);
    rc = merges ? aps_sample_merge(aps_comm_resources_vcomm(context->resources),
                                   &measure, &ready)
                : MPI_SUCCESS;
    if (rc == MPI_SUCCESS && context->rank == 0 && ready)
        aps_context_row(context, &layer->key, &layer->plan,
                        aps_call_function(call),
                        &(struct aps_sampled){.cost = cost,
                                              .measure = &measure,
                                              .taken = taken,
                                              .entropy = NAN});
    aps_fpenv_leave(&environment);
    (void)aps_context_fail(context, aps_call_function(call), rc);
}

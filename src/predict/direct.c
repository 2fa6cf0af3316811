/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predicts pmpi/reduce/direct.c: each rank owns a slice, receives it encoded
 * from all ranks, and sends the encoded sum to all.
 */
#include "config.h"

#include "predict/stages.h"
#include "wire/pipeline_sizes.h"

/* Returns the values of a message: more if threads share it, unless the values
 * depend on the bounds of messages (aps_wire_has_own_blocks in pmpi/block). */
static double direct_message(const struct aps_predicted_call *call, int ranks)
{
    const struct aps_plan *plan = call->plan;
    const struct aps_codec codec = {.format = plan->format};

    if (call->threads <= 1 || aps_scale_state_bytes(&plan->scale) > 0 ||
        aps_scale_binds_blocks(&plan->scale, &plan->format, plan->rounding))
        return aps_predict_message(plan, ranks);
    return (double)aps_pipeline_elements_of(&codec, ranks,
                                            APS_PIPELINE_THREADS);
}

struct aps_prediction aps_predict_direct(const struct aps_predicted_call *call)
{
    const struct aps_machine *machine = call->machine;
    const int ranks = aps_machine_ranks(machine);
    struct aps_stage stages[3] = {{0}};
    struct aps_prediction exponents;
    struct aps_predicted_call shared, alone;
    double n, owners, owned, others, own, slice, bytes, chunks;

    chunks = aps_predict_chunks(call, ranks * direct_message(call, ranks), &n);
    owners = aps_predict_owners(call->plan, n, ranks);
    owned = aps_predict_owned(owners, ranks);
    others = owned * aps_predict_others(machine);
    own = owned * (ranks - 1) - others;
    slice = n / owners;
    bytes = aps_predict_block(call->plan, slice);
    shared = aps_predict_shared(call, owners, slice);
    alone = aps_predict_shared(call, 1, slice);
    stages[0].core = n * shared.rates.encode + aps_predict_memory(&shared, n);
    aps_stage_send(&stages[0], machine, bytes, others, own);
    stages[1].work =
        aps_predict_sum(call, ranks, slice) + slice * alone.rates.encode;
    aps_stage_send(&stages[1], machine, bytes, others, own);
    stages[2].work = n * shared.rates.decode + aps_predict_memory(&shared, n);
    exponents = aps_predict_exponents(call, ranks, machine->ranks_per_host);
    return aps_prediction_add(
        exponents,
        aps_stages_run(stages, 3, chunks,
                       aps_link_ahead(&machine->between, exponents.seconds)));
}

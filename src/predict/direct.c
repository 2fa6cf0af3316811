/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predicts pmpi/reduce/direct.c: each rank owns a slice, receives it encoded
 * from all ranks, and sends the encoded sum to all.
 */
#include "config.h"

#include "predict/stages.h"

struct aps_prediction aps_predict_direct(const struct aps_predicted_call *call)
{
    const struct aps_machine *machine = call->machine;
    const struct aps_codec_rates *rates = &call->rates;
    const int ranks = aps_machine_ranks(machine);
    struct aps_stage stages[3] = {{0}};
    struct aps_prediction exponents;
    double n, owners, owned, others, own, slice, bytes, chunks;

    chunks = aps_predict_chunks(
        call, ranks * aps_predict_message(call->plan, ranks), &n);
    owners = aps_predict_owners(call->plan, n, ranks);
    owned = aps_predict_owned(owners, ranks);
    others = owned * aps_predict_others(machine);
    own = owned * (ranks - 1) - others;
    slice = n / owners;
    bytes = aps_predict_block(call->plan, slice);
    stages[0].core = n * rates->encode + aps_predict_memory(call, n);
    aps_stage_send(&stages[0], machine, bytes, others, own);
    stages[1].work =
        aps_predict_sum(call, ranks, slice) + slice * rates->encode;
    aps_stage_send(&stages[1], machine, bytes, others, own);
    stages[2].work = n * rates->decode + aps_predict_memory(call, n);
    exponents = aps_predict_exponents(call, ranks, machine->ranks_per_host);
    return aps_prediction_add(
        exponents,
        aps_stages_run(stages, 3, chunks,
                       aps_link_ahead(&machine->between, exponents.seconds)));
}

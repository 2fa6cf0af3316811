/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predicts pmpi/reduce/allgather_sum.c: each rank sends all its values to all
 * other ranks and sums all that it receives.
 */
#include "config.h"

#include "predict/stages.h"

struct aps_prediction aps_predict_gather(const struct aps_predicted_call *call)
{
    const struct aps_machine *machine = call->machine;
    const int ranks = aps_machine_ranks(machine);
    const double others = aps_predict_others(machine);
    struct aps_stage stages[2] = {{0}};
    struct aps_prediction exponents;
    double n, chunks;

    chunks = aps_predict_chunks(call, aps_predict_message(call->plan, 1), &n);
    stages[0].work = n * call->rates.encode + aps_predict_memory(call, n);
    aps_stage_send(&stages[0], machine, aps_predict_block(call->plan, n),
                   others, ranks - 1 - others);
    stages[1].work = aps_predict_sum(call, ranks, n) +
                     aps_predict_bytes(call->plan, n) * machine->copy +
                     aps_predict_memory(call, n);
    exponents = aps_predict_exponents(call, ranks, machine->ranks_per_host);
    return aps_prediction_add(
        exponents,
        aps_stages_run(stages, 2, chunks,
                       aps_link_ahead(&machine->between, exponents.seconds)));
}

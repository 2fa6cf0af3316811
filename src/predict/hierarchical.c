/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predicts pmpi/reduce/hierarchical.c: inside a group each rank sums its slice
 * through shared memory; between groups `direct` sums each slice; the results
 * return through shared memory.
 */
#include "config.h"

#include <math.h>

#include "codec/codec.h"
#include "predict/stages.h"
#include "wire/pipeline_sizes.h"
#include "wire/buffer_depth.h"

static double group_chunk(const struct aps_plan *plan, int ranks, int groups)
{
    const size_t chunk = aps_pipeline_group_elements(ranks, groups, ranks);
    struct aps_codec codec;

    if (plan->node == APS_NODE_FP32)
        return (double)chunk;
    if (plan->format.wide)
        return (double)chunk / 2;
    aps_codec_init(&plan->format, &codec);
    if (groups > 1)
        return (double)aps_pipeline_group_elements_across(&codec, chunk);
    return (double)aps_pipeline_single_group_elements(&codec, ranks, chunk,
                                                      APS_PIPELINE_GROUP_SLICE);
}

/* Adds the exchange of slice sums between groups; each rank exchanges with its
 * peers. */
static void add_across(const struct aps_predicted_call *call, int groups,
                       double slice, struct aps_stage *offer,
                       struct aps_stage *turn)
{
    const struct aps_machine *machine = call->machine;
    const double owners = aps_predict_owners(call->plan, slice, groups);
    const double owned = aps_predict_owned(owners, groups);
    const double near =
        owned * (machine->ranks_per_host / (double)call->group - 1);
    const double far = owned * (groups - 1) - near;
    const double part = slice / owners;
    const double bytes = aps_predict_block(call->plan, part);
    const struct aps_predicted_call shared = aps_predict_shared(call, 1, part);

    offer->work += slice * shared.rates.encode;
    aps_stage_send(offer, machine, bytes, far, near);
    turn->work +=
        aps_predict_sum(call, groups, part) + part * shared.rates.encode;
    aps_stage_send(turn, machine, bytes, far, near);
}

struct aps_prediction
aps_predict_hierarchical(const struct aps_predicted_call *call)
{
    const struct aps_machine *machine = call->machine;
    const bool exact = call->plan->node == APS_NODE_FP32;
    const int k = call->group;
    const int groups = aps_machine_ranks(machine) / k;
    enum { CONTRIBUTE, SUM, OFFER, TURN, COLLECT, STAGES };
    struct aps_stage stages[STAGES] = {{0}};
    struct aps_prediction all, agreement = {0, APS_BOUND_LATENCY};
    struct aps_predicted_call shared;
    const struct aps_codec_rates *rates = &shared.rates;
    double n, slice, chunks, floats, search = 0;

    if (k == 1)
        return aps_predict_direct(call);
    chunks = aps_predict_chunks(call, group_chunk(call->plan, k, groups), &n);
    slice = n / aps_predict_owners(call->plan, n, k);
    shared = aps_predict_shared(call, 1, slice);
    floats = sizeof(float) * machine->copy;
    stages[CONTRIBUTE].work = exact ? n * floats : n * rates->encode;
    stages[SUM].work = exact ? slice * (floats + (k - 1) * machine->add)
                             : aps_predict_sum(call, k, slice);
    if (groups > 1)
        add_across(call, groups, slice, &stages[OFFER], &stages[TURN]);
    else
        stages[SUM].work += slice * (exact ? floats : rates->encode);
    stages[COLLECT].work = n * (exact && groups == 1 ? floats : rates->decode);
    stages[CONTRIBUTE].work += machine->mark + aps_predict_memory(&shared, n);
    stages[SUM].work += machine->mark;
    stages[COLLECT].work += machine->mark + aps_predict_memory(&shared, n);
    if (groups > 1 && aps_scale_ops_of(&call->plan->scale)->agreed) {
        /* Agreement on the sums, for each chunk, while other chunks are
         * summed. */
        agreement =
            aps_predict_agreement(machine, groups, machine->ranks_per_host / k);
        stages[OFFER].core += (groups <= 16 ? groups - 1 : ceil(log2(groups))) *
                              machine->between.message;
        stages[OFFER].latency += agreement.seconds;
    }
    if (!exact && aps_scale_ops_of(&call->plan->scale)->agreed)
        search = aps_predict_search(call) + machine->mark;
    all = aps_stages_run(stages, STAGES, chunks,
                         aps_link_ahead(&machine->between, search));
    all.seconds += search;
    return all;
}

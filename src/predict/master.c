/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predicts pmpi/reduce/master.c: the members of a group send to its master, the masters
 * sum in a ring, and send the result to their members. In latencies these are 2 + 2 (p
 * / k - 1) steps, because the k - 1 messages of a group overlap. The APS paper counts 4
 * (k - 1) + 2 (p / k - 1) steps: there one member follows the other.
 */
#include "config.h"

#include <math.h>

#include "predict/ring.h"
#include "predict/stages.h"
#include "wire/buffer_depth.h"

/* Sets a stage in which the master of each group sends or receives `count`
 * messages of `bytes` bytes, and each member one. */
static void master_send(struct aps_stage *stage,
                        const struct aps_machine *machine, int group,
                        double count, double bytes)
{
    const int ranks = machine->ranks_per_host;
    const double near = group < ranks ? group - 1 : ranks - 1;
    const double far = group - 1 - near;
    const double masters = group < ranks ? (double)ranks / group : 1;
    struct aps_stage one = {0};

    /* Sending and receiving have half of the cost each. */
    aps_stage_send(&one, machine, bytes, far * count, near * count);
    stage->core += one.core / 2;
    stage->between += one.between / ranks;
    stage->inside += one.inside / ranks * masters;
    stage->latency += one.latency;
}

struct aps_prediction aps_predict_master(const struct aps_predicted_call *call)
{
    const struct aps_machine *machine = call->machine;
    const struct aps_codec_rates *rates = &call->rates;
    const int ranks = aps_machine_ranks(machine);
    const int k = call->group, groups = ranks / k;
    const int masters =
        k < machine->ranks_per_host ? machine->ranks_per_host / k : 1;
    struct aps_predicted_call contributions = *call;
    struct aps_stage stages[2] = {{0}};
    struct aps_prediction all;
    double n, chunks, windows, window;

    chunks = aps_predict_chunks(call, aps_predict_message(call->plan, 1), &n);
    windows = ceil(chunks / APS_RING_WINDOW);
    window = chunks / windows;
    stages[0].work = window * (n * rates->encode + aps_predict_memory(call, n));
    master_send(&stages[0], machine, k, window,
                aps_predict_block(call->plan, n));
    stages[1].work = window * aps_predict_sum(&contributions, k, n);
    master_send(&stages[1], machine, k, window,
                aps_predict_block(call->plan, n));
    all = aps_stages_run(stages, 2, 1, 0);
    if (groups > 1) {
        if (aps_scale_ops_of(&call->plan->scale)->agreed)
            all = aps_prediction_add(
                all, aps_predict_agreement(machine, groups, masters));
        all = aps_prediction_add(
            all, aps_predict_lap(call, groups, masters, window, n / groups, 0));
    }
    all = aps_prediction_add(
        all,
        aps_stages_run(
            &(struct aps_stage){.work = window * (n * rates->decode +
                                                  aps_predict_memory(call, n))},
            1, 1, 0));
    all.seconds *= windows;
    return aps_prediction_add(
        aps_predict_exponents(
            call, k, k < machine->ranks_per_host ? k : machine->ranks_per_host),
        all);
}

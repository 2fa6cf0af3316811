/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "predict/stages.h"

#include <math.h>

#include "codec/workers.h"
#include "kernel/ops.h"
#include "wire/pipeline_sizes.h"
#include "wire/buffer_depth.h"

/* Seconds in which threads that spin begin a pass and the last one ends it, by
 * tests/bench/threads. */
#define PASS 2e-6

/* Size of a block's header; see pmpi/block/block.h. */
#define HEADER 4

/* Up to this number of ranks an agreement takes one round, with more log2 p
 * rounds (pmpi/message/agree.h). */
#define AGREEMENT_DIRECT 16
#define AGREEMENT_BYTES 8

static double greater(double a, double b)
{
    return a > b ? a : b;
}

/* Receives are posted first; sends follow each other while the link
 * transmits. */
static void send_by(struct aps_stage *stage, const struct aps_link *link,
                    double bytes, double count)
{
    stage->work += count * link->message / 2;
    stage->core += count * (link->message / 2 + bytes * link->byte);
    if (count > 0 && link->latency > stage->latency)
        stage->latency = link->latency;
}

void aps_stage_send(struct aps_stage *stage, const struct aps_machine *machine,
                    double bytes, double between, double inside)
{
    const int ranks = machine->ranks_per_host;

    send_by(stage, &machine->between, bytes, between);
    send_by(stage, &machine->inside, bytes, inside);
    stage->between += ranks * between * bytes / machine->between.rate;
    stage->inside += ranks * inside * bytes / machine->inside.rate;
}

static enum aps_bound bound_of(double core, double link, double latency)
{
    if (latency > core && latency > link)
        return APS_BOUND_LATENCY;
    return core > link ? APS_BOUND_CORE : APS_BOUND_LINK;
}

struct aps_prediction aps_stages_run(const struct aps_stage *stages,
                                     size_t count, double chunks, double ahead)
{
    double first = 0, core = 0, between = 0, inside = 0, latency = 0;
    double round = 0, links, rest;

    for (size_t i = 0; i < count; i++) {
        const struct aps_stage *stage = &stages[i];

        first += stage->work + stage->latency +
                 greater(stage->core, greater(stage->between, stage->inside));
        core += stage->work + stage->core;
        between += stage->between;
        inside += stage->inside;
        latency += stage->latency;
        round = greater(round, stage->latency / APS_PIPELINE_WIRE_LAG);
    }
    links = greater((chunks - 1) * between - ahead, (chunks - 1) * inside);
    rest = greater((chunks - 1) * greater(core, round), links);
    return (struct aps_prediction){
        .seconds = first + rest,
        .bound = bound_of(chunks * core, chunks * greater(between, inside),
                          latency + (chunks - 1) * round),
    };
}

struct aps_prediction aps_prediction_add(struct aps_prediction a,
                                         struct aps_prediction b)
{
    return (struct aps_prediction){
        .seconds = a.seconds + b.seconds,
        .bound = a.seconds > b.seconds ? a.bound : b.bound,
    };
}

struct aps_prediction aps_predict_agreement(const struct aps_machine *machine,
                                            int ranks, int per_host)
{
    const bool direct = ranks <= AGREEMENT_DIRECT;
    const double rounds = direct ? 1 : ceil(log2(ranks));
    const double far = ranks > per_host ? ranks - per_host : 0;
    struct aps_prediction all = {0, APS_BOUND_LATENCY};
    struct aps_stage stage = {0};

    if (ranks <= 1)
        return all;
    /* The time of a message itself is part of its latency. */
    if (direct)
        aps_stage_send(&stage, machine, AGREEMENT_BYTES, far > 0 ? far - 1 : 0,
                       far > 0 ? per_host - 1 : per_host - 2);
    stage.latency =
        far > 0 ? machine->between.latency : machine->inside.latency;
    all.seconds = rounds * aps_stages_run(&stage, 1, 1, 0).seconds;
    return all;
}

struct aps_prediction
aps_predict_exponents(const struct aps_predicted_call *call, int ranks,
                      int per_host)
{
    const struct aps_stage search = {.work = aps_predict_search(call)};
    struct aps_prediction all = {0, APS_BOUND_LATENCY};

    if (call->plan->format.self_scaled ||
        !aps_scale_ops_of(&call->plan->scale)->agreed)
        return all;
    return aps_prediction_add(
        aps_stages_run(&search, 1, 1, 0),
        aps_predict_agreement(call->machine, ranks, per_host));
}

/* Returns the threads that share a pass over n values; 1: it is not shared. */
static double threads_of(const struct aps_predicted_call *call, double n)
{
    const double parts = floor(n / (double)APS_WORKERS_PART_MIN);

    return fmax(fmin(call->threads, parts), 1);
}

struct aps_predicted_call
aps_predict_shared(const struct aps_predicted_call *call, double count,
                   double n)
{
    const bool list = count > 1 && n < (double)APS_WORKERS_PASS_MIN;
    const double together = list ? count * n : n; /* values of a pass */
    const double most = list ? count : INFINITY;
    struct aps_predicted_call shared = *call;
    struct aps_codec_rates *rates = &shared.rates;

    shared.sharing = fmin(threads_of(call, together), most);
    if (shared.sharing <= 1)
        return shared;
    rates->magnitude = rates->magnitude / shared.sharing + PASS / together;
    rates->encode = rates->encode / shared.sharing + PASS / together;
    rates->decode = rates->decode / shared.sharing + PASS / together;
    return shared;
}

double aps_predict_search(const struct aps_predicted_call *call)
{
    const double n = (double)call->count;
    const struct aps_predicted_call shared = aps_predict_shared(call, 1, n);

    return n * shared.rates.magnitude + aps_predict_memory(&shared, n);
}

double aps_predict_bytes(const struct aps_plan *plan, double n)
{
    return n * (double)aps_format_value_bytes(&plan->format);
}

double aps_predict_memory(const struct aps_predicted_call *call, double n)
{
    return aps_predict_bytes(call->plan, n) *
           aps_machine_memory(call->machine, (double)call->count) /
           fmax(call->sharing, 1);
}

double aps_predict_block(const struct aps_plan *plan, double n)
{
    return HEADER + n * aps_format_bits(&plan->format) / 8;
}

double aps_predict_owners(const struct aps_plan *plan, double n, double slices)
{
    const struct aps_codec codec = {.format = plan->format};
    const double units = ceil(n / (double)aps_codec_granule(&codec));

    return units < slices ? units : slices;
}

double aps_predict_owned(double owners, double ranks)
{
    return ranks > 1 ? (owners - 1 + ranks - 1) / (2 * (ranks - 1)) : 1;
}

double aps_predict_sum(const struct aps_predicted_call *call, double k,
                       double n)
{
    const struct aps_codec_rates *rates = &call->rates;
    const double more = k > 1 ? k - 1 : 0;
    const double threads = threads_of(call, k * n);
    double seconds = n * (rates->decode + more * rates->add);

    if (call->plan->accumulate == APS_ACCUMULATE_FORMAT)
        seconds += more * n * rates->round;
    if (call->plan->accumulate == APS_ACCUMULATE_KAHAN)
        seconds = k * n * (rates->decode + 4 * (rates->round + rates->add));
    return seconds / threads + (threads > 1 ? PASS : 0);
}

double aps_predict_others(const struct aps_machine *machine)
{
    return aps_machine_ranks(machine) - machine->ranks_per_host;
}

double aps_predict_chunks(const struct aps_predicted_call *call, double most,
                          double *elements)
{
    const double chunks = ceil((double)call->count / most);

    *elements = (double)call->count / chunks;
    return chunks;
}

double aps_predict_message(const struct aps_plan *plan, int parts)
{
    const struct aps_codec codec = {.format = plan->format};

    return (double)aps_pipeline_elements(&codec, parts);
}

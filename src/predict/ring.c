/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predicts pmpi/reduce/ring.c: some chunks at a time travel round the ring,
 * first as partial sums and then as results, in 2 (p - 1) steps.
 */
#include "config.h"

#include "predict/ring.h"

#include <math.h>

#include "kernel/ops.h"
#include "predict/stages.h"
#include "wire/pipeline_sizes.h"
#include "wire/buffer_depth.h"

static double greater(double a, double b)
{
    return a > b ? a : b;
}

/* One hop to a rank of another host, or of the same: its core and link times,
 * and the time until the message has arrived. The time of the message itself is
 * part of its latency. */
struct hop {
    double core;
    double link;
    double chain;
};

static struct hop hop_by(const struct aps_link *link, double sharing,
                         double bytes, double work)
{
    struct hop hop = {
        .core = work + link->message + bytes * link->byte,
        .link = sharing * bytes / link->rate,
    };

    hop.chain =
        work + link->latency + greater(bytes / link->rate, bytes * link->byte);
    return hop;
}

/* One round: in each of ranks - 1 steps each rank sends a message for each
 * chunk of the window. A rank continues when its message has arrived. That
 * message has passed all hops on its way, between and inside hosts; the chunks
 * of the window fill the time of a hop. */
struct way {
    double steps;
    double chain;  /* mean time of a hop */
    double pace;   /* time of a step, for all chunks */
    double behind; /* after the steps: until the last chunk's message arrives */
    enum aps_bound bound;
};

static struct way way_of(const struct aps_machine *machine, int ranks,
                         int per_host, double window, double bytes, double work)
{
    const struct hop far = hop_by(&machine->between, 1, bytes, work);
    const struct hop near = hop_by(&machine->inside, per_host - 1, bytes, work);
    const double out = ranks > per_host ? 1 : 0; /* hops between hosts exist */
    const double in = per_host > 1 ? 1 : 0;      /* hops inside hosts exist */
    const double core = greater(out * far.core, in * near.core);
    const double link = greater(out * far.link, in * near.link);
    const double outward = in == 0 ? 1 : out / per_host; /* share of hops
                                                            between hosts */
    const double chain = outward * far.chain + (1 - outward) * in * near.chain;
    const double each = greater(core, link), through = window * each;
    const bool hidden =
        through > chain; /* the latencies of all hops but the last */

    return (struct way){
        .steps = ranks - 1,
        .chain = chain,
        .pace = hidden ? through : chain,
        .behind = hidden ? greater(chain - each, 0) : (window - 1) * each,
        .bound = !hidden       ? APS_BOUND_LATENCY
                 : core > link ? APS_BOUND_CORE
                               : APS_BOUND_LINK,
    };
}

/* Results follow the partial sums chunk by chunk, at their pace; those of the
 * last chunk follow the arrival of its partial sums. */
static struct aps_prediction ways_run(const struct way *sums,
                                      const struct way *results)
{
    const double before = sums->steps * sums->pace;
    const double all = results->steps * results->pace + results->behind;
    const double last = sums->behind + results->steps * results->chain;

    return (struct aps_prediction){
        .seconds = before + greater(all, last),
        .bound = sums->pace > results->pace ? sums->bound : results->bound,
    };
}

/* Returns the machine for a lap in which each host sends `bytes` bytes after
 * the link between hosts has rested: its rate is as if the burst took no
 * time. */
static struct aps_machine rested(const struct aps_machine *machine,
                                 double bytes)
{
    const double most = 1e6; /* times the rate: practically at once */
    struct aps_machine other = *machine;

    if (bytes > 0)
        other.between.rate *= bytes > (1 + 1 / most) * other.between.burst
                                  ? bytes / (bytes - other.between.burst)
                                  : most;
    return other;
}

struct aps_prediction aps_predict_lap(const struct aps_predicted_call *call,
                                      int ranks, int per_host, double window,
                                      double slice, double rest)
{
    const struct aps_codec_rates *rates = &call->rates;
    const bool fp32 = call->plan->accumulate == APS_ACCUMULATE_FP32;
    const double copy = call->machine->copy, sum = call->machine->add;
    const double floats = aps_predict_bytes(call->plan, slice);
    const double block = aps_predict_block(call->plan, slice);
    const double add =
        (fp32 ? slice * sum + 2 * floats * copy
              : 2 * slice * rates->encode + aps_predict_sum(call, 2, slice)) +
        aps_predict_memory(call, slice);
    const double partial = fp32 ? floats : block;
    const double bytes =
        ranks > per_host ? window * (ranks - 1) * (partial + block) : 0;
    const struct aps_machine machine = rested(call->machine, bytes);
    const struct way sums =
        way_of(&machine, ranks, per_host, window, partial, add);
    const struct way results =
        way_of(&machine, ranks, per_host, window, block, 0);
    struct aps_prediction lap = ways_run(&sums, &results);

    if (rest > lap.seconds)
        lap.bound = APS_BOUND_CORE;
    lap.seconds += rest;
    /* With many laps, each takes at least the link's time for its bytes. */
    if (call->machine->between.burst > 0 &&
        lap.seconds < bytes / call->machine->between.rate)
        lap = (struct aps_prediction){bytes / call->machine->between.rate,
                                      APS_BOUND_LINK};
    return lap;
}

struct aps_prediction aps_predict_ring(const struct aps_predicted_call *call)
{
    const struct aps_machine *machine = call->machine;
    const struct aps_codec_rates *rates = &call->rates;
    const struct aps_codec codec = {.format = call->plan->format};
    const int ranks = aps_machine_ranks(machine);
    const bool fp32 = call->plan->accumulate == APS_ACCUMULATE_FP32;
    const double most =
        ranks * (double)aps_pipeline_elements_of(&codec, ranks,
                                                 fp32 ? APS_PIPELINE_FP32
                                                      : APS_PIPELINE_HOST);
    struct aps_prediction lap;
    double n, chunks, windows, window, ends;

    chunks = aps_predict_chunks(call, most, &n);
    windows = ceil(chunks / APS_RING_WINDOW);
    window = chunks / windows;
    /* The first slice of each chunk begins a sum, and the last one ends it. */
    ends = window * (n * rates->decode + n / ranks * rates->encode +
                     aps_predict_memory(call, n + n / ranks));
    if (fp32)
        ends +=
            window * aps_predict_bytes(call->plan, n / ranks) * machine->copy;
    lap = aps_predict_lap(call, ranks, machine->ranks_per_host, window,
                          n / ranks, ends);
    lap.seconds *= windows;
    return aps_prediction_add(
        aps_predict_exponents(call, ranks, machine->ranks_per_host), lap);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "predict/predict.h"

#include <math.h>
#include <stdint.h>

#include "policy/keywords.h"
#include "predict/native.h"
#include "predict/stages.h"

/* Values of a wide format are doubles, which take as long as two floats. */
static double native_seconds(const struct aps_predicted_call *call)
{
    const size_t floats = call->count *
                          aps_format_value_bytes(&call->plan->format) /
                          sizeof(float);
    const enum aps_native_kind kind =
        aps_predict_native_kind(call->machine, floats);

    return aps_predict_native(call->machine, kind, floats);
}

static aps_predict_fn predict_auto;

/* Indexed by enum aps_reduce_kind. */
static aps_predict_fn *const reductions[APS_REDUCE_KINDS] = {
    [APS_REDUCE_DIRECT] = aps_predict_direct,
    [APS_REDUCE_HIERARCHICAL] = aps_predict_hierarchical,
    [APS_REDUCE_RING] = aps_predict_ring,
    [APS_REDUCE_MASTER] = aps_predict_master,
    [APS_REDUCE_GATHER] = aps_predict_gather,
    [APS_REDUCE_AUTO] = predict_auto,
};

enum aps_reduce_kind aps_predict_taken(const struct aps_predicted_call *call)
{
    static const enum aps_reduce_kind tried[] = {
        APS_REDUCE_HIERARCHICAL, APS_REDUCE_DIRECT, APS_REDUCE_RING};
    enum aps_reduce_kind taken = call->plan->reduce;
    double least = INFINITY;

    if (taken != APS_REDUCE_AUTO)
        return taken;
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        const double seconds = reductions[tried[i]](call).seconds;

        if (seconds < least) {
            least = seconds;
            taken = tried[i];
        }
    }
    return (1 + APS_AUTO_GAIN_PERCENT * 1e-2) * least +
                       APS_AUTO_GAIN_US * 1e-6 >
                   native_seconds(call)
               ? APS_REDUCE_AUTO
               : taken;
}

static struct aps_prediction predict_auto(const struct aps_predicted_call *call)
{
    const enum aps_reduce_kind taken = aps_predict_taken(call);

    if (taken == APS_REDUCE_AUTO)
        return (struct aps_prediction){native_seconds(call), APS_BOUND_LINK};
    return reductions[taken](call);
}

struct aps_prediction aps_predict(const struct aps_predicted_call *call)
{
    return reductions[call->plan->reduce](call);
}

const char *aps_bound_name(enum aps_bound bound)
{
    static const char *const names[] = {
        [APS_BOUND_CORE] = "core",
        [APS_BOUND_LINK] = "link",
        [APS_BOUND_LATENCY] = "latency",
    };

    return names[bound];
}

/* --- groups -------------------------------------------------------------- */

bool aps_predict_takes_group(const struct aps_machine *machine,
                             const struct aps_plan *plan, int group)
{
    const int most = plan->reduce == APS_REDUCE_MASTER
                         ? aps_machine_ranks(machine)
                         : machine->ranks_per_host;

    return aps_reduce_takes(plan->reduce, APS_SETTING_GROUP) && group >= 1 &&
           group <= most && aps_machine_ranks(machine) % group == 0 &&
           (group >= machine->ranks_per_host
                ? group % machine->ranks_per_host == 0
                : machine->ranks_per_host % group == 0);
}

int aps_predict_group(const struct aps_machine *machine,
                      const struct aps_plan *plan)
{
    int group = machine->ranks_per_host;

    if (plan->group == APS_GROUP_NUMBER) {
        group = plan->group_size;
        while (group > 1 && !aps_predict_takes_group(machine, plan, group))
            group--;
    }
    return group;
}

/* --- where it pays ------------------------------------------------------- */

#define EXACT 1.01
#define COUNT_MAX 4294967296.0
#define RATE_MIN 1e6
#define RATE_MAX 1e13

static bool pays_with_count(const struct aps_predicted_call *call, double count)
{
    struct aps_predicted_call other = *call;

    other.count = (size_t)count;
    return aps_predict(&other).seconds < native_seconds(&other);
}

size_t aps_predict_least_count(const struct aps_predicted_call *call,
                               size_t most)
{
    double pays = fmin(COUNT_MAX, (double)most), not = pays;

    if (!pays_with_count(call, pays))
        return SIZE_MAX;
    /* The last change, from the greatest count down. */
    while (not >= 1 && pays_with_count(call, not )) {
        pays = not ;
        not /= 2;
    }
    if (not < 1)
        return 0;
    while (pays > EXACT * not &&pays > not +1) {
        const double middle = sqrt(pays * not );

        if (pays_with_count(call, middle))
            pays = middle;
        else
            not = middle;
    }
    return (size_t)pays;
}

static bool pays_at_rate(const struct aps_predicted_call *call, double rate)
{
    struct aps_machine machine = *call->machine;
    struct aps_predicted_call other = *call;

    aps_link_set_rate(&machine.between, rate);
    other.machine = &machine;
    return aps_predict(&other).seconds < native_seconds(&other);
}

double aps_predict_most_rate(const struct aps_predicted_call *call)
{
    double pays = RATE_MIN, not = RATE_MIN;

    if (!pays_at_rate(call, pays))
        return 0;
    while (not <= RATE_MAX && pays_at_rate(call, not )) {
        pays = not ;
        not *= 2;
    }
    if (not > RATE_MAX)
        return INFINITY;
    while (not > EXACT * pays) {
        const double middle = sqrt(pays * not );

        if (pays_at_rate(call, middle))
            pays = middle;
        else
            not = middle;
    }
    return pays;
}

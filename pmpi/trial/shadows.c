/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "trial/shadows.h"

#include <stdlib.h>

#include "base/clock.h"
#include "comm/report.h"
#include "number/bits.h"
#include "message/agree.h"

/* Part of a sample's cost that is measured. The rest is the effect on the
 * program's next steps, whose data is no longer in the caches, and the wait of
 * ranks for each other. Observed with tests/bench/shadow.sh on a shared
 * machine: 7 to 8 % in total with 5 % measured, 4 to 6 % with 3.3 %. */
#define MEASURED 0.5

struct aps_shadows *aps_shadows_create(double share)
{
    struct aps_shadows *shadows = calloc(1, sizeof *shadows);

    if (!shadows)
        return NULL;
    shadows->budget.share = MEASURED * share;
    shadows->candidates.needed = &aps_counters.shadow_bytes;
    return shadows;
}

void aps_shadows_destroy(struct aps_shadows *shadows)
{
    if (!shadows)
        return;
    aps_candidates_clear(&shadows->candidates);
    free(shadows);
}

bool aps_shadows_equip(struct aps_context *context, size_t n, size_t class,
                       long number, bool well)
{
    struct aps_shadows *shadows = context->shadows;

    if (aps_candidates_equip(context, &shadows->candidates, n, well))
        return true;
    aps_context_event_once(
        context, &shadows->lost,
        "shadow: a sample of %zu elements is lost: a rank has no memory for "
        "it, or for another copy of a nonblocking call's inputs",
        n);
    aps_sample_budget_postpone(&shadows->budget, class, number);
    return false;
}

/* Returns the bits of a nonnegative float, which as integers have the same
 * order. */
static int shadows_bits(double seconds)
{
    return (int)aps_float_bits(seconds > 0 ? (float)seconds : 0);
}

void aps_shadows_end(struct aps_context *context, size_t class, long number,
                     int64_t taken)
{
    enum { COST, ELAPSED, VALUES };
    struct aps_shadows *shadows = context->shadows;
    const int64_t elapsed = aps_clock_ns(CLOCK_MONOTONIC) - shadows->begin;
    int values[VALUES];

    /* The ranks take the MAX of the costs and the MIN of the times. */
    values[COST] = shadows_bits(1e-9 * (double)taken);
    values[ELAPSED] = -shadows_bits(1e-9 * (double)elapsed);
    (void)aps_context_fail(
        context, "shadow",
        aps_agree_max(aps_comm_resources_vcomm(context->resources), VALUES,
                      values));
    if (!aps_policy_log(context->job->policy)->stated)
        aps_sample_budget_end(&shadows->budget, class, number,
                              aps_float_from_bits((uint32_t)values[COST]),
                              aps_float_from_bits((uint32_t)-values[ELAPSED]));
}

void aps_shadows_add_copy(struct aps_shadows *shadows, size_t bytes)
{
    const unsigned long long copied =
        atomic_fetch_add(&shadows->copied, bytes) + bytes;

    if (copied > atomic_load(&aps_counters.shadow_copies))
        atomic_store(&aps_counters.shadow_copies, copied);
}

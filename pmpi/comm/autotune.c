/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "comm/autotune.h"

#include <limits.h>
#include <stdio.h>

#include "message/agree.h"
#include "wire/pipeline_sizes.h"

/* Number of trials of each algorithm. Times of short calls vary more, and their trials
 * cost less. An algorithm has TURN trials in a row, because after a call of another
 * one its code and data are no longer in the caches: MPI's broadcast of 4 KiB took 7
 * us instead of 2 when trials alternated, and 0.7 us in a loop. It has two turns at
 * least, since memory and connections are new in the first: MPICH 5's reduce-scatter
 * of 512 KiB took 158 us instead of 90. */
#define TRIALS 8
#define TRIALS_SHORT 16
#define TURN 4
#define SHORT 16 /* size class: below 64 Ki elements */

static const struct {
    const char *name;
    enum aps_reduce_kind reduce;
} candidates[APS_AUTOTUNE_ALGORITHMS] = {
    [APS_AUTOTUNE_NATIVE] = {"native", APS_REDUCE_AUTO},
    [APS_AUTOTUNE_HIERARCHICAL] = {"hierarchical", APS_REDUCE_HIERARCHICAL},
    [APS_AUTOTUNE_DIRECT] = {"direct", APS_REDUCE_DIRECT},
    [APS_AUTOTUNE_RING] = {"ring", APS_REDUCE_RING},
};

static int autotune_size_of(size_t count)
{
    int size = 0;

    while (count >>= 1)
        size++;
    return size;
}

static int autotune_find(const struct aps_autotune *choice,
                         const struct aps_plan_key *key,
                         const struct aps_plan *plan)
{
    const int size = autotune_size_of(key->count);
    const size_t granule = aps_pipeline_granule(&plan->format);

    for (int i = 0; i < choice->count; i++)
        if (choice->classes[i].rule == plan->rule &&
            choice->classes[i].call == key->call &&
            choice->classes[i].element == key->element &&
            choice->classes[i].size == size &&
            choice->classes[i].granule == granule)
            return i;
    return -1;
}

void aps_autotune_apply(const struct aps_autotune *choice,
                        const struct aps_plan_key *key, struct aps_plan *plan)
{
    const int i = autotune_find(choice, key, plan);

    if (i < 0) {
        plan->rewrite = choice->count < APS_AUTOTUNE_CLASSES;
        return;
    }
    if (!choice->classes[i].settled)
        return;
    plan->rewrite = choice->classes[i].chosen != APS_AUTOTUNE_NATIVE;
    plan->reduce = candidates[choice->classes[i].chosen].reduce;
}

/* Returns the place in `list` of the algorithm whose turn it is. Each round begins with
 * another one, so that layers in a fixed order meet different ones. */
static int autotune_place(const struct aps_autotune_class *class)
{
    const int turn = class->trials / TURN;

    return (turn + turn / class->candidates) % class->candidates;
}

/* COLLECTIVE over the resources. Prepares an algorithm; those of other calls than
 * all-reduces have been prepared. Returns 0, an MPI error code, or -1 if it cannot run
 * here. */
static int autotune_prepare(struct aps_comm_resources *resources,
                            const struct aps_plan_key *key,
                            const struct aps_plan *plan,
                            enum aps_autotune_algorithm algorithm)
{
    struct aps_plan plan_of = *plan;
    char cause[256];

    if (algorithm == APS_AUTOTUNE_NATIVE)
        return 0;
    if (key->call != APS_CALL_ALLREDUCE)
        return algorithm == APS_AUTOTUNE_DIRECT ? 0 : -1;
    plan_of.reduce = candidates[algorithm].reduce;
    return aps_reductions_prepare(aps_comm_resources_reductions(resources),
                                  &plan_of, key->count, cause, sizeof cause);
}

/* COLLECTIVE over the resources. Lists the algorithms that can run on them.
 * Returns an MPI error code. */
static int autotune_list_candidates(struct aps_autotune_class *class,
                                    struct aps_comm_resources *resources,
                                    const struct aps_plan_key *key,
                                    const struct aps_plan *plan)
{
    for (int i = 0; i < APS_AUTOTUNE_ALGORITHMS; i++) {
        const int rc = autotune_prepare(resources, key, plan,
                                        (enum aps_autotune_algorithm)i);

        if (rc > 0)
            return rc;
        if (rc < 0)
            continue;
        class->best[class->candidates] = INT_MAX;
        class->list[class->candidates++] = (enum aps_autotune_algorithm)i;
    }
    return MPI_SUCCESS;
}

struct aps_autotune_class *aps_autotune_begin(
    struct aps_autotune *choice, struct aps_comm_resources *resources,
    const struct aps_plan_key *key, struct aps_plan *plan, int *rc)
{
    const int i = autotune_find(choice, key, plan);
    struct aps_autotune_class *class;

    *rc = MPI_SUCCESS;
    if (i < 0 && choice->count == APS_AUTOTUNE_CLASSES)
        return NULL;
    class = &choice->classes[i < 0 ? choice->count++ : i];
    if (i < 0) {
        class->rule = plan->rule;
        class->call = key->call;
        class->element = key->element;
        class->size = autotune_size_of(key->count);
        class->granule = aps_pipeline_granule(&plan->format);
        *rc = autotune_list_candidates(class, resources, key, plan);
    }
    plan->reduce = candidates[class->list[autotune_place(class)]].reduce;
    return class;
}

/* Returns the index in `list` of the fastest algorithm by the agreed times. */
static int autotune_fastest(const struct aps_autotune_class *class)
{
    int fastest = 0;

    for (int i = 1; i < class->candidates; i++)
        if (class->best[i] < class->best[fastest])
            fastest = i;
    return fastest;
}

/* Chooses an algorithm by the agreed times. */
static void autotune_settle(struct aps_autotune_class *class)
{
    const int fastest = autotune_fastest(class);
    const bool gains = (100LL + APS_AUTO_GAIN_PERCENT) * class->best[fastest] +
                           1000LL * APS_AUTO_GAIN_US <=
                       100LL * class->best[0];

    class->chosen = gains ? class->list[fastest] : APS_AUTOTUNE_NATIVE;
    class->settled = true;
}

static void autotune_tell(const struct aps_autotune_class *class, char *text,
                          size_t size)
{
    size_t used;

    used = (size_t)snprintf(
        text, size, "auto: %s%s%zu to %zu elements: %s (",
        class->call == APS_CALL_ALLREDUCE ? "" : aps_call_name(class->call),
        class->call == APS_CALL_ALLREDUCE ? "" : ", ", (size_t)1 << class->size,
        ((size_t)2 << class->size) - 1, candidates[class->chosen].name);
    for (int i = 0; i < class->candidates && used < size; i++) {
        const char *name = candidates[class->list[i]].name;
        const char *comma = i > 0 ? ", " : "";

        used +=
            (size_t)(class->best[i] == INT_MAX
                         ? snprintf(text + used, size - used, "%s%s refused",
                                    comma, name)
                         : snprintf(text + used, size - used, "%s%s %d.%d us",
                                    comma, name, class->best[i] / 10,
                                    class->best[i] % 10));
    }
    if (used >= size)
        return;
    if (class->chosen == APS_AUTOTUNE_NATIVE && autotune_fastest(class) > 0)
        snprintf(text + used, size - used,
                 "); a reduction must save %d %% of its own time and %d us",
                 APS_AUTO_GAIN_PERCENT, APS_AUTO_GAIN_US);
    else
        snprintf(text + used, size - used, ")");
}

bool aps_autotune_end(struct aps_autotune_class *class,
                      struct aps_comm_resources *resources, int64_t nanoseconds,
                      char *text, size_t size, int *rc)
{
    const int64_t tenths = nanoseconds / 100;
    const int taken = tenths < INT_MAX ? (int)tenths : INT_MAX;
    const int place = autotune_place(class);

    *rc = MPI_SUCCESS;
    if (taken < class->best[place])
        class->best[place] = taken;
    if (++class->trials <
        (class->size < SHORT ? TRIALS_SHORT : TRIALS) * class->candidates)
        return false;
    *rc = aps_agree_max(aps_comm_resources_vcomm(resources), class->candidates,
                        class->best);
    if (*rc != MPI_SUCCESS)
        return false;
    autotune_settle(class);
    autotune_tell(class, text, size);
    return true;
}

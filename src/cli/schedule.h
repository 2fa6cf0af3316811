/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A policy resolved in full: which rule the all-reduce of every layer of the
 * table gets, and when. Time is cut into spans within which nothing changes.
 */
#ifndef APS_COMMAND_SCHEDULE_H
#define APS_COMMAND_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "policy/policy.h"
#include "text/ranges.h"

struct aps_schedule {
    bool by_step; /* spans are steps of the whole run; otherwise epochs */
    size_t span_count;
    struct aps_range *spans; /* one after the other, the last without end */
    size_t layer_count;
    int *rules; /* layer by layer, span by span; -1: none */
};

/* Of a policy with a layer table. */
struct aps_schedule *aps_schedule_create(const struct aps_policy *policy);
void aps_schedule_destroy(struct aps_schedule *schedule);

/* The rules of one layer, one a span. */
const int *aps_schedule_layer(const struct aps_schedule *schedule,
                              size_t layer);

/* Does the layer get the rule (-1: none) at some time? Layers of fewer than min_count
 * elements get none. */
bool aps_schedule_gives(const struct aps_schedule *schedule,
                        const struct aps_policy *policy, size_t layer,
                        int rule);

/* The elements of the longest layer that gets, at some time, a rule that is asked for
 * (-1: none); 0: there is no such layer, or schedule is NULL. */
size_t aps_schedule_longest(const struct aps_schedule *schedule,
                            const struct aps_policy *policy,
                            bool (*asked)(const struct aps_policy *policy,
                                          int rule));

/*
 * The spans that the epochs `epochs` touch, as indices in *window; the first and
 * the last of them are cut to the epochs. -1 if spans are steps and the policy
 * does not say how many make an epoch.
 */
int aps_schedule_clip(struct aps_schedule *schedule,
                      const struct aps_policy *policy, struct aps_range epochs,
                      struct aps_range *window);

/* Add a warning for each rule that no layer ever gets, or whose compressor takes none
 * of its layers; `path` is the policy's, for the message. */
void aps_schedule_warn(const struct aps_schedule *schedule,
                       const struct aps_policy *policy, const char *path,
                       struct aps_errors *errors);

#endif

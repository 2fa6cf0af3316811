/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A policy resolved in full: the rule of each layer of the table over time.
 * Time is cut into spans within which no plan changes.
 */
#ifndef APS_COMMAND_SCHEDULE_H
#define APS_COMMAND_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "policy/policy.h"
#include "text/ranges.h"

struct aps_schedule {
    bool by_step; /* spans are steps of the whole run; otherwise they are
                     epochs */
    size_t span_count;
    struct aps_range *spans; /* consecutive, the last without end */
    size_t layer_count;
    int *rules; /* all spans of layer 0, then of layer 1 ...; -1: none */
};

/* Creates the schedule of a policy with a layer table. */
struct aps_schedule *aps_schedule_create(const struct aps_policy *policy);
void aps_schedule_destroy(struct aps_schedule *schedule);

/* Returns the rules of one layer, one for each span. */
const int *aps_schedule_layer(const struct aps_schedule *schedule,
                              size_t layer);

/* True if the layer has the rule (-1: none) at some time. Layers of fewer than
 * min_count elements have none. */
bool aps_schedule_gives(const struct aps_schedule *schedule,
                        const struct aps_policy *policy, size_t layer,
                        int rule);

/* Returns the elements of the longest layer that has, at some time, a rule
 * for which `asked` is true (-1: no rule); 0 if there is none, or schedule
 * is NULL. */
size_t aps_schedule_longest(const struct aps_schedule *schedule,
                            const struct aps_policy *policy,
                            bool (*asked)(const struct aps_policy *policy,
                                          int rule));

/*
 * Sets *window to the indices of the spans that the epochs `epochs` touch, and
 * cuts the first and the last span to the epochs. Returns -1 if spans are steps
 * and the policy does not state the steps of an epoch.
 */
int aps_schedule_clip(struct aps_schedule *schedule,
                      const struct aps_policy *policy, struct aps_range epochs,
                      struct aps_range *window);

/* Adds a warning for each rule that no layer ever has, or whose compressor
 * takes none of its layers. `path` is that of the policy, for the message. */
void aps_schedule_warn(const struct aps_schedule *schedule,
                       const struct aps_policy *policy, const char *path,
                       struct aps_errors *errors);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times as text, after the explanation of a policy: a table with a row for each
 * layer, or for each count without a layer table, and the advice of
 * predictions_advice.h.
 */
#ifndef APS_PREDICTIONS_PREDICTIONS_TEXT_H
#define APS_PREDICTIONS_PREDICTIONS_TEXT_H

#include "cli/schedule.h"
#include "policy/policy.h"
#include "predictions/cluster.h"

/* Prints the times. `schedule` is NULL without a layer table. */
void aps_predictions_print(struct aps_cluster *cluster,
                           const struct aps_policy *policy,
                           const struct aps_schedule *schedule,
                           const struct aps_range *window, bool each_layer);

#endif

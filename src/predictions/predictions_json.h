/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The times as a member of the JSON object of `apsmpi explain --json`, which
 * apsmpi(1) describes.
 */
#ifndef APS_PREDICTIONS_PREDICTIONS_JSON_H
#define APS_PREDICTIONS_PREDICTIONS_JSON_H

#include "base/json.h"
#include "cli/schedule.h"
#include "policy/policy.h"
#include "predictions/cluster.h"

/* Writes the members first and last; last is null if the range has no end. */
void aps_predictions_write_range(struct aps_json *json,
                                 const struct aps_range *range);

/* Writes the member `prediction`. */
void aps_predictions_write(struct aps_json *json, struct aps_cluster *cluster,
                           const struct aps_policy *policy,
                           const struct aps_schedule *schedule,
                           const struct aps_range *window);

#endif

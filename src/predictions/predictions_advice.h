/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Advice on the rules of a policy, after their times. struct aps_advice in
 * predictions.h has its numbers.
 */
#ifndef APS_PREDICTIONS_PREDICTIONS_ADVICE_H
#define APS_PREDICTIONS_PREDICTIONS_ADVICE_H

#include "cli/schedule.h"
#include "policy/policy.h"
#include "predictions/cluster.h"

/* Prints a paragraph for each rule, or for each format that it chooses from:
 * the counts for which it is faster than native, its groups and its sums. */
void aps_predictions_print_advice(struct aps_cluster *cluster,
                                  const struct aps_policy *policy,
                                  const struct aps_schedule *schedule,
                                  long span);

#endif

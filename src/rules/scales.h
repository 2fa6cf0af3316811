/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scale of a rule: the key `scale`, and what scales with a state ask of the
 * rest of the policy.
 */
#ifndef APS_RULES_SCALES_H
#define APS_RULES_SCALES_H

#include "rules/rule_keys.h"

/* Read the value of the rule's key `scale`; the plan has its format. Doubts
 * about the two are warnings. 0, or -1 with the errors reported. */
int aps_scales_read(const struct aps_rule_keys *rule, struct aps_plan *plan);

/* Warn, at the node, of a doubt about the plan's scale and format. */
void aps_scales_warn(const struct aps_rule_keys *rule,
                     const struct aps_yaml_node *at,
                     const struct aps_plan *plan);

#endif

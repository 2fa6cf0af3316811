/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scale of a rule: the key `scale`, and the conditions of scales with a state
 * on the rest of the policy.
 */
#ifndef APS_RULES_SCALES_H
#define APS_RULES_SCALES_H

#include "rules/rule_keys.h"

/* Reads the value of the rule's key `scale`; the plan has its format. Warns of
 * a scale that does not suit the format. Returns 0, or -1 after errors were
 * reported. */
int aps_scales_read(const struct aps_rule_keys *rule, struct aps_plan *plan);

/* Warns, at the node, if the plan's scale does not suit its format. */
void aps_scales_warn(const struct aps_rule_keys *rule,
                     const struct aps_yaml_node *at,
                     const struct aps_plan *plan);

#endif

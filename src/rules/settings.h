/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings of a rule (format, scale, reduce and so on), and their
 * contradictions.
 */
#ifndef APS_RULES_SETTINGS_H
#define APS_RULES_SETTINGS_H

#include "rules/rule_keys.h"

/* Sets all of the plan but the rule's number. Reports errors. */
void aps_settings_read(const struct aps_rule_keys *rule, struct aps_plan *plan);

/* Reports the setting `name` at a key if no call of the rule is in `takers` (1
 * << enum aps_call_kind). */
void aps_settings_check_calls(const struct aps_rule_keys *rule,
                              const struct aps_yaml_node *at, const char *name,
                              unsigned takers);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The settings of a rule, format, scale, reduce and so on, to its plan; and
 * which of them contradict each other.
 */
#ifndef APS_POLICY_SETTINGS_H
#define APS_POLICY_SETTINGS_H

#include "policy/policy.h"
#include "policy/value.h"

/* The keys of a rule. */
enum aps_rule_key {
    APS_RULE_NAME,
    APS_RULE_CALLS,
    APS_RULE_LAYERS,
    APS_RULE_EPOCHS,
    APS_RULE_STEPS,
    APS_RULE_MIN_COUNT,
    APS_RULE_MAX_COUNT,
    APS_RULE_FORMAT,
    APS_RULE_SCALE,
    APS_RULE_APS,
    APS_RULE_REDUCE,
    APS_RULE_GROUP,
    APS_RULE_NODE,
    APS_RULE_ACCUMULATE,
    APS_RULE_ROUNDING,
    APS_RULE_KEYS
};

struct aps_rule_context; /* rule.h */
struct aps_rule;

/* A rule whose keys are sorted: keys[i], or NULL where it is missing. */
struct aps_rule_keys {
    const struct aps_reader *reader;
    const struct aps_yaml_node *node;
    const struct aps_yaml_node *keys[APS_RULE_KEYS];
    const struct aps_rule_context *context;
    const struct aps_rule *rule; /* whose conditions have been read */
    unsigned calls; /* that the rule is for; 0: the key `calls` is wrong */
};

/* Fill in all of the plan but the rule's number; errors are reported. */
void aps_settings_read(const struct aps_rule_keys *rule, struct aps_plan *plan);

/* Report the setting `name` at a key if no call of the rule is among `takers`
 * (1 << enum aps_call_kind). */
void aps_settings_check_calls(const struct aps_rule_keys *rule,
                              const struct aps_yaml_node *at, const char *name,
                              unsigned takers);

#endif

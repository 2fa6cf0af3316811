/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rule of a policy, and its keys during parsing.
 */
#ifndef APS_RULES_RULE_KEYS_H
#define APS_RULES_RULE_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/policy.h"
#include "text/ranges.h"
#include "rules/select.h"
#include "yaml/value.h"

struct aps_rule {
    int line, column;
    char *name;     /* owned; NULL: none */
    unsigned calls; /* 1 << enum aps_call_kind for each kind; 0: the key is
                       wrong */
    unsigned types; /* 1 << enum aps_element for each type of elements */
    /* the rule has such a condition */
    bool by_communicator, by_layer, by_epoch, by_step;
    struct aps_ranges communicators; /* their numbers of ranks */
    struct aps_selection layers;
    struct aps_ranges epochs;
    struct aps_ranges steps;
    size_t min_count; /* 0: no such condition */
    size_t max_count; /* SIZE_MAX: no such condition */
    struct aps_plan plan;
    struct aps_shadow shadow; /* its plans are owned */
    struct aps_auto_format
        auto_format; /* if plan.auto_format is set, that points here */
};

/* True if only calls, layers and counts are conditions of the rule for the types of
 * gradients. */
static inline bool aps_rule_always_holds(const struct aps_rule *rule)
{
    return !rule->by_communicator && !rule->by_epoch && !rule->by_step &&
           (rule->types & APS_ELEMENTS_DEFAULT) == APS_ELEMENTS_DEFAULT;
}

/* Settings of the policy on which a rule depends. */
struct aps_rule_context {
    struct aps_step_layers layers;
    bool per_epoch;   /* the policy has steps: {per_epoch: N} */
    bool knows_steps; /* the library will know where a step ends */
    size_t min_count; /* the policy's */
    const struct aps_policy_log *log; /* the policy's */
    const struct aps_rule
        *rules; /* the policy's; earlier rules have been read */
    /* Candidates of all rules, and of layers that no rule matches; key NULL:
     * none. */
    struct {
        struct aps_reader reader;
        const struct aps_yaml_node *key;
        const struct aps_shadow *read; /* without the settings of rules */
    } shadow;
};

struct aps_grammar; /* grammar/grammar.h */

/* Keys of a rule. */
enum aps_rule_key {
    APS_RULE_NAME,
    APS_RULE_CALLS,
    APS_RULE_TYPES,
    APS_RULE_COMMUNICATORS,
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
    APS_RULE_COMPRESS,
    APS_RULE_FEEDBACK,
    APS_RULE_SHADOW,
    APS_RULE_KEYS
};

/* A rule with sorted keys: keys[i], or NULL if it is missing. */
struct aps_rule_keys {
    const struct aps_reader *reader;
    const struct aps_yaml_node *node;
    const struct aps_yaml_node *keys[APS_RULE_KEYS];
    const struct aps_rule_context *context;
    const struct aps_rule *rule;       /* its conditions have been read */
    const struct aps_grammar *formats; /* names of formats; wide ones or not */
    unsigned calls; /* calls that the rule is for; 0: the key `calls` is
                       wrong */
};

#endif

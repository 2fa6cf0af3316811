/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rule of a policy: conditions, and the plan where they all hold.
 */
#ifndef APS_POLICY_RULE_H
#define APS_POLICY_RULE_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/policy.h"
#include "policy/ranges.h"
#include "policy/select.h"
#include "policy/value.h"

struct aps_rule {
    int line, column;
    char *name;     /* owned; NULL: none */
    unsigned calls; /* 1 << enum aps_call_kind, of those it is for; 0: the key
                       is wrong */
    bool by_layer, by_epoch, by_step; /* is there such a condition? */
    struct aps_selection layers;
    struct aps_ranges epochs;
    struct aps_ranges steps;
    size_t min_count; /* 0: no such condition */
    size_t max_count; /* SIZE_MAX: no such condition */
    struct aps_plan plan;
};

/* What the rest of the policy says and a rule depends on. */
struct aps_rule_context {
    struct aps_step_layers layers;
    bool per_epoch;   /* steps: {per_epoch: N} is given */
    bool knows_steps; /* the library will see where a step ends */
    size_t min_count; /* of the policy */
    const struct aps_rule
        *rules; /* of the policy: those before have been read */
};

/*
 * Read a rule from its node. `rule` starts as {0}; index is its place in the
 * list. 0 or -1 with errors reported; aps_rule_clear is due in either case.
 */
int aps_rule_read(const struct aps_reader *reader,
                  const struct aps_rule_context *context,
                  const struct aps_yaml_node *node, int index,
                  struct aps_rule *rule);
void aps_rule_clear(struct aps_rule *rule);

bool aps_rule_matches(const struct aps_rule *rule,
                      const struct aps_plan_key *place);

/* Of the calls that it is for, as bits too: those that it always matches if
 * they have at least min_count elements. */
unsigned aps_rule_matches_all(const struct aps_rule *rule, size_t min_count);

#endif

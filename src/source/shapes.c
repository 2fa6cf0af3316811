/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "source/shapes.h"

#include "base/plural.h"
#include "rules/rule.h"
#include "source/object.h"

/* Returns the number of layers of the table without a shape that the rule's
 * compressor takes in the first step. */
static size_t count_shapeless(const struct aps_policy *policy, int rule)
{
    size_t shapeless = 0;

    for (size_t i = 0; i < policy->layers->count; i++) {
        const struct aps_plan_key place = aps_plan_key_of(policy->layers, i);
        struct aps_plan plan;

        aps_policy_resolve(policy, &place, &plan);
        shapeless += plan.rule == rule &&
                     policy->layers->list[i].dimensions == 0 &&
                     aps_plan_compresses(&plan);
    }
    return shapeless;
}

void aps_shapes_check(const struct aps_policy *policy, const char *path,
                      struct aps_errors *errors)
{
    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct aps_rule *rule = &policy->rules[i];
        const char *name = aps_compressor_name(&rule->plan.compressor);
        size_t shapeless;

        if (!rule->plan.rewrite ||
            !aps_compressor_ops_of(&rule->plan.compressor)->keeps)
            continue;
        if (!policy->layers) {
            aps_errors_warn(
                errors, path, rule->line, rule->column,
                "compress: %s takes every layer as a square matrix, because "
                "the "
                "policy has no layer table, and loses accuracy by it; name a "
                "'table' with shapes, which apsmpi-layers writes",
                name);
            continue;
        }
        shapeless = count_shapeless(policy, (int)i);
        if (shapeless > 0)
            aps_errors_warn(
                errors, path, rule->line, rule->column,
                "compress: %s takes %zu layer%s without a shape in the layer "
                "table as square matrices, and loses accuracy by it; add the "
                "shapes, which apsmpi-layers writes",
                name, shapeless, aps_plural(shapeless));
    }
}

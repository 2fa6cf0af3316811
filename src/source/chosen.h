/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policy at the end of a run: the policy of the run, in which the chosen
 * formats of its layers replace `{auto: ...}`.
 */
#ifndef APS_SOURCE_CHOSEN_H
#define APS_SOURCE_CHOSEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "policy/policy.h"

/* Chosen format of one layer. */
struct aps_chosen_layer {
    int rule;
    long layer; /* -1: no step is known, and layers are keyed by count */
    size_t count;
    const char *name; /* name in the layer table, or NULL */
    int chosen;       /* index in plan->auto_format of the rule; -1: FP32 */
    double error;     /* in the target's measure, at the last measurement; not
                         set for FP32 */
    unsigned long long wire_bytes, fp32_bytes; /* at the last measurement */
};

/* Returns "e4m3", "fp32". */
const char *aps_chosen_layer_format(const struct aps_policy *policy,
                                    const struct aps_chosen_layer *layer);

/*
 * Writes the policy to `stream`, as YAML with comments. `policy` was parsed
 * from `source`. layers[count] are sorted by rule, layer and count, without
 * duplicates. Rules without a layer stay as they are. `table` replaces the name
 * of the layer table (NULL: there is no table). `any`: the layers have numbers
 * by size, because the order of their calls was found to change. Returns 0, or
 * -1 if memory is missing or the stream failed.
 */
int aps_chosen_write(FILE *stream, const struct aps_policy_source *source,
                     const struct aps_policy *policy, const char *table,
                     bool any, const struct aps_chosen_layer layers[],
                     size_t count);

#endif

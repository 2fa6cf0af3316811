/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The policy that a run ends with: its own, with the formats in place of `{auto: ...}`
 * that its layers have got while it ran.
 */
#ifndef APS_SOURCE_CHOSEN_H
#define APS_SOURCE_CHOSEN_H

#include <stddef.h>
#include <stdio.h>

#include "policy/policy.h"

/* What a layer has got. */
struct aps_chosen_layer {
    int rule;
    long layer; /* -1: of no step; then layers are told apart by counts */
    size_t count;
    const char *name; /* of the layer table, or NULL */
    int chosen;       /* of the rule's plan->auto_format; -1: FP32 */
    double error;     /* the target's, when it was measured last; not of FP32 */
    unsigned long long wire_bytes, fp32_bytes; /* then */
};

/* "e4m3", "fp32". */
const char *aps_chosen_layer_format(const struct aps_policy *policy,
                                    const struct aps_chosen_layer *layer);

/*
 * Write it to `stream`, as YAML with comments: `source` is the text that `policy` was
 * parsed from; layers[count] are sorted by rule, layer and count, each there once.
 * Rules of which no layer has been met stay as they are. A layer table is named by
 * `table`, whatever the source calls it (NULL: there is none). 0, or -1: out of memory,
 * or the stream has failed.
 */
int aps_chosen_write(FILE *stream, const struct aps_policy_source *source,
                     const struct aps_policy *policy, const char *table,
                     const struct aps_chosen_layer layers[], size_t count);

#endif

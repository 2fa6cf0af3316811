/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks send under a plan, for `apsmpi explain`.
 */
#ifndef APS_EXPLAIN_TRAFFIC_H
#define APS_EXPLAIN_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "policy/policy.h"

/* The functions take NULL for calls that are left to MPI because no rule
 * matches. */

/* Bytes of an element as sent: the mean of its ways to the sum and back. */
double aps_traffic_per_element(const struct aps_plan *plan);

/* The same for `count` elements, packed, rounded up, of a plan that does not
 * compress them. */
size_t aps_traffic_bytes(const struct aps_plan *plan, size_t count);

/* The same of what travels for a layer of the table under a rule (-1: none), and
 * of its values in FP32. */
size_t aps_traffic_layer(const struct aps_policy *policy, int rule,
                         size_t layer);
size_t aps_traffic_layer_fp32(const struct aps_policy *policy, size_t layer);

/* The same of those layers from `first` to `last` that have min_count elements,
 * `count` together. */
size_t aps_traffic_layers(const struct aps_policy *policy, int rule,
                          size_t first, size_t last, size_t count);

/* The same of what a plan's compressor sends for a layer that it takes; sums of
 * integers and of selected elements, which grow with the ranks, are those of so
 * many. */
#define APS_TRAFFIC_RANKS 8
size_t aps_traffic_compressed(const struct aps_plan *plan,
                              const struct aps_matrix *matrix);

/*
 * What the columns of a table do not show of the rules i with shown[i]: what
 * their reductions send in which width. Prints an empty line and a paragraph
 * for each kind of plan that deserves one, or nothing.
 */
void aps_traffic_notes(const struct aps_policy *policy, const bool *shown,
                       FILE *stream);

#endif

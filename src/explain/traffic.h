/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes that ranks send under a plan, for `apsmpi explain`.
 */
#ifndef APS_EXPLAIN_TRAFFIC_H
#define APS_EXPLAIN_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/policy.h"

/* A plan of NULL is that of calls without a rule, which go to MPI. */

/* Returns the bytes sent for an element of that type: the mean of its way to the sum
 * and the way back. */
double aps_traffic_per_element(const struct aps_plan *plan,
                               enum aps_element element);

/* Returns the bytes sent for `count` packed elements of that type, rounded up, under a
 * plan without a compressor. */
size_t aps_traffic_bytes(const struct aps_plan *plan, enum aps_element element,
                         size_t count);

/* Return the bytes sent for a layer of the table under a rule (-1: none), and
 * the bytes of its values in the program's type. */
size_t aps_traffic_layer(const struct aps_policy *policy, int rule,
                         size_t layer);
size_t aps_traffic_layer_native(const struct aps_policy *policy, size_t layer);

/* Returns the bytes sent for the layers from `first` to `last` with at least
 * min_count elements. */
size_t aps_traffic_layers(const struct aps_policy *policy, int rule,
                          size_t first, size_t last);

/* Returns the bytes that a plan's compressor sends for a layer that it takes.
 * Sums of integers and of selected elements grow with the ranks, and are those
 * of this number of ranks. */
#define APS_TRAFFIC_RANKS 8
size_t aps_traffic_compressed(const struct aps_plan *plan,
                              const struct aps_matrix *matrix);

#endif

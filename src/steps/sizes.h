/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layers of a step whose calls come in any order, found by their sizes.
 *
 * A call belongs to the first layer of its size that has not come in the step.
 * Layers of one size are therefore told apart only as long as the program keeps
 * their order among themselves; their sizes give no other distinction.
 */
#ifndef APS_STEPS_SIZES_H
#define APS_STEPS_SIZES_H

#include <stdbool.h>
#include <stddef.h>

struct aps_sizes; /* opaque */

/* Creates a step without layers, for `most` of them. Returns NULL with errno
 * ENOMEM. */
struct aps_sizes *aps_sizes_create(size_t most);
void aps_sizes_destroy(struct aps_sizes *sizes); /* NULL is allowed */

/* Replaces all layers by `layers` of them, the i-th of which has counts[i]
 * elements, and begins a step. */
void aps_sizes_set(struct aps_sizes *sizes, const size_t *counts,
                   size_t layers);

/* Sorts `layers` counts, the largest first. */
void aps_sizes_sort(size_t *counts, size_t layers);

/* Begins a step: no layer has come. */
void aps_sizes_begin(struct aps_sizes *sizes);

/* True if a layer has `count` elements. */
bool aps_sizes_has(const struct aps_sizes *sizes, size_t count);

/* Returns the layer of a call of `count` elements, or -1 if all layers of that
 * size have come, or if there is none. */
long aps_sizes_take(struct aps_sizes *sizes, size_t count);

#endif

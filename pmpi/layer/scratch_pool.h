/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pool of float arrays. A call writes a layer's new error memory into an array
 * of the pool and, if it succeeds, swaps that array with the layer's old one.
 * Nothing is copied, and after an error the old one is unchanged. Layers of the
 * same length use the same array one after the other.
 */
#ifndef APS_PMPI_LAYER_SCRATCH_POOL_H
#define APS_PMPI_LAYER_SCRATCH_POOL_H

#include <stdbool.h>
#include <stddef.h>

struct aps_scratch_array {
    struct aps_scratch_array *next;
    size_t count;
    float *floats; /* [count], from malloc; may be swapped with an array of the
                      same length */
    bool in_use;   /* true until the borrower clears it */
};

/* Local. Lends an array of `count` floats of any value. Returns NULL if memory
 * is missing. */
struct aps_scratch_array *
aps_scratch_pool_take(struct aps_scratch_array **spares, size_t count);

/* Local. Frees all arrays, those in use, too. */
void aps_scratch_pool_clear(struct aps_scratch_array **spares);

#endif

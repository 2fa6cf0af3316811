/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays of floats that are in_use for a call. A call writes what a layer is to
 * remember into a spare array, and in the end the layer takes that one and leaves
 * its old one in exchange: nothing is copied, and after an error the old one is as
 * it was. Layers of one length take turns with one spare array.
 */
#ifndef APS_PMPI_COMM_SCRATCH_POOL_H
#define APS_PMPI_COMM_SCRATCH_POOL_H

#include <stdbool.h>
#include <stddef.h>

struct aps_scratch_array {
    struct aps_scratch_array *next;
    size_t count;
    float *floats; /* [count], from malloc; may be exchanged for as many */
    bool in_use;   /* until the borrower clears it */
};

/* Lends an array of `count` floats of any value. Returns NULL if out of memory. */
struct aps_scratch_array *
aps_scratch_pool_take(struct aps_scratch_array **spares, size_t count);

/* Free all, in_use ones, too. */
void aps_scratch_pool_clear(struct aps_scratch_array **spares);

#endif

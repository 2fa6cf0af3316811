/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays of floats that are lent for a call. A call writes what a layer is to
 * remember into a spare array, and in the end the layer takes that one and leaves
 * its old one in exchange: nothing is copied, and after an error the old one is as
 * it was. Layers of one length take turns with one spare array.
 */
#ifndef APS_PMPI_COMM_SPARES_H
#define APS_PMPI_COMM_SPARES_H

#include <stdbool.h>
#include <stddef.h>

struct aps_spare {
    struct aps_spare *next;
    size_t count;
    float *floats; /* [count], from malloc; may be exchanged for as many */
    bool lent;     /* until the borrower clears it */
};

/* Lends an array of `count` floats of any value. Returns NULL if out of memory. */
struct aps_spare *aps_spares_lend(struct aps_spare **spares, size_t count);

/* Free all, lent ones, too. */
void aps_spares_clear(struct aps_spare **spares);

#endif

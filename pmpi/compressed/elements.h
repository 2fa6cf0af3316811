/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Some elements of a slice of a layer on the wire: a section whose length follows
 * from what it holds. It has a header of 8 bytes, indices (compress/indices.h) and
 * a block of the values, which begin at multiples of 4. Where all values of the
 * slice are fewer bytes than some with their indices, all are sent, without
 * indices.
 */
#ifndef APS_PMPI_COMPRESSED_ELEMENTS_H
#define APS_PMPI_COMPRESSED_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block/block.h"

/* Elements of a slice: of a layer's elements `slice.begin` on. */
struct aps_elements {
    struct aps_slice slice;
    uint32_t *indices; /* [slice.length]: in the layer, ascending */
    float *values;     /* [slice.length] */
    size_t count;      /* slice.length at most; 0 where they are bad: */
    bool bad;          /* something is not finite; or it was no section */
};

/* The wire of a layer's values in the plan's format, or in full floats. */
void aps_elements_wire(const struct aps_plan *plan, bool full,
                       struct aps_wire *wire);

/* Bytes of a section, at most, of up to k elements of a slice of n. */
size_t aps_elements_max(const struct aps_wire *wire, size_t k, size_t n);

/* Those of k ascending indices of a layer that lie in the slice, with their values
 * in x, which is the layer's from element `base` on: to `elements`, whose slice is
 * given. */
void aps_elements_gather(const uint32_t *indices, size_t k, const float *x,
                         size_t base, struct aps_elements *elements);

/* Elements of the slice that are not 0, of x[slice.length]. */
void aps_elements_find(const float *x, struct aps_elements *elements);

/*
 * A section to `to`; returns its bytes. All elements of the slice are added, as
 * zeros, where that makes it shorter. What is bad says so to all who decode it. Random
 * bits depend on the key of `block` and are those from the slice's begin on.
 */
size_t aps_elements_encode(const struct aps_wire *wire, struct aps_block block,
                           struct aps_elements *elements, struct aps_cost *cost,
                           unsigned char *to);

/*
 * The inverse, of a section that begins within `room` bytes: what there is of
 * them; returns its bytes. Something that is no section is bad and takes up the
 * room. A section whose indices cannot be decoded is bad, too, but takes up its own
 * bytes; aps_elements_skip does not find it.
 */
size_t aps_elements_decode(const struct aps_wire *wire,
                           const unsigned char *from, size_t room,
                           struct aps_elements *elements);

/* The bytes alone, and whether it is bad. */
size_t aps_elements_skip(const struct aps_wire *wire, const unsigned char *from,
                         size_t room, struct aps_slice slice, bool *bad);

/* sum[slice.length] += the elements. */
void aps_elements_add(const struct aps_elements *elements, float *sum);

#endif

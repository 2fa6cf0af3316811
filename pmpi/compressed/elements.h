/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Some elements of a slice of a layer in a message: a section whose length
 * depends on its content. It has a header of 8 bytes, indices
 * (compress/indices.h) and a block of the values; each part begins at a
 * multiple of 4. If all values of the slice take fewer bytes than some values
 * with indices, all values are sent, without indices.
 */
#ifndef APS_PMPI_COMPRESSED_ELEMENTS_H
#define APS_PMPI_COMPRESSED_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block/block.h"

/* Elements of a slice, which begins at element `slice.begin` of a layer. */
struct aps_elements {
    struct aps_slice slice;
    uint32_t *indices; /* [slice.length]: indices in the layer, ascending */
    float *values;     /* [slice.length] */
    size_t count;      /* at most slice.length; 0 if `bad` */
    bool bad;          /* some value is not finite, or the section is damaged */
    bool damaged;      /* no rank has encoded the section so; stays set */
};

/* Sets up the wire of a layer's values: in the plan's format, or in FP32 if
 * `full`. */
void aps_elements_wire(const struct aps_plan *plan, bool full,
                       struct aps_wire *wire);

/* Returns the most bytes of a section of up to k elements of a slice of n. */
size_t aps_elements_max(const struct aps_wire *wire, size_t k, size_t n);

/* Writes to `elements`, whose slice the caller has set, the elements that lie
 * in the slice, from k ascending indices of the layer, whose values are x. */
void aps_elements_gather(const uint32_t *indices, size_t k, const float *x,
                         struct aps_elements *elements);

/* Writes to `elements` the elements of x[slice.length] that are not 0. */
void aps_elements_find(const float *x, struct aps_elements *elements);

/*
 * Writes a section to `to` and returns its bytes. Adds all elements of the
 * slice, as zeros, if that makes the section shorter. Bad elements are marked
 * for all ranks that decode the section. Random bits depend on the key of
 * `block`, and are drawn from the start of the slice on.
 */
size_t aps_elements_encode(const struct aps_wire *wire, struct aps_block block,
                           struct aps_elements *elements, struct aps_cost *cost,
                           unsigned char *to);

/*
 * Reads a section that begins within `room` bytes into `elements` and returns
 * its bytes. Data without a section is damaged and takes up the room. A section
 * whose indices cannot be decoded is damaged, too, but takes up its own bytes;
 * aps_elements_skip does not detect that. The caller must fail the call, since
 * other ranks do not know of the damage.
 */
size_t aps_elements_decode(const struct aps_wire *wire,
                           const unsigned char *from, size_t room,
                           struct aps_elements *elements);

/* Like aps_elements_decode, without the indices and values. */
size_t aps_elements_skip(const struct aps_wire *wire, const unsigned char *from,
                         size_t room, struct aps_elements *elements);

/* Adds the elements to sum[slice.length]. */
void aps_elements_add(const struct aps_elements *elements, float *sum);

#endif

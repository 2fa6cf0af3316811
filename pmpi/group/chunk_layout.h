/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layout of a chunk in the memory of a group: a slot for each rank, with one
 * slice for each owner; and a result for each owner, with one part for each
 * group. Room is allocated once, for chunks cut at multiples of 64 and for
 * chunks with a larger granule, whose slices are longer by less than one
 * granule. All chunks have the same length up to a granule, whatever room was
 * allocated first: the cuts of a vector decide which rank owns an element, and
 * so the random bits of its sum.
 */
#ifndef APS_PMPI_GROUP_CHUNK_LAYOUT_H
#define APS_PMPI_GROUP_CHUNK_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/ops.h"

/* Capacity for chunks of any format. */
struct aps_chunk_capacity {
    int owners;         /* ranks of a group that own a slice */
    int parts;          /* parts of a result, one for each group */
    int results;        /* owners whose results lie in one place: all, or one */
    size_t chunk;       /* elements of a chunk that is cut at multiples of 64 */
    size_t slice, part; /* most FP32 values of a slice, and of a part */
    size_t slot_bytes;  /* size of a slot */
    size_t result_bytes; /* size of the results in one place */
};

/* Layout of chunks that hold a codec's values. */
struct aps_chunk_layout {
    size_t chunk;        /* elements */
    size_t slice_stride; /* bytes from one slice of a slot to the next */
    size_t owner_stride; /* bytes from one owner's result to the next */
    size_t part_stride;  /* bytes from one part of a result to the next */
};

/* Returns the capacity for such chunks, with any codec whose granule is at most
 * `granule` (pipeline_sizes.h). */
struct aps_chunk_capacity aps_chunk_capacity_of(int owners, int parts,
                                                int results, size_t chunk,
                                                size_t granule);

/* Returns the layout of the room's chunk, in whole granules. The layout depends
 * only on the length of that chunk, on the codec's granule, and on whether the format
 * is wide: then the chunk has half as many elements. */
struct aps_chunk_layout
aps_chunk_layout_of(const struct aps_chunk_capacity *room,
                    const struct aps_codec *codec);

/* Returns the layout of chunks of several parts, which are longer for narrower
 * codecs (aps_pipeline_group_elements_across): up to APS_PIPELINE_GROUP_NARROW
 * times the elements of the room's slices and parts. */
struct aps_chunk_layout
aps_chunk_layout_across(const struct aps_chunk_capacity *room,
                        const struct aps_codec *codec);

/* Returns the layout of chunks of one part that are as long as the room for
 * blocks of this width allows, with slices of up to `slice` elements; never
 * shorter than aps_chunk_layout_of. */
struct aps_chunk_layout
aps_chunk_layout_longest(const struct aps_chunk_capacity *room,
                         const struct aps_codec *codec, size_t slice);

/* Returns the layout of a call in host memory: that of FP32 values if sums stay
 * FP32 inside the group (`exact`), or else the one that suits the number of
 * parts, with slices of up to `slice` elements in a single group. */
struct aps_chunk_layout
aps_chunk_layout_choose(const struct aps_chunk_capacity *room,
                        const struct aps_codec *codec, bool exact,
                        size_t slice);

/* Returns the elements that an owner's sum needs, whichever of these layouts a
 * call uses. For a single group this suits slices of up to
 * APS_PIPELINE_GROUP_SLICE elements; if `narrow`, also slices of as many
 * elements as the function returns. */
size_t aps_chunk_capacity_sum(const struct aps_chunk_capacity *room,
                              bool narrow);

#endif

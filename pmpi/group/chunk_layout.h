/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a chunk lies in the memory of a group: a slot a rank, one slice an owner;
 * and a result an owner, one part a group. Room is made once, for chunks whose
 * values are cut at 64, and for those of a larger granule, whose slices are longer
 * by less than one. All have the same length up to a granule, whatever room was made
 * first: which rank owns an element, and so the random bits of its sum, depend on
 * where a vector is cut.
 */
#ifndef APS_PMPI_GROUP_CHUNK_LAYOUT_H
#define APS_PMPI_GROUP_CHUNK_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/ops.h"

/* What there is room for, whatever the format. */
struct aps_chunk_capacity {
    int owners;         /* ranks of a group that own a slice */
    int parts;          /* of a result */
    int results;        /* owners whose results lie in one place: all, or one */
    size_t chunk;       /* elements, where they are cut at 64 */
    size_t slice, part; /* FP32 values of the longest ones */
    size_t slot_bytes;  /* of a slot */
    size_t result_bytes; /* of the results in one place */
};

/* How chunks of a codec's values lie there. */
struct aps_chunk_layout {
    size_t chunk;        /* elements */
    size_t slice_stride; /* between the slices of a slot */
    size_t owner_stride; /* between the results of two owners */
    size_t part_stride;  /* between the parts of a result */
};

/* Room for such chunks, of any codec whose granule is `granule` at most
 * (pipeline_sizes.h). */
struct aps_chunk_capacity aps_chunk_capacity_of(int owners, int parts,
                                                int results, size_t chunk,
                                                size_t granule);

/* The room's chunk, in whole granules. Depends on the length of that chunk, and on
 * the codec's granule, alone. */
struct aps_chunk_layout
aps_chunk_layout_of(const struct aps_chunk_capacity *room,
                    const struct aps_codec *codec);

/* The same for chunks of several parts, which are the longer the narrower the codec
 * (aps_pipeline_group_elements_across): up to APS_PIPELINE_GROUP_NARROW times the
 * elements of the room's slices and parts. */
struct aps_chunk_layout
aps_chunk_layout_across(const struct aps_chunk_capacity *room,
                        const struct aps_codec *codec);

/* The same for chunks of one part that are as long as there is room for blocks of
 * this width, with slices of up to `slice` elements: never shorter. */
struct aps_chunk_layout
aps_chunk_layout_longest(const struct aps_chunk_capacity *room,
                         const struct aps_codec *codec, size_t slice);

/* The elements that an owner's sum needs room for, whichever of these layouts a call
 * has. Of a single group it suits slices of up to APS_PIPELINE_GROUP_SLICE elements; if
 * `narrow`, also of as many as it returns itself. */
size_t aps_chunk_capacity_sum(const struct aps_chunk_capacity *room,
                              bool narrow);

#endif

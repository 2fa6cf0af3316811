/* SPDX-License-Identifier: BSD-3-Clause */
/* Lengths of a pipeline's messages, and of the scratch that holds them. */
#ifndef APS_WIRE_PIPELINE_SIZES_H
#define APS_WIRE_PIPELINE_SIZES_H

#include <stddef.h>

#include "kernel/ops.h"

/* Messages of a chunk. Messages from GPU memory, and those of ranks that divide them
 * over threads, are longer than others, and chunks have a few MiB. */
enum aps_pipeline_messages {
    APS_PIPELINE_HOST,    /* elements of a codec */
    APS_PIPELINE_FP32,    /* FP32 values that are cut at the codec's granules */
    APS_PIPELINE_THREADS, /* elements of a codec, which threads encode */
    APS_PIPELINE_DEVICES, /* elements of a codec, in GPU memory */
};

/* Returns the elements of one message if a chunk has one for each of `ranks`
 * ranks: at least one granule (aps_codec_granule). With many ranks messages get
 * shorter, so that chunks stay at about 512 KiB. Without a kind: of
 * APS_PIPELINE_HOST. */
size_t aps_pipeline_elements_of(const struct aps_codec *codec, int ranks,
                                enum aps_pipeline_messages messages);
size_t aps_pipeline_elements(const struct aps_codec *codec, int ranks);

/* Capacity of scratch: the bytes of the values of such a message for every
 * codec whose granule is at most `granule` elements; and the elements of the
 * codec that has most. */
size_t aps_pipeline_room_of(int ranks, size_t granule,
                            enum aps_pipeline_messages messages);
size_t aps_pipeline_room(int ranks, size_t granule);
size_t aps_pipeline_elements_max(int ranks, size_t granule);

/* Returns the `granule` with which scratch has room for this format: one of a
 * few, equal for all formats that are not in blocks. */
size_t aps_pipeline_granule(const struct aps_format *format);

/*
 * Bytes of a group's memory, for chunks of `chunk` FP32 values that are cut for
 * `owners` owners: the slot of one rank, which has a block for each owner; and
 * the result of one owner, which has a block for each of `parts` groups. Every
 * codec fits whose granule is at most `granule`. A block takes
 * APS_PIPELINE_GROUP_HEADER bytes besides its values: its header, and the rest
 * of a cache line.
 */
#define APS_PIPELINE_GROUP_HEADER 64
size_t aps_pipeline_group_slot(size_t chunk, int owners, size_t granule);
size_t aps_pipeline_group_result(size_t chunk, int owners, int parts,
                                 size_t granule);

/*
 * Returns the elements of a chunk of a reduction inside groups through shared
 * memory, whose sums have `owners` owners, each of which exchanges `parts`
 * parts with other groups: of FP32 values here, of codecs by the functions
 * below. The chunk is shorter if the slots of `ranks` ranks, the most that a
 * group has, would take too much of that memory; it has at least a granule for
 * each owner. It does not depend on the formats that fit.
 */
size_t aps_pipeline_group_elements(int owners, int parts, int ranks);

/* Returns the elements of a chunk of a codec if there are several groups: codes
 * of fewer than 8 bits have longer chunks, up to APS_PIPELINE_GROUP_NARROW
 * times, so that their messages are as long as those of 8 bits. */
#define APS_PIPELINE_GROUP_NARROW 2
size_t aps_pipeline_group_elements_across(const struct aps_codec *codec,
                                          size_t chunk);

/*
 * Returns the elements of a chunk of a codec in a single group in which chunks
 * of FP32 values have `chunk` elements. The chunk has as many codes as fit into
 * the memory of those values, but at most `most` for each owner, and at least
 * `chunk`, in whole granules. APS_PIPELINE_GROUP_SLICE is the `most` that a
 * host's caches hold.
 */
#define APS_PIPELINE_GROUP_SLICE ((size_t)64 * 1024)
size_t aps_pipeline_single_group_elements(const struct aps_codec *codec,
                                          int owners, size_t chunk,
                                          size_t most);

#endif

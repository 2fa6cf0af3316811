/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long the messages of a pipeline are, and the scratch that they lie in.
 */
#ifndef APS_WIRE_PIPELINE_SIZES_H
#define APS_WIRE_PIPELINE_SIZES_H

#include <stddef.h>

#include "kernel/ops.h"

/*
 * The values of one message where a chunk has one for each of `ranks` ranks: so
 * many elements of a codec, or FP32 values that are cut where the codec's are;
 * one granule (aps_codec_granule) at least. With many ranks messages get
 * shorter, so that chunks stay at some 512 KiB. Messages from GPUs' memory are
 * longer, and chunks have some MiB.
 */
size_t aps_pipeline_elements(const struct aps_codec *codec, int ranks);
size_t aps_pipeline_elements_fp32(const struct aps_codec *codec, int ranks);
size_t aps_pipeline_elements_of_devices(const struct aps_codec *codec,
                                        int ranks);

/*
 * What scratch must have room for: the bytes of the values of such a message,
 * whichever codec it is, as long as its granule is `granule` elements at most;
 * and the elements of the codec that has most.
 */
size_t aps_pipeline_room(int ranks, size_t granule);
size_t aps_pipeline_room_of_devices(int ranks, size_t granule);
size_t aps_pipeline_elements_max(int ranks, size_t granule);

/* The `granule` that scratch is made for so that this format has room: one of a
 * few, equal for all formats that are not in blocks. */
size_t aps_pipeline_granule(const struct aps_format *format);

/*
 * Bytes of a group's memory, for chunks of `chunk` FP32 values that are cut for
 * `owners` owners: the slot of one rank, which has a block for each owner; and the
 * result of one owner, which has a block for each of `parts` groups. There is room for
 * every codec whose granule is `granule` at most. Beside its values a block takes
 * APS_PIPELINE_GROUP_HEADER bytes: its header, and what is left of a cache line.
 */
#define APS_PIPELINE_GROUP_HEADER 64
size_t aps_pipeline_group_slot(size_t chunk, int owners, size_t granule);
size_t aps_pipeline_group_result(size_t chunk, int owners, int parts,
                                 size_t granule);

/*
 * The elements of a chunk of a reduction inside groups through shared memory,
 * whose sums have `owners` owners, of which each exchanges `parts` parts with
 * those of other groups: of FP32 values, and of codecs by the functions below. It is
 * shorter where the slots of `ranks` ranks, the most that a group has, would take too
 * much of that memory; a granule an owner at least. The same whatever formats there
 * is room for.
 */
size_t aps_pipeline_group_elements(int owners, int parts, int ranks);

/* The same of a codec, where there are several groups: codes of fewer than 8 bits
 * have longer chunks, so that their messages are as long as those of 8 bits, up to
 * APS_PIPELINE_GROUP_NARROW times as long. */
#define APS_PIPELINE_GROUP_NARROW 2
size_t aps_pipeline_group_elements_across(const struct aps_codec *codec,
                                          size_t chunk);

/* The same of a codec in a single group, where chunks of FP32 values have `chunk`
 * elements: as many codes as fit into the room of those values, but no more than `most`
 * for each owner; and never fewer than `chunk`, in whole granules. The host's caches
 * hold what follows from APS_PIPELINE_GROUP_SLICE. */
#define APS_PIPELINE_GROUP_SLICE ((size_t)64 * 1024)
size_t aps_pipeline_single_group_elements(const struct aps_codec *codec,
                                          int owners, size_t chunk,
                                          size_t most);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "group/chunk_layout.h"

#include "base/size_min.h"
#include "block/block.h"
#include "wire/pipeline_sizes.h"

/* Largest ratio of the length of a chunk that fills its room with codes to the
 * length of a chunk of FP32 values. */
#define NARROWEST 8

_Static_assert(APS_BLOCK_HEADER_MAX <= APS_PIPELINE_GROUP_HEADER,
               "a block's header has room");

struct aps_chunk_capacity aps_chunk_capacity_of(int owners, int parts,
                                                int results, size_t chunk,
                                                size_t granule)
{
    /* Slices that end at a multiple of a larger granule are longer by this
     * much. */
    const size_t longer = granule - APS_CODEC_GRANULE;
    const size_t cut = aps_slice_longest(chunk, APS_CODEC_GRANULE, owners);
    const size_t slice = cut + longer;
    const size_t part =
        aps_slice_longest(cut, APS_CODEC_GRANULE, parts) + longer;

    return (struct aps_chunk_capacity){
        .owners = owners,
        .parts = parts,
        .results = results,
        .chunk = chunk,
        .slice = slice,
        .part = part,
        .slot_bytes = aps_pipeline_group_slot(chunk, owners, granule),
        .result_bytes = (size_t)results * aps_pipeline_group_result(
                                              chunk, owners, parts, granule),
    };
}

/* Returns the number of slices of n elements that are not empty. */
static size_t layout_slices(size_t n, size_t granule, int parts)
{
    return aps_size_min((n + granule - 1) / granule, (size_t)parts);
}

/* Empty slices come last and take no room. A chunk of doubles has half as many
 * elements, and fits like FP32 values with a granule of 128. */
struct aps_chunk_layout
aps_chunk_layout_of(const struct aps_chunk_capacity *room,
                    const struct aps_codec *codec)
{
    const size_t granule = aps_codec_granule(codec);
    const size_t bytes = aps_format_value_bytes(&codec->format);
    const size_t values = room->chunk * sizeof(float) / bytes;
    const size_t chunk = (values + granule - 1) / granule * granule;
    const size_t slice = aps_slice_longest(chunk, granule, room->owners);
    const size_t part = aps_slice_longest(slice, granule, room->parts);
    const size_t stride = aps_block_stride_bytes(part * bytes);

    return (struct aps_chunk_layout){
        .chunk = chunk,
        .slice_stride = aps_block_stride_bytes(slice * bytes),
        .owner_stride = layout_slices(slice, granule, room->parts) * stride,
        .part_stride = stride,
    };
}

/* Up to twice the elements fit in the room of FP32 values, at less than 8 bits
 * each. */
struct aps_chunk_layout
aps_chunk_layout_across(const struct aps_chunk_capacity *room,
                        const struct aps_codec *codec)
{
    const struct aps_chunk_layout as_ever = aps_chunk_layout_of(room, codec);
    const size_t granule = aps_codec_granule(codec);
    const size_t chunk = aps_pipeline_group_elements_across(codec, room->chunk);
    const size_t slice = aps_slice_longest(chunk, granule, room->owners);
    const size_t part = aps_slice_longest(slice, granule, room->parts);
    const size_t stride = aps_block_stride_bytes(aps_codec_bytes(codec, part));

    if (chunk == as_ever.chunk)
        return as_ever;
    return (struct aps_chunk_layout){
        .chunk = chunk,
        .slice_stride = aps_block_stride_widest(room->slice),
        .owner_stride = layout_slices(slice, granule, room->parts) * stride,
        .part_stride = stride,
    };
}

/* However long the chunk is, an owner's block takes no more bytes than a block
 * of FP32 values cut at multiples of 64. */
struct aps_chunk_layout
aps_chunk_layout_longest(const struct aps_chunk_capacity *room,
                         const struct aps_codec *codec, size_t slice)
{
    const struct aps_chunk_layout as_ever = aps_chunk_layout_of(room, codec);
    const size_t chunk = aps_pipeline_single_group_elements(codec, room->owners,
                                                            room->chunk, slice);
    const size_t bytes = aps_block_stride_widest(
        aps_slice_longest(room->chunk, APS_CODEC_GRANULE, room->owners));

    if (room->parts > 1 || chunk == as_ever.chunk)
        return as_ever;
    return (struct aps_chunk_layout){
        .chunk = chunk,
        .slice_stride = bytes,
        .owner_stride = bytes,
        .part_stride = bytes,
    };
}

struct aps_chunk_layout
aps_chunk_layout_choose(const struct aps_chunk_capacity *room,
                        const struct aps_codec *codec, bool exact, size_t slice)
{
    if (exact || codec->format.wide)
        return aps_chunk_layout_of(room, codec);
    return room->parts > 1 ? aps_chunk_layout_across(room, codec)
                           : aps_chunk_layout_longest(room, codec, slice);
}

size_t aps_chunk_capacity_sum(const struct aps_chunk_capacity *room,
                              bool narrow)
{
    const size_t codes =
        aps_size_min(aps_codec_elements_max(room->slice * sizeof(float)),
                     APS_PIPELINE_GROUP_SLICE);
    const size_t most = narrow ? NARROWEST * room->slice : room->slice;

    if (room->parts > 1)
        return APS_PIPELINE_GROUP_NARROW * room->slice;
    return most > codes ? most : codes;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/chunk_layout.h"

#include <stdbool.h>

#include "reduce/block.h"

static size_t layout_more(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t layout_fewer(size_t a, size_t b)
{
    return a < b ? a : b;
}

struct aps_chunk_room aps_chunk_room_of(int owners, int parts, int results,
                                        size_t chunk, size_t granule)
{
    const size_t slice = aps_slice_longest(chunk, APS_CODEC_GRANULE, owners);
    const size_t part = aps_slice_longest(slice, APS_CODEC_GRANULE, parts);
    const size_t least = aps_block_stride_widest(granule);

    return (struct aps_chunk_room){
        .owners = owners,
        .parts = parts,
        .results = results,
        .chunk = chunk,
        .slice = layout_more(slice, granule),
        .part = layout_more(part, granule),
        .slot_bytes =
            layout_more((size_t)owners * aps_block_stride_widest(slice), least),
        .result_bytes = layout_more((size_t)results * (size_t)parts *
                                        aps_block_stride_widest(part),
                                    least),
    };
}

/* Slices of n elements that are not empty. */
static size_t layout_slices(size_t n, size_t granule, int parts)
{
    return layout_fewer((n + granule - 1) / granule, (size_t)parts);
}

/* Chunks of so many elements, cut at `granule`; no block is longer than FP32's.
 * Slices that are empty take no room: they come last. False: there is none. */
static bool layout_fits(const struct aps_chunk_room *room, size_t granule,
                        size_t chunk, struct aps_chunk_layout *layout)
{
    const size_t slice = aps_slice_longest(chunk, granule, room->owners);
    const size_t part = aps_slice_longest(slice, granule, room->parts);
    const size_t owners = layout_slices(chunk, granule, room->owners);
    const size_t parts = layout_slices(slice, granule, room->parts);
    const size_t results = layout_fewer(owners, (size_t)room->results);

    *layout = (struct aps_chunk_layout){
        .chunk = chunk,
        .slice_stride = aps_block_stride_widest(slice),
        .owner_stride = parts * aps_block_stride_widest(part),
        .part_stride = aps_block_stride_widest(part),
    };
    return slice <= room->slice && part <= room->part &&
           owners * layout->slice_stride <= room->slot_bytes &&
           results * layout->owner_stride <= room->result_bytes;
}

struct aps_chunk_layout aps_chunk_layout_of(const struct aps_chunk_room *room,
                                            const struct aps_codec *codec)
{
    const size_t granule = aps_codec_granule(codec);
    const size_t wanted = (room->chunk + granule - 1) / granule;
    const size_t sliced = room->slice / granule * (size_t)room->owners;
    struct aps_chunk_layout layout;

    /* One granule fits in any case. */
    for (size_t units = layout_fewer(wanted, sliced);
         !layout_fits(room, granule, units * granule, &layout) && units > 1;
         units--)
        ;
    return layout;
}

struct aps_chunk_layout
aps_chunk_layout_longest(const struct aps_chunk_room *room,
                         const struct aps_codec *codec, size_t slice)
{
    const size_t granule = aps_codec_granule(codec);
    const size_t bytes =
        layout_fewer(room->slot_bytes / (size_t)room->owners,
                     room->result_bytes / (size_t)room->results) /
        aps_block_aligned(1) * aps_block_aligned(1);
    const struct aps_chunk_layout as_ever = aps_chunk_layout_of(room, codec);
    size_t n = 0;

    if (room->parts == 1 && bytes > APS_BLOCK_HEADER_MOST)
        n = layout_fewer(
            aps_codec_elements(codec, bytes - APS_BLOCK_HEADER_MOST),
            slice / granule * granule);
    if (n * (size_t)room->owners <= as_ever.chunk)
        return as_ever;
    return (struct aps_chunk_layout){
        .chunk = n * (size_t)room->owners,
        .slice_stride = bytes,
        .owner_stride = bytes,
        .part_stride = bytes,
    };
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The places of a group's chunks, and the lengths of messages: for every granule of the
 * codec there is enough memory, and every block has its own place. */
#include "config.h"

#include <stdint.h>
#include <stdio.h>

#include "base/size_min.h"
#include "block/block.h"
#include "group/chunk_layout.h"
#include "wire/pipeline_sizes.h"
#include "wire/buffer_depth.h"
#include "tests/tap/tap.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const struct aps_format formats[] = {
    {.name = "8", .width = 8, .block = 1},
    {.name = "6", .width = 6, .block = 1},
    {.name = "4", .width = 4, .block = 1},
    {.name = "2", .width = 2, .block = 1},
    {.name = "4/16", .width = 4, .block = 16, .scale_bytes = 1},
    {.name = "8/32", .width = 8, .block = 32, .scale_bytes = 1},
    {.name = "8/96", .width = 8, .block = 96, .scale_bytes = 1},
    {.name = "8/576", .width = 8, .block = 576, .scale_bytes = 1},
    {.name = "25/1008", .width = 25, .block = 1008, .scale_bytes = 1},
    {.name = "2/4096", .width = 2, .block = 4096, .scale_bytes = 1},
    {.name = "25/4096", .width = 25, .block = 4096, .scale_bytes = 1},
};

/* --- a group's chunks ------------------------------------------------------ */

/* Bytes from `begin` to `end`, where the next block may be. */
struct range {
    size_t begin, end;
};

/* True if a block of n values, as wide as FP32's, fits next. */
static bool is_next(struct range *left, size_t at, size_t n)
{
    const size_t end = at + APS_BLOCK_HEADER_MAX + n * sizeof(float);
    const bool right = n == 0 || (at >= left->begin && end <= left->end);

    if (n > 0)
        left->begin = end;
    return right;
}

static size_t slice_of(const struct aps_codec *codec, size_t n, int parts,
                       int i)
{
    return aps_slice_of(n, aps_codec_granule(codec), parts, i).length;
}

/* Returns the FP32 values that take as many bytes as n values of the codec. */
static size_t floats(const struct aps_codec *codec, size_t n)
{
    return n * aps_format_value_bytes(&codec->format) / sizeof(float);
}

static bool has_slices(const struct aps_chunk_capacity *room,
                       const struct aps_chunk_layout *layout,
                       const struct aps_codec *codec, size_t n)
{
    struct range left = {0, room->slot_bytes};
    bool right = true;

    for (int owner = 0; owner < room->owners; owner++) {
        const size_t slice =
            floats(codec, slice_of(codec, n, room->owners, owner));

        right &= slice <= room->slice &&
                 is_next(&left, (size_t)owner * layout->slice_stride, slice);
    }
    return right;
}

static bool has_results(const struct aps_chunk_capacity *room,
                        const struct aps_chunk_layout *layout,
                        const struct aps_codec *codec, size_t n)
{
    struct range left = {0, room->result_bytes};
    bool right = true;

    for (int owner = 0; owner < room->results; owner++) {
        const size_t slice = slice_of(codec, n, room->owners, owner);

        for (int i = 0; i < room->parts; i++) {
            const size_t part =
                floats(codec, slice_of(codec, slice, room->parts, i));

            right &= part <= room->part &&
                     is_next(&left,
                             (size_t)owner * layout->owner_stride +
                                 (size_t)i * layout->part_stride,
                             part);
        }
    }
    return right;
}

static bool has_room(const struct aps_chunk_capacity *room,
                     const struct aps_codec *codec)
{
    const struct aps_chunk_layout layout = aps_chunk_layout_of(room, codec);
    const size_t granule = aps_codec_granule(codec);
    const size_t lengths[] = {1,
                              granule,
                              granule + 1,
                              layout.chunk / 2 + 1,
                              layout.chunk - 1,
                              layout.chunk};
    bool right = layout.chunk > 0 && layout.chunk % granule == 0;

    for (size_t i = 0; i < LENGTH(lengths); i++) {
        const size_t n = lengths[i] < layout.chunk ? lengths[i] : layout.chunk;

        right &= has_slices(room, &layout, codec, n) &&
                 has_results(room, &layout, codec, n);
    }
    if (!right)
        diag("%s: %d owners, %d parts, chunk %zu of %zu", codec->format.name,
             room->owners, room->parts, layout.chunk, room->chunk);
    return right;
}

/* True if blocks as wide as the codec's, of slices that the codec cuts, fit. */
static bool has_narrow_room(const struct aps_chunk_capacity *room,
                            const struct aps_codec *codec, size_t slice)
{
    const struct aps_chunk_layout as_ever = aps_chunk_layout_of(room, codec),
                                  layout = aps_chunk_layout_longest(room, codec,
                                                                    slice);
    const size_t owners = (size_t)room->owners;
    const size_t longest =
        aps_slice_of(layout.chunk, aps_codec_granule(codec), room->owners, 0)
            .length;
    const size_t bytes = APS_BLOCK_HEADER_MAX + aps_codec_bytes(codec, longest);

    if (layout.chunk == as_ever.chunk)
        return layout.slice_stride == as_ever.slice_stride &&
               layout.part_stride == as_ever.part_stride &&
               layout.owner_stride == as_ever.owner_stride;
    return room->parts == 1 && layout.chunk > as_ever.chunk &&
           longest <= slice && layout.chunk % aps_codec_granule(codec) == 0 &&
           layout.slice_stride % 64 == 0 && bytes <= layout.slice_stride &&
           bytes <= layout.owner_stride &&
           owners * layout.slice_stride <= room->slot_bytes &&
           (size_t)room->results * layout.owner_stride <= room->result_bytes;
}

/* True if the parts of a chunk with twice as many elements as the capacity fit. */
static bool has_room_across(const struct aps_chunk_capacity *room,
                            const struct aps_codec *codec)
{
    const struct aps_chunk_layout as_ever = aps_chunk_layout_of(room, codec),
                                  layout = aps_chunk_layout_across(room, codec);
    const size_t granule = aps_codec_granule(codec);
    const size_t slice = slice_of(codec, layout.chunk, room->owners, 0);
    const size_t part = slice_of(codec, slice, room->parts, 0);
    bool right;

    if (layout.chunk == as_ever.chunk)
        return has_room(room, codec);
    right = codec->format.width < 8 && layout.chunk > as_ever.chunk &&
            layout.chunk % granule == 0 && slice <= 2 * room->slice &&
            part <= 2 * room->part && layout.slice_stride % 64 == 0 &&
            layout.part_stride % 64 == 0 &&
            APS_BLOCK_HEADER_MAX + aps_codec_bytes(codec, slice) <=
                layout.slice_stride &&
            APS_BLOCK_HEADER_MAX + aps_codec_bytes(codec, part) <=
                layout.part_stride &&
            aps_size_min((slice + granule - 1) / granule, (size_t)room->parts) *
                    layout.part_stride <=
                layout.owner_stride &&
            (size_t)room->owners * layout.slice_stride <= room->slot_bytes &&
            (size_t)room->results * layout.owner_stride <= room->result_bytes;
    if (!right)
        diag("%s: %d owners, %d parts, chunk %zu of %zu", codec->format.name,
             room->owners, room->parts, layout.chunk, room->chunk);
    return right;
}

static void test_across(const struct aps_format *format)
{
    static const size_t chunks[] = {64, 1024, 16384, 65536, 262144};
    const struct aps_codec codec = {.format = *format};
    bool right = true, longer = true;

    for (int owners = 1; owners <= 128; owners += owners > 8 ? 17 : 1)
        for (int parts = 2; parts <= 300;
             parts += parts > 5 ? 13 + parts / 2 : 1)
            for (size_t i = 0; i < LENGTH(chunks); i++) {
                const struct aps_chunk_capacity room = aps_chunk_capacity_of(
                    owners, parts, i % 2 ? owners : 1, chunks[i],
                    aps_pipeline_granule(format));
                const size_t chunk =
                    aps_chunk_layout_across(&room, &codec).chunk;

                right &= has_room_across(&room, &codec);
                if (format->block == 1 && format->width == 4)
                    longer &= chunk == 2 * room.chunk;
            }
    ok(right && longer, "%s: between groups narrow codes have longer chunks",
       format->name);
}

/* True if the sums fit, for the longest chunk whose owners have `slice` elements. */
static bool has_sums(const struct aps_chunk_capacity *room,
                     const struct aps_codec *codec, size_t slice, bool narrow)
{
    const size_t chunk = aps_chunk_layout_longest(room, codec, slice).chunk;

    return room->parts > 1 || slice_of(codec, chunk, room->owners, 0) <=
                                  aps_chunk_capacity_sum(room, narrow);
}

/* Codes have as much memory as FP32 values. */
static void test_narrow(const struct aps_format *format)
{
    static const size_t chunks[] = {64, 1024, 16384, 65536, 131072};
    const struct aps_codec codec = {.format = *format};
    bool right = true, longer = true, sums = true;

    for (int owners = 1; owners <= 512; owners += 1 + owners / 20)
        for (size_t i = 0; i < 2 * LENGTH(chunks); i++) {
            const struct aps_chunk_capacity room = aps_chunk_capacity_of(
                owners, 1 + (int)(i % 2), owners, chunks[i / 2],
                aps_pipeline_granule(format));
            const size_t most = aps_chunk_capacity_sum(&room, true);
            const size_t chunk =
                aps_chunk_layout_longest(&room, &codec, 8 * room.slice).chunk;

            right &= has_narrow_room(&room, &codec, most) &&
                     has_narrow_room(&room, &codec, 2 * room.slice) &&
                     has_narrow_room(&room, &codec, APS_PIPELINE_GROUP_SLICE) &&
                     has_narrow_room(&room, &codec, room.slice);
            sums &= has_sums(&room, &codec, most, true) &&
                    has_sums(&room, &codec, APS_PIPELINE_GROUP_SLICE, true) &&
                    has_sums(&room, &codec, APS_PIPELINE_GROUP_SLICE, false);
            if (i % 2 == 0 && format->width == 8 && format->block == 1)
                longer &= chunk >= 3 * room.chunk;
        }
    ok(right && longer, "%s: long chunks of narrow codes have room",
       format->name);
    ok(sums, "... and the sums of their slices");
}

static void test_layouts(const struct aps_format *format)
{
    static const size_t chunks[] = {64, 1024, 16384, 65536, 262144};
    const struct aps_codec codec = {.format = *format};
    const size_t granule = aps_pipeline_granule(format);
    bool right = true, same = true;

    for (int owners = 1; owners <= 128; owners += owners > 8 ? 17 : 1)
        for (int parts = 1; parts <= 300;
             parts += parts > 5 ? 13 + parts / 2 : 1)
            for (size_t i = 0; i < LENGTH(chunks); i++) {
                const struct aps_chunk_capacity room = aps_chunk_capacity_of(
                    owners, parts, i % 2 ? owners : 1, chunks[i], granule);
                const size_t chunk = aps_chunk_layout_of(&room, &codec).chunk;

                right &= has_room(&room, &codec);
                same &= chunk >= room.chunk &&
                        chunk - room.chunk < aps_codec_granule(&codec);
            }
    ok(right, "%s: every block has a place of its own", format->name);
    ok(same, "... and chunks are as long as those of all that are cut at 64");
}

/* Doubles of wide formats: their blocks and their sums have the room of FP32 values. */
static void test_wide(void)
{
    const struct aps_codec codec = {
        .format = {.name = "64", .width = 64, .block = 1, .wide = true}};
    bool right = true, sums = true;

    for (int owners = 1; owners <= 512; owners += 1 + owners / 4)
        for (int parts = 1; parts <= 300; parts += 1 + parts / 2)
            for (size_t chunk = 64; chunk <= 262144; chunk += 64 + chunk) {
                const struct aps_chunk_capacity room = aps_chunk_capacity_of(
                    owners, parts, owners, chunk / 64 * 64,
                    aps_pipeline_granule(&codec.format));
                const struct aps_chunk_layout layout =
                    aps_chunk_layout_choose(&room, &codec, false, SIZE_MAX);

                right &= has_room(&room, &codec);
                sums &=
                    floats(&codec, slice_of(&codec, layout.chunk, owners, 0)) <=
                    aps_chunk_capacity_sum(&room, false);
            }
    ok(right, "64, of doubles: every block has a place of its own");
    ok(sums, "... and the sums of their slices");
}

/* --- lengths of a group's chunks ------------------------------------------ */

static size_t shared_bytes(size_t chunk, int owners, int parts, int ranks)
{
    const struct aps_chunk_capacity room =
        aps_chunk_capacity_of(owners, parts, owners, chunk, 256);

    return (size_t)ranks * APS_SLOT_DEPTH * room.slot_bytes +
           (parts > 1 ? APS_RESULT_DEPTH : APS_SINGLE_GROUP_RESULT_DEPTH) *
               room.result_bytes;
}

/* The chunks fit into 48 MiB, if a granule for each owner does. */
static void test_lengths(void)
{
    const size_t most = (size_t)48 * 1024 * 1024;
    bool fits = true, enough = true;

    for (int owners = 1; owners <= 512; owners += 1 + owners / 3)
        for (int parts = 1; parts <= 300; parts += 1 + parts / 2)
            for (int ranks = owners; ranks <= owners + 2; ranks++) {
                const size_t few = (size_t)owners * APS_CODEC_GRANULE;
                const size_t chunk =
                    aps_pipeline_group_elements(owners, parts, ranks);

                enough &= chunk >= few && chunk % APS_CODEC_GRANULE == 0;
                fits &= chunk == few ||
                        shared_bytes(chunk, owners, parts, ranks) <= most;
            }
    ok(fits, "chunks of groups fit into the shared memory");
    ok(enough, "... and have a granule for each owner");
    ok(aps_pipeline_group_elements(2, 1, 2) == 65536 &&
           aps_pipeline_group_elements(8, 1, 8) == 131072 &&
           aps_pipeline_group_elements(192, 1, 192) == 192 * 64 &&
           aps_pipeline_group_elements(16, 12, 16) == 196608 &&
           aps_pipeline_group_elements(8, 128, 8) == 262144,
       "... of 2, of 8, of 192, of 16 ranks on 12 nodes, and of 8 on 128");
}

/* Returns the elements of a chunk of 8 ranks with memory for `chunk` FP32 values. */
static size_t alone(int width, int block, size_t chunk)
{
    const struct aps_codec codec = {.format = {.width = width, .block = block}};

    return aps_pipeline_single_group_elements(&codec, 8, chunk,
                                              APS_PIPELINE_GROUP_SLICE);
}

static void test_alone(void)
{
    ok(alone(32, 1, 8192) == 8192 && alone(16, 1, 8192) == 16384 &&
           alone(8, 1, 8192) == 32768 && alone(4, 1, 8192) == 65536,
       "a single group's chunk has as many codes as have room");
    ok(alone(16, 1, 262144) == 8 * 65536 && alone(8, 1, 131072) == 8 * 65536 &&
           alone(4, 1, 131072) == 8 * 65536,
       "... up to what suits a cache");
    ok(alone(8, 4096, 2048) == 4096 && alone(8, 4096, 65536) == 8 * 32768 &&
           alone(25, 4096, 16384) == 16384,
       "... and in whole blocks, one at least");
}

/* --- messages -------------------------------------------------------------- */

static void test_messages(const struct aps_format *format)
{
    const struct aps_codec codec = {.format = *format};
    const size_t granule = aps_codec_granule(&codec);
    const size_t class = aps_pipeline_granule(format);
    bool whole = true, room = true, same = true;

    for (int ranks = 1; ranks <= 100000; ranks += 1 + ranks / 2) {
        const size_t bytes = aps_pipeline_room(ranks, class);
        const size_t n = aps_pipeline_elements(&codec, ranks);
        const size_t partial =
            aps_pipeline_elements_of(&codec, ranks, APS_PIPELINE_FP32);
        const size_t devices =
            aps_pipeline_elements_of(&codec, ranks, APS_PIPELINE_DEVICES);

        whole &= n > 0 && partial > 0 && devices > 0 && n % granule == 0 &&
                 partial % granule == 0 && devices % granule == 0;
        room &= aps_codec_bytes(&codec, n) <= bytes &&
                floats(&codec, partial) * sizeof(float) <= bytes &&
                n <= aps_pipeline_elements_max(ranks, class) &&
                aps_codec_bytes(&codec, devices) <=
                    aps_pipeline_room_of(ranks, class, APS_PIPELINE_DEVICES);
        same &= bytes == aps_pipeline_room(ranks, 64);
    }
    ok(whole, "%s: a message has whole granules, one at least", format->name);
    ok(room, "... for which there is room");
    if (granule == APS_CODEC_GRANULE)
        ok(same, "... as much as for all that are cut at 64");
}

int main(void)
{
    test_lengths();
    test_alone();
    test_wide();
    test_messages(&(struct aps_format){
        .name = "64, of doubles", .width = 64, .block = 1, .wide = true});
    for (size_t f = 0; f < LENGTH(formats); f++) {
        test_layouts(&formats[f]);
        test_across(&formats[f]);
        test_narrow(&formats[f]);
        test_messages(&formats[f]);
    }
    return done_testing();
}

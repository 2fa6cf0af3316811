/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices of vectors, and pieces of them: slices are cut at whole blocks of
 * values that share a scale. */
#include "config.h"

#include <stdio.h>

#include "block/block.h"
#include "cut/chunk.h"
#include "tests/tap/tap.h"

#define LONGEST 20000

static const size_t granules[] = {64, 320, 576};
static const size_t lengths[] = {0,   1,    63,   64,   65,    319,
                                 576, 1000, 1024, 5759, 10001, LONGEST};
#define LENGTHS (sizeof lengths / sizeof *lengths)

/* The slices are adjacent, begin at multiples of the granule, and the first is
 * the longest, by less than two granules. */
static bool is_shared_out(size_t n, size_t granule, int parts)
{
    const size_t longest = aps_slice_longest(n, granule, parts);
    size_t end = 0;
    bool right = longest * (size_t)parts >= n;

    for (int i = 0; i < parts; i++) {
        const struct aps_slice slice = aps_slice_of(n, granule, parts, i);

        right &= slice.begin == end && slice.length <= longest;
        right &= slice.length == 0 || slice.begin % granule == 0;
        right &= slice.begin == n || slice.length + 2 * granule > longest;
        end += slice.length;
    }
    if (!right || end != n)
        diag("%zu elements in %d slices, granule %zu", n, parts, granule);
    return right && end == n;
}

static void test_slices(void)
{
    for (size_t g = 0; g < sizeof granules / sizeof *granules; g++) {
        bool right = true;

        for (size_t i = 0; i < LENGTHS; i++)
            for (int parts = 1; parts <= 40; parts++)
                right &= is_shared_out(lengths[i], granules[g], parts);
        ok(right, "slices begin at multiples of %zu", granules[g]);
    }
    ok(aps_slice_of(1000, 64, 3, 0).length == 384 &&
           aps_slice_of(1000, 64, 3, 1).length == 320 &&
           aps_slice_of(1000, 64, 3, 2).length == 296,
       "1000 elements in three slices");
    ok(aps_slice_of(1000, 576, 3, 0).length == 576 &&
           aps_slice_of(1000, 576, 3, 1).length == 424 &&
           aps_slice_of(1000, 576, 3, 2).length == 0,
       "... at blocks of 576: the last has none");
}

/* All of the vectors, in order, and every slice at whole blocks of its vector. */
static bool is_cut(struct aps_chunks all)
{
    const size_t granule = aps_codec_granule(&all.wire->codec);
    const size_t chunks = aps_chunk_count(&all);
    size_t begin = 0;
    int vector = 0;
    bool right = true;

    for (size_t k = 0; k < chunks; k++) {
        struct aps_chunk chunk;

        aps_chunk_next(&all, &chunk);
        for (int p = 0; p < chunk.count; p++) {
            const struct aps_piece *piece = &chunk.pieces[p];

            right &= aps_piece_in(piece, 0) ==
                     (const float *)all.vectors[vector].in + begin;
            right &= begin % granule == 0;
            for (int i = 0; i < all.parts; i++) {
                const struct aps_slice slice =
                    aps_piece_slice(piece, all.parts, i);

                right &= slice.length == 0 || slice.begin % granule == 0;
            }
            begin += piece->n;
            if (begin == all.vectors[vector].n) {
                begin = 0;
                vector++;
            }
        }
    }
    return right && vector == all.count;
}

static void test_pieces(void)
{
    static const struct aps_format formats[] = {
        {.name = "8", .width = 8, .block = 1},
        {.name = "8/32", .width = 8, .block = 32, .scale_bytes = 1},
        {.name = "5/20", .width = 5, .block = 20, .scale_bytes = 2},
        {.name = "8/576", .width = 8, .block = 576, .scale_bytes = 1},
    };
    static float values[LONGEST];
    struct aps_vector vectors[LENGTHS];
    int count = 0;

    for (size_t i = 0; i < LENGTHS; i++)
        if (lengths[i] > 0)
            vectors[count++] = (struct aps_vector){.in = values,
                                                   .out = values,
                                                   .n = lengths[i],
                                                   .memory = &aps_memory_host};
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        const struct aps_wire wire = {.codec = {.format = formats[f]}};
        bool right = true;

        for (int parts = 1; parts <= 9; parts++)
            right &= is_cut((struct aps_chunks){
                .wire = &wire,
                .vectors = vectors,
                .count = count,
                .length = (size_t)parts * aps_codec_elements(&wire.codec, 700),
                .parts = parts,
                .inner = 1});
        ok(right, "%s: pieces and their slices are whole blocks",
           formats[f].name);
    }
}

int main(void)
{
    test_slices();
    test_pieces();
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of a vector that are reduced again: those that overflowed, once. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "cut/redo.h"
#include "tests/tap/tap.h"

#define LONGEST 100000

static unsigned seed = 1;

static unsigned draw(unsigned most)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % most;
}

/* Vector of n elements in pieces of `length`, of which some overflow. */
static bool finds_pieces(size_t n, size_t length, bool redo)
{
    static unsigned char bits[LONGEST / 512 + 1];
    static bool over[LONGEST / 64 + 1];
    const size_t pieces = (n + length - 1) / length;
    struct aps_scale_call call = {.redo = redo, .pieces = bits};
    size_t begin = 0, found, next = 0;
    bool good = true;

    memset(bits, 0, aps_redo_bytes(n));
    for (size_t i = 0; i < pieces; i++) {
        const size_t at = i * length;
        const size_t here = n - at < length ? n - at : length;
        struct aps_scale_record record = {.over = draw(3) == 0};

        over[i] = record.over;
        good &= aps_redo_settle(&call, at, here, &record) == !(over[i] && redo);
    }
    while (good && aps_redo_next(&call, n, &begin, &found)) {
        while (next < pieces && !over[next])
            next++;
        good = redo && next < pieces && begin == next * length &&
               found == (n - begin < length ? n - begin : length);
        begin += found;
        next++;
    }
    while (redo && next < pieces && !over[next])
        next++;
    return good && (!redo || next == pieces);
}

static void test_pieces(void)
{
    static const size_t lengths[] = {64, 128, 4096, 65536};
    bool good = true, kept = true;

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int k = 0; k < 2000; k++) {
            const size_t n = 1 + draw(k % 2 ? 300 : LONGEST);

            good &= finds_pieces(n, lengths[i], true);
            kept &= finds_pieces(n, lengths[i], false);
        }
    ok(good, "each piece that overflowed is found once, with its length");
    ok(kept, "none is where overflows are not redone");
}

static void test_records(void)
{
    struct aps_scale_record record = {.in_max = 1, .sum_max = 5};

    aps_scale_record_add(&record, &(struct aps_scale_record){
                                      .in_max = 3, .sum_max = 2, .over = true});
    ok(record.in_max == 3 && record.sum_max == 5 && record.over &&
           !record.nonfinite,
       "records together: the greatest, and all flags");
    aps_scale_record_add(&record,
                         &(struct aps_scale_record){.nonfinite = true});
    ok(record.in_max == 3 && record.over && record.nonfinite,
       "a record of zeros changes nothing else");
}

int main(void)
{
    test_pieces();
    test_records();
    return done_testing();
}

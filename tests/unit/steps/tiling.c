/* SPDX-License-Identifier: BSD-3-Clause */
/* Layers after calls whose sizes vary. */
#include "config.h"

#include <stdint.h>
#include <string.h>

#include "steps/tiling.h"
#include "tap.h"

#define MOST 8

static void check(const char *what, const size_t *counts, long calls,
                  const size_t *wanted, long layers)
{
    size_t found[MOST] = {0};

    ok(aps_tiling_find(counts, calls, found, MOST) == layers &&
           memcmp(found, wanted, (size_t)layers * sizeof *found) == 0,
       "%s: %ld layers", what, layers);
}

#define CHECK(what, layers, ...)                                               \
    do {                                                                       \
        static const size_t counts[] = {__VA_ARGS__};                          \
                                                                               \
        check(what, counts, sizeof counts / sizeof *counts, wanted, layers);   \
    } while (0)

/* `steps` steps of the layers, each cut into runs by a generator. */
static void test_drawn(void)
{
    static const size_t layers[] = {4096, 64, 8192, 128, 1000, 24};
    size_t counts[6 * 40], found[MOST];
    uint32_t state = 1;
    long calls = 0;

    for (int step = 0; step < 40; step++) {
        size_t run = 0;

        for (int i = 0; i < 6; i++) {
            run += layers[i];
            state = state * 1664525 + 1013904223;
            if (i == 5 || state >> 31) {
                counts[calls++] = run;
                run = 0;
            }
        }
    }
    ok(aps_tiling_find(counts, calls, found, MOST) == 6 &&
           memcmp(found, layers, sizeof layers) == 0,
       "fused by chance: the layers are found");
    /* The program may end anywhere. */
    ok(aps_tiling_find(counts, calls - 1, found, MOST) == 6,
       "... with a step that is cut short");
    counts[calls / 2]++;
    ok(aps_tiling_find(counts, calls, found, MOST) == 0,
       "... and not where a call is of something else");
}

int main(void)
{
    const size_t wanted[] = {100, 20, 300};

    CHECK("no calls of three steps", 0, 420, 420);
    CHECK("fused in all ways", 3, 100, 320, 120, 300, 420, 100, 20, 300);
    CHECK("one call as the next", 1, 100, 100, 100);
    check("two layers are never apart",
          (const size_t[]){100, 320, 420, 100, 320}, 5,
          (const size_t[]){100, 320}, 2);
    CHECK("sizes that fit nothing", 0, 100, 320, 90, 77, 1000, 3);
    CHECK("more layers than there is room for", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
          45, 45, 45);
    test_drawn();
    return done_testing();
}

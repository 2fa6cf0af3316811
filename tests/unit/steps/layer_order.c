/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of a network's layers, from the sizes of the calls of a step. */
#include "config.h"

#include "steps/layer_order.h"
#include "tap.h"

#define MOST 16

static const char *const names[] = {
    [APS_LAYER_ORDER_UNKNOWN] = "unknown",
    [APS_LAYER_ORDER_FORWARD] = "forward",
    [APS_LAYER_ORDER_BACKWARD] = "backward",
};

static void check(const char *what, const size_t *counts, long calls,
                  const char *wanted)
{
    is(names[aps_layer_order_of(counts, calls)], wanted, "%s: %s", what,
       wanted);
}

/* Checks both orders. */
static void check_both(const char *what, const size_t *counts, long calls)
{
    size_t reversed[MOST];

    for (long i = 0; i < calls; i++)
        reversed[i] = counts[calls - 1 - i];
    check(what, counts, calls, "forward");
    check(what, reversed, calls, "backward");
}

int main(void)
{
    /* fully connected, 64-128-128-10 and 64-64-64-10 */
    check_both("three layers",
               (const size_t[]){8192, 128, 16384, 128, 1280, 10}, 6);
    check_both("alike layers", (const size_t[]){4096, 64, 4096, 64, 640, 10},
               6);
    check("three layers, each with its bias behind it",
          (const size_t[]){1280, 10, 16384, 128, 8192, 128}, 6, "backward");
    check("equal layers, each followed by its bias",
          (const size_t[]){640, 10, 4096, 64, 4096, 64}, 6, "backward");
    /* the beginning of ResNet-50 and its classifier, with normalisations */
    check_both("convolutions",
               (const size_t[]){9408, 64, 64, 4096, 64, 64, 16384, 256, 256,
                                512000 / 2, 1000},
               11);
    check("two buckets", (const size_t[]){1418, 49408}, 2, "unknown");
    check("one call", (const size_t[]){1000}, 1, "unknown");
    check("calls of one size", (const size_t[]){64, 64, 64}, 3, "unknown");
    check("convolutions without biases", (const size_t[]){1000, 500, 1000, 500},
          4, "unknown");
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Networks that a program trains alternately. */
#include "config.h"

#include "steps/turns.h"

#include <stdbool.h>
#include <string.h>

#include "tests/tap/tap.h"

#define CALLS_MAX 4096

static size_t counts[CALLS_MAX], layers[64];
static long calls, ends[APS_TURNS_NETWORKS];

/* Adds `times` steps of the calls, which end with 0. */
static void add(long times, const size_t *step)
{
    for (; times > 0; times--)
        for (long i = 0; step[i] > 0; i++)
            counts[calls++] = step[i];
}

static int find(void)
{
    const int found = aps_turns_find(counts, calls, 1024, layers, 64, ends);

    calls = 0;
    return found;
}

int main(void)
{
    static const size_t policy[] = {4096, 64, 64, 64, 2048, 0};
    static const size_t value[] = {4096, 64, 1024, 0};
    static const size_t losses[] = {10, 10, 0};
    static const size_t flat[] = {100000, 0}, other[] = {90000, 0};
    bool right;

    for (int i = 0; i < 5; i++) {
        add(20, policy);
        add(20, value);
    }
    right = find() == 2 && ends[0] == 5 && ends[1] == 8;
    ok(right && memcmp(layers, policy, 5 * sizeof *layers) == 0 &&
           memcmp(layers + 5, value, 3 * sizeof *layers) == 0,
       "two networks alternately");

    for (int i = 0; i < 5; i++) {
        add(3, flat);
        add(7, other);
    }
    ok(find() == 2 && ends[0] == 1 && ends[1] == 2,
       "two networks of one call each");

    for (int i = 0; i < 5; i++) {
        add(20, policy);
        add(20, losses);
    }
    ok(find() == 0, "an evaluation is not a network");

    add(200, policy);
    ok(find() == 0, "one network is not several");

    add(20, policy);
    add(20, value);
    add(20, policy);
    ok(find() == 0, "three turns are too few");

    for (int i = 0; i < 5; i++) {
        add(20, policy);
        add(1, flat);
        add(20, value);
    }
    ok(find() == 0, "a call of no turn");

    for (int i = 0; i < 3; i++) {
        add(20, policy);
        add(20, value);
    }
    add(1, policy);
    ok(find() == 2, "the program may end in a turn");
    return done_testing();
}

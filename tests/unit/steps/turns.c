/* SPDX-License-Identifier: BSD-3-Clause */
/* Networks that a program trains alternately. */
#include "config.h"

#include "steps/turns.h"

#include <stdbool.h>
#include <string.h>

#include "steps/steps.h"
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

/* Networks whose layers below min_count differ, and are not called. */
static void test_small_differ(void)
{
    static struct aps_layer_row rows[] = {
        {.name = "a", .count = 2000}, {.name = "b", .count = 10},
        {.name = "c", .count = 3000}, {.name = "d", .count = 5000},
        {.name = "e", .count = 2000}, {.name = "f", .count = 12},
        {.name = "g", .count = 3000}, {.name = "h", .count = 6000},
    };
    static const struct aps_layers networks = {.count = 8, .list = rows};
    static const struct aps_policy_steps config = {.kind = APS_STEPS_TABLE};
    static const size_t sizes[] = {2000, 3000, 5000, 2000, 3000, 6000, 2000};
    struct aps_step_position position;
    struct aps_steps *steps;
    long last = -1;
    bool good = true;

    for (size_t i = 0; i < 8; i++) {
        rows[i].begin = i / 4 * 4;
        rows[i].end = rows[i].begin + 4;
    }
    steps = aps_steps_create(&config, &networks, 1024);
    for (size_t i = 0; steps && i < sizeof sizes / sizeof *sizes; i++) {
        size_t part;

        aps_steps_advance(steps, sizes[i], false, &position);
        good &= position.active;
        if (i == 5)
            aps_steps_segment(steps, &position, 0, sizes[i], &last, &part);
    }
    ok(good && last == 7,
       "networks: small layers, which no call carries, tell nothing apart");
    aps_steps_advance(steps, 3000, false, &position);
    aps_steps_advance(steps, 6000, false, &position);
    aps_steps_advance(steps, 2010, false, &position);
    aps_steps_advance(steps, 3000, false, &position);
    aps_steps_advance(steps, 6000, false, &position);
    ok(position.desync, "... but those that a call carries do");
    aps_steps_destroy(steps);
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
    test_small_differ();
    return done_testing();
}

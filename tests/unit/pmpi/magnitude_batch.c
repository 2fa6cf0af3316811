/* SPDX-License-Identifier: BSD-3-Clause */
/* Magnitudes of several arrays, in memories that count the queries. */
#include "config.h"

#include "block/magnitude_batch.h"

#include "tap/tap.h"

#define ARRAYS 40

static int runs, verbs;

static void run(struct aps_device_step steps[], size_t count)
{
    runs++;
    for (size_t i = 0; i < count; i++)
        steps[i].magnitude = aps_magnitude_of(steps[i].x, steps[i].n);
}

static struct aps_magnitude magnitude(const void *x, size_t n)
{
    verbs++;
    return aps_magnitude_of(x, n);
}

static const struct aps_memory gpu = {.name = "gpu", .run = run};
static const struct aps_memory plain = {.name = "plain",
                                        .magnitude = magnitude};

/* Expects i + 1 for array i, in these numbers of runs and calls. */
static void test(const char *what, const struct aps_memory *const memories[],
                 size_t count, int wanted_runs, int wanted_verbs)
{
    static float x[ARRAYS][3];
    struct aps_magnitude_query queries[ARRAYS];
    bool right = true;

    runs = verbs = 0;
    for (size_t i = 0; i < count; i++) {
        x[i][i % 3] = -(float)(i + 1);
        queries[i] = (struct aps_magnitude_query){
            .memory = memories[i], .x = x[i], .n = 3};
    }
    aps_magnitude_queries_run(queries, count);
    for (size_t i = 0; i < count; i++)
        right &= queries[i].magnitude.max == (float)(i + 1) &&
                 queries[i].magnitude.finite;
    ok(right, "%s: each has its own", what);
    ok(runs == wanted_runs && verbs == wanted_verbs,
       "... in %d runs and %d verbs", runs, verbs);
}

int main(void)
{
    const struct aps_memory *memories[ARRAYS] = {NULL};

    test("none", memories, 0, 0, 0);
    for (size_t i = 0; i < ARRAYS; i++)
        memories[i] = &gpu;
    test("of a GPU", memories, ARRAYS,
         (ARRAYS + APS_MAGNITUDES_TOGETHER - 1) / APS_MAGNITUDES_TOGETHER, 0);
    test("as many as share a wait", memories, APS_MAGNITUDES_TOGETHER, 1, 0);
    memories[5] = memories[6] = &plain;
    test("some of the host", memories, 10, 2, 2);
    for (size_t i = 0; i < ARRAYS; i++)
        memories[i] = &plain;
    test("of the host", memories, ARRAYS, 0, ARRAYS);
    return done_testing();
}

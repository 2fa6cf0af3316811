/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sum of gradient and error memory, and its mean and maximum: every variant
 * against the definition, bit for bit.
 */
#include "config.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "compress/magnitudes.h"
#include "unit/common/vectors.h"

#define N_MAX 5000
#define GUARD 0xa5a5a5a5u

static float g[N_MAX + 1], e[N_MAX + 1], delta[N_MAX + 2], expected[N_MAX];

static struct aps_magnitudes by_definition(const float *memory, size_t n)
{
    struct aps_magnitudes all = {.finite = true};
    double lane[32] = {0};

    for (size_t i = 0; i < n; i++) {
        expected[i] = memory ? g[i] + memory[i] : g[i];
        lane[i % 32] += fabs((double)expected[i]);
        all.max = fmaxf(all.max, fabsf(expected[i]));
        all.finite &= isfinite(expected[i]) != 0;
    }
    for (size_t half = 16; half > 0; half /= 2) {
        for (size_t j = 0; j < half; j++)
            lane[j] += lane[j + half];
    }
    all.sum = lane[0];
    return all;
}

static bool same(struct aps_magnitudes got, struct aps_magnitudes want)
{
    if (got.finite != want.finite)
        return false;
    return !want.finite || (memcmp(&got.sum, &want.sum, sizeof got.sum) == 0 &&
                            memcmp(&got.max, &want.max, sizeof got.max) == 0);
}

static bool same_delta(const float *got, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (isnan(expected[i]) ? !isnan(got[i])
                               : memcmp(&got[i], &expected[i], 4) != 0)
            return false;
    }
    return true;
}

/* With and without memory and delta; delta is `off` floats away. */
static bool agrees(aps_magnitudes_fn kernel, size_t n, size_t off)
{
    bool pass = true;

    for (int ways = 0; ways < 4; ways++) {
        const float *memory = ways & 1 ? e : NULL;
        float *out = ways & 2 ? delta + off : NULL;
        struct aps_magnitudes want = by_definition(memory, n);
        struct aps_magnitudes_sum sum = {.max = 0};

        memset(delta, 0xa5, sizeof delta);
        kernel(g, memory, n, out, &sum);
        pass &= same(aps_magnitudes_fold(&sum), want) &&
                (!out || same_delta(out, n)) &&
                aps_float_bits(delta[off + n]) == GUARD;
    }
    return pass;
}

/* One array in pieces of 32, 64, 0, 96 ... */
static bool pieces_agree(aps_magnitudes_fn kernel, size_t n)
{
    struct aps_magnitudes want = by_definition(e, n);
    struct aps_magnitudes_sum sum = {.max = 0};
    size_t at = 0;

    for (size_t piece = 1; at < n; piece = (piece * 2) % 7) {
        size_t size = n - at < 32 * piece ? n - at : 32 * piece;

        kernel(g + at, e + at, size, delta + at, &sum);
        at += size;
    }
    return same(aps_magnitudes_fold(&sum), want) && same_delta(delta, n);
}

static void test_variant(enum aps_cpu cpu)
{
    static const size_t sizes[] = {0, 1, 15, 31, 32, 33, 63, 64, 1000, N_MAX};
    aps_magnitudes_fn kernel = aps_magnitudes_kernel(cpu);
    bool whole = true, pieces = true;

    if (!kernel) {
        skip(2, "this machine has no %s", aps_cpu_name(cpu));
        return;
    }
    for (size_t v = 0; v < VECTORS; v++) {
        vector_fill(&vectors[v], N_MAX, g);
        vector_fill(&vectors[(v * 5 + 1) % VECTORS], N_MAX, e);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            whole &= agrees(kernel, sizes[i], 0);
            whole &= agrees(kernel, sizes[i], 1);
            pieces &= pieces_agree(kernel, sizes[i]);
        }
    }
    ok(whole, "%s: delta, its sum, its maximum", aps_cpu_name(cpu));
    ok(pieces, "%s: the same piece by piece", aps_cpu_name(cpu));
}

/* INF, NaN of either sign, or an overflow, at any place. */
static void test_not_finite(enum aps_cpu cpu)
{
    static const float bad[] = {INFINITY, -INFINITY, NAN, -NAN};
    aps_magnitudes_fn kernel = aps_magnitudes_kernel(cpu);
    bool found = true, overflow = true;

    if (!kernel) {
        skip(2, "this machine has no %s", aps_cpu_name(cpu));
        return;
    }
    for (size_t at = 0; at < 100; at++) {
        struct aps_magnitudes_sum sum = {.max = 0};

        vector_fill(&vectors[0], 100, g);
        memset(e, 0, sizeof e);
        g[at] = bad[at % 4];
        found &= agrees(kernel, 100, 0);
        g[at] = e[at] = at % 2 ? FLT_MAX : -FLT_MAX;
        kernel(g, e, 100, NULL, &sum);
        overflow &= !aps_magnitudes_fold(&sum).finite;
        e[at] = 0;
        overflow &= agrees(kernel, 100, 0);
    }
    ok(found, "%s: INF and NaN are found at every place", aps_cpu_name(cpu));
    ok(overflow, "%s: a sum that overflows is found, the greatest float is not",
       aps_cpu_name(cpu));
}

static void test_in_place(void)
{
    struct aps_magnitudes want, got;

    vector_fill(&vectors[0], N_MAX, g);
    vector_fill(&vectors[1], N_MAX, e);
    want = by_definition(e, N_MAX);
    got = aps_magnitudes_add(g, e, N_MAX, e);
    ok(same(got, want) && same_delta(e, N_MAX), "delta may be the memory");
    vector_fill(&vectors[4], N_MAX, g);
    want = by_definition(NULL, N_MAX);
    ok(same(aps_magnitudes_of(g, N_MAX), want), "the magnitudes of an array");
}

int main(void)
{
    for (enum aps_cpu cpu = APS_CPU_PLAIN; cpu < APS_CPUS; cpu++) {
        test_variant(cpu);
        test_not_finite(cpu);
    }
    test_in_place();
    return done_testing();
}

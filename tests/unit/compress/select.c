/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selections against their definitions: MSTopK as its loop is written, which
 * counts at each sampling, and the largest elements by sorting; with every
 * instruction set, and with any amount of work memory.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "compress/select.h"
#include "number/philox.h"
#include "unit/common/vectors.h"

#define N_MAX 300000
#define GUARD 0xa5a5a5a5u

static float x[N_MAX];
static uint32_t expected[N_MAX], indices[N_MAX + 1];
static uint32_t order[N_MAX];
static char *work;

static const struct aps_cast_options options = {
    .seed = 42, .layer = 7, .step = 1234, .stage = 1, .rank = 3};

/* --- definitions --------------------------------------------------------- */

/* The definition in magnitudes.h. */
static struct aps_magnitudes magnitudes_by_definition(size_t n)
{
    struct aps_magnitudes all = {.finite = true};
    double lane[32] = {0};

    for (size_t i = 0; i < n; i++) {
        lane[i % 32] += fabs((double)x[i]);
        all.max = fmaxf(all.max, fabsf(x[i]));
        all.finite &= isfinite(x[i]);
    }
    for (size_t half = 16; half > 0; half /= 2) {
        for (size_t j = 0; j < half; j++)
            lane[j] += lane[j + half];
    }
    all.sum = lane[0];
    return all;
}

static size_t reaching(size_t n, double t)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += fabs((double)x[i]) >= t;
    return count;
}

static size_t draw_by_definition(size_t choices)
{
    uint64_t key =
        aps_stream_mix(aps_stream_mix(42) ^ ((uint64_t)1 << 32 | UINT32_MAX));
    uint32_t word[4] = {0, 0x80000000u, 7, 1234};

    aps_philox(key, word);
    return (size_t)((uint64_t)word[0] * choices >> 32);
}

/* The loop of select.h; the indices go to expected[]. */
static struct aps_selection mstopk_by_definition(size_t n, size_t k)
{
    struct aps_magnitudes all = magnitudes_by_definition(n);
    struct aps_selection s = {.t1 = INFINITY, .t2 = 0, .k1 = 0, .k2 = n};
    double m = all.sum / (double)n, u = (double)all.max, l = 0, h = 1;
    size_t between = 0;

    if (u <= 0)
        return (struct aps_selection){.t1 = INFINITY};
    for (int i = 0; i < 30; i++) {
        double b = l + (h - l) / 2, t = m + b * (u - m);
        size_t c = reaching(n, t);

        if (c <= k) {
            h = b;
            if (c > s.k1) {
                s.k1 = c;
                s.t1 = t;
            }
        } else {
            l = b;
            if (c < s.k2) {
                s.k2 = c;
                s.t2 = t;
            }
        }
    }
    s.start = draw_by_definition((s.k2 - s.k1) - (k - s.k1) + 1);
    for (size_t i = 0; i < n; i++) {
        double a = fabs((double)x[i]);
        bool middle = a >= s.t2 && a < s.t1;

        if (a >= s.t1 ||
            (middle && between >= s.start && between < s.start + k - s.k1))
            expected[s.count++] = (uint32_t)i;
        between += middle;
    }
    return s;
}

static int larger_first(const void *left, const void *right)
{
    uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
    float a = fabsf(x[i]), b = fabsf(x[j]);

    return a > b ? -1 : a < b ? 1 : (i > j) - (i < j);
}

static int ascending(const void *left, const void *right)
{
    uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;

    return (i > j) - (i < j);
}

/* Sorts the indices in order[], those of larger magnitudes first. */
static void sort(size_t n)
{
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    qsort(order, n, sizeof *order, larger_first);
}

static size_t topk_by_definition(size_t k)
{
    if (x[order[0]] == 0)
        return 0;
    memcpy(expected, order, k * sizeof *order);
    qsort(expected, k, sizeof *expected, ascending);
    return k;
}

/* --- cases --------------------------------------------------------------- */

/* Begins with work memory of the requested size, of hardly any, or between. */
static struct aps_bracket begin(size_t n, size_t k, int much, enum aps_cpu cpu)
{
    static float delta[N_MAX];
    static const float zeros[N_MAX];
    struct aps_bracket_work given = {
        .bytes = much == 0   ? aps_bracket_room(n, k)
                 : much == 1 ? APS_BRACKET_ROOM_MIN
                             : APS_BRACKET_ROOM_MIN + 50000,
    };
    struct aps_bracket bracket;
    size_t q = k < n ? k + 1 : n;

    /* exactly the given size, so that a sanitizer finds writes beyond it */
    free(work);
    given.memory = work = malloc(given.bytes);
    if (!work)
        bail_out("no memory");
    memset(work, much, given.bytes);
    if (much == 0)
        aps_bracket_begin(x, zeros, n, q, delta, &given, cpu, &bracket);
    else
        aps_bracket_begin(x, NULL, n, much == 1 ? q : 1 + n / 3, NULL, &given,
                          cpu, &bracket);
    memset(indices, 0xa5, sizeof indices);
    return bracket;
}

/* The indices are `count` as expected, and nothing is written after them. */
static bool same_indices(size_t got, size_t count)
{
    return got == count && indices[count] == GUARD &&
           memcmp(indices, expected, count * sizeof *indices) == 0;
}

static bool same_double(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static bool mstopk_agrees(size_t n, size_t k, enum aps_cpu cpu)
{
    struct aps_selection want = mstopk_by_definition(n, k), got;
    bool pass = true;

    for (int much = 0; much < 3; much++) {
        struct aps_bracket bracket = begin(n, k, much, cpu);

        aps_select_mstopk(&bracket, k, &options, indices, &got);
        pass &= same_indices(got.count, want.count) &&
                same_double(got.t1, want.t1) && same_double(got.t2, want.t2) &&
                got.k1 == want.k1 && got.k2 == want.k2 &&
                got.start == want.start;
        if (!pass) {
            diag("n %zu, k %zu, work %d: t1 %a, not %a; t2 %a, not %a; k1 %zu, "
                 "not %zu; k2 %zu, not %zu; start %zu, not %zu",
                 n, k, much, got.t1, want.t1, got.t2, want.t2, got.k1, want.k1,
                 got.k2, want.k2, got.start, want.start);
            return false;
        }
    }
    return want.count == k || want.count == 0;
}

static bool topk_agrees(size_t n, size_t k, enum aps_cpu cpu)
{
    size_t want = topk_by_definition(k);
    bool pass = true;

    for (int much = 0; much < 3; much++) {
        struct aps_bracket bracket = begin(n, k, much, cpu);

        pass &= same_indices(aps_select_topk(&bracket, k, indices), want);
    }
    return pass;
}

/* Compares the selection: all elements that reach the k-th magnitude, and no
 * more than k of those that reach half of it. */
static bool threshold_agrees(size_t n, size_t k, enum aps_cpu cpu)
{
    const float t = fabsf(x[order[k - 1]]);
    const size_t all = reaching(n, (double)t);
    const size_t want = reaching(n, (double)(t / 2));
    bool pass = true;

    for (int much = 0; much < 3; much++) {
        struct aps_bracket bracket = begin(n, all, much, cpu);

        memcpy(expected, order, all * sizeof *order);
        qsort(expected, all, sizeof *expected, ascending);
        pass &=
            same_indices(aps_select_threshold(&bracket, t, all, indices), all);
        bracket = begin(n, k, much, cpu);
        topk_by_definition(k);
        pass &=
            (want < k || x[order[0]] == 0) ||
            same_indices(aps_select_threshold(&bracket, t / 2, k, indices), k);
    }
    return pass;
}

/* --- tests --------------------------------------------------------------- */

static const double densities[] = {0,   0.001, 0.01, 0.1, 0.125,
                                   0.3, 0.5,   0.9,  1};
#define DENSITIES (sizeof densities / sizeof *densities)

static size_t k_of(size_t n, size_t d)
{
    return aps_select_count(densities[d], n);
}

static void test_vector(const struct vector *vector, enum aps_cpu cpu)
{
    static const size_t sizes[] = {1, 2, 3, 31, 33, 1000, 1025, 20000};
    bool mstopk = true, topk = true, threshold = true;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i];

        vector_fill(vector, n, x);
        sort(n);
        for (size_t d = 0; d < DENSITIES; d++) {
            mstopk = mstopk && mstopk_agrees(n, k_of(n, d), cpu);
            topk = topk && topk_agrees(n, k_of(n, d), cpu);
            threshold = threshold && threshold_agrees(n, k_of(n, d), cpu);
        }
        mstopk = mstopk && (n == 1 || mstopk_agrees(n, n - 1, cpu));
    }
    ok(mstopk, "%s: MSTopK of %s: as its loop is written", aps_cpu_name(cpu),
       vector->name);
    ok(topk, "%s: the largest of %s, exactly", aps_cpu_name(cpu), vector->name);
    ok(threshold, "%s: what reaches a threshold of %s", aps_cpu_name(cpu),
       vector->name);
}

/* The vector is large enough for a sample. */
static void test_large(enum aps_cpu cpu)
{
    bool pass[VECTORS];

    for (size_t v = 0; v < VECTORS; v++) {
        pass[v] = true;
        vector_fill(&vectors[v], N_MAX, x);
        for (size_t d = 2; d < DENSITIES; d += 3)
            pass[v] = pass[v] && mstopk_agrees(N_MAX, k_of(N_MAX, d), cpu);
        ok(pass[v], "%s: MSTopK of %d elements, %s", aps_cpu_name(cpu), N_MAX,
           vectors[v].name);
    }
}

static void test_many(enum aps_cpu cpu)
{
    bool pass = true;

    for (int i = 0; i < 3000 && pass; i++) {
        const struct vector *vector = &vectors[random_bits() % VECTORS];
        size_t n = 1 + random_bits() % 200;

        vector_fill(vector, n, x);
        pass = mstopk_agrees(n, 1 + random_bits() % n, cpu);
    }
    ok(pass, "%s: MSTopK of 3000 short arrays", aps_cpu_name(cpu));
}

static void test_zero(void)
{
    struct aps_selection s = {.count = 9};
    struct aps_bracket bracket;

    memset(x, 0, sizeof x);
    x[3] = -0.0f;
    bracket = begin(100, 3, 1, APS_CPU_PLAIN);
    aps_select_mstopk(&bracket, 10, &options, indices, &s);
    ok(s.count == 0 && indices[0] == GUARD &&
           aps_select_topk(&bracket, 10, indices) == 0,
       "nothing is selected of zeros");
}

/* Eight ones, and three requested: the published form, which begins with t1 =
 * 0, selects all eight. */
static void test_alike(void)
{
    struct aps_selection s;
    struct aps_bracket bracket;

    for (size_t i = 0; i < 8; i++)
        x[i] = 1;
    bracket = begin(8, 3, 1, APS_CPU_PLAIN);
    aps_select_mstopk(&bracket, 3, &options, indices, &s);
    ok(s.count == 3 && s.k1 == 0 && isinf(s.t1) && s.k2 == 8,
       "three of eight ones");
}

static void test_draw(void)
{
    struct aps_cast_options other = options;
    struct aps_selection s;
    bool seen[6] = {false};
    struct aps_bracket bracket;

    for (size_t i = 0; i < 8; i++)
        x[i] = 1;
    bracket = begin(8, 3, 1, APS_CPU_PLAIN);
    aps_select_mstopk(&bracket, 3, &options, indices, &s);
    size_t first = s.start;

    other.rank = 5;
    aps_select_mstopk(&bracket, 3, &other, indices, &s);
    ok(s.start == first, "all ranks draw alike");
    for (other.step = 0; other.step < 200; other.step++) {
        aps_select_mstopk(&bracket, 3, &other, indices, &s);
        if (s.start < 6)
            seen[s.start] = true;
        else
            first = SIZE_MAX;
    }
    ok(first != SIZE_MAX && seen[0] && seen[1] && seen[2] && seen[3] &&
           seen[4] && seen[5],
       "all six runs of three among eight are drawn, and no other");
}

static void test_count(void)
{
    ok(aps_select_count(0.01, 1000) == 10 && aps_select_count(0.01, 99) == 1 &&
           aps_select_count(0, 5) == 1 && aps_select_count(0.01, 0) == 0 &&
           aps_select_count(1, 7) == 7 && aps_select_count(2, 7) == 7 &&
           aps_select_count(0.9, 11) == 9,
       "k is the density times n, at least 1 and at most n");
}

int main(void)
{
    for (enum aps_cpu cpu = APS_CPU_PLAIN; cpu < APS_CPUS; cpu++) {
        if (!aps_cpu_supported(cpu)) {
            skip(1, "this machine has no %s", aps_cpu_name(cpu));
            continue;
        }
        for (size_t v = 0; v < VECTORS; v++)
            test_vector(&vectors[v], cpu);
        test_large(cpu);
        test_many(cpu);
    }
    test_zero();
    test_alike();
    test_draw();
    test_count();
    free(work);
    return done_testing();
}

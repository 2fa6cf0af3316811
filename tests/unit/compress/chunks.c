/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks: their norms, the selection by norms, packing and unpacking.
 */
#include "config.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "compress/chunks.h"
#include "unit/common/vectors.h"

#define N_MAX 20000
#define GUARD 0xa5a5a5a5u

static float x[N_MAX], y[N_MAX + 1], packed[N_MAX + 1], norms[N_MAX + 1];
static float given[N_MAX];
static uint32_t chosen[N_MAX + 1], expected[N_MAX];
static uint64_t memory[100000];

static const struct aps_bracket_work work = {memory, sizeof memory};

static void test_norms(void)
{
    static const size_t sizes[] = {1, 3, 32, 100, 19999, 20000, 30000};
    bool pass = true;

    vector_fill(&vectors[1], N_MAX, x);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t count = aps_chunks_count(N_MAX, sizes[s]);

        memset(norms, 0xa5, sizeof norms);
        aps_chunks_norms(x, N_MAX, sizes[s], norms);
        pass &= aps_float_bits(norms[count]) == GUARD &&
                count == (N_MAX + sizes[s] - 1) / sizes[s];
        for (size_t c = 0; c < count; c++) {
            long double sum = 0;

            for (size_t i = c * sizes[s]; i < N_MAX && i < (c + 1) * sizes[s];
                 i++)
                sum += fabsl((long double)x[i]);
            pass &= fabsl(sum - (long double)norms[c]) <= sum * 0x1p-23L;
        }
    }
    ok(pass, "norms are the chunks' sums of |x|, the last chunk's too");
    for (size_t i = 0; i < 10; i++)
        x[i] = -FLT_MAX;
    aps_chunks_norms(x, 10, 5, norms);
    ok(norms[0] == FLT_MAX && norms[1] == FLT_MAX,
       "a norm beyond the floats is the greatest one");
}

static int greater_first(const void *left, const void *right)
{
    uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;

    return given[i] > given[j]   ? -1
           : given[i] < given[j] ? 1
                                 : (i > j) - (i < j);
}

static int ascending(const void *left, const void *right)
{
    uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;

    return (i > j) - (i < j);
}

/* Compares the selection from given[count] with its definition. */
static bool choice_agrees(size_t count, size_t keep)
{
    for (size_t i = 0; i < count; i++)
        expected[i] = (uint32_t)i;
    qsort(expected, count, sizeof *expected, greater_first);
    qsort(expected, keep, sizeof *expected, ascending);
    memcpy(norms, given, count * sizeof *norms);
    memset(chosen, 0xa5, sizeof chosen);
    return aps_chunks_choose(norms, count, keep, &work, chosen) == keep &&
           memcmp(chosen, expected, keep * sizeof *chosen) == 0 &&
           chosen[keep] == GUARD;
}

static void test_choice(void)
{
    bool random = true, ties = true;

    for (size_t count = 1; count < 3000; count = count * 3 / 2 + 1) {
        for (size_t i = 0; i < count; i++)
            given[i] = (float)vector_uniform();
        for (size_t keep = 1; keep <= count; keep = keep * 2 + 1)
            random &= choice_agrees(count, keep);
        for (size_t i = 0; i < count; i++)
            given[i] = (float)(1 + random_bits() % 3);
        for (size_t keep = 1; keep <= count; keep = keep * 2 + 1)
            ties &= choice_agrees(count, keep);
    }
    ok(random, "the chunks of the greatest norms");
    ok(ties, "of equal norms the first");
    memset(norms, 0, sizeof norms);
    ok(aps_chunks_choose(norms, 100, 10, &work, chosen) == 0,
       "no chunk of zeros is chosen");
    norms[7] = INFINITY;
    norms[9] = 1;
    ok(aps_chunks_choose(norms, 100, 2, &work, chosen) == 2 && chosen[0] == 7 &&
           chosen[1] == 9,
       "a norm that overflowed in the sum over the ranks is the greatest");
}

/* Packs and unpacks random chunks of n elements. */
static bool there_and_back(size_t n, size_t size)
{
    size_t count = aps_chunks_count(n, size), keep = 0, elements = 0, at;
    bool pass = true;

    for (size_t c = 0; c < count; c++) {
        if (random_bits() % 3 == 0) {
            chosen[keep++] = (uint32_t)c;
            elements += c + 1 < count ? size : n - c * size;
        }
    }
    vector_fill(&vectors[0], n, x);
    memset(packed, 0xa5, sizeof packed);
    memset(y, 0xa5, sizeof y);
    at = aps_chunks_gather(x, n, size, chosen, keep, packed);
    pass = at == elements && aps_float_bits(packed[at]) == GUARD;
    aps_chunks_scatter(packed, n, size, chosen, keep, y);
    pass &= aps_float_bits(y[n]) == GUARD;
    memcpy(packed, x, n * sizeof *x);
    aps_chunks_clear(packed, n, size, chosen, keep);
    for (size_t i = 0, next = 0; i < n; i++) {
        bool sent;

        while (next < keep && chosen[next] < i / size)
            next++;
        sent = next < keep && chosen[next] == i / size;
        pass &= y[i] == (sent ? x[i] : 0) && packed[i] == (sent ? 0 : x[i]);
    }
    return pass;
}

static void test_packing(void)
{
    bool pass = true;

    for (int i = 0; i < 300; i++)
        pass &=
            there_and_back(1 + random_bits() % N_MAX, 1 + random_bits() % 300);
    ok(pass, "chosen chunks arrive, others are 0; what is left has the others");
}

int main(void)
{
    test_norms();
    test_choice();
    test_packing();
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selected elements: sent and remembered values add up to the input, and the
 * ranks' elements are added in the order of the ranks.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "compress/sparse.h"
#include "unit/common/vectors.h"

#define N 100003
#define RANKS 5

static float x[N], memory[N], sum[N + 1], expected[N];
static uint32_t indices[RANKS][N];
static float values[RANKS][N], sent[N];

/* Chooses about 1 element in `one_in`. Returns the number of elements. */
static size_t choose(size_t one_in, uint32_t *to)
{
    size_t k = 0;

    for (size_t i = 0; i < N; i++) {
        if (random_bits() % one_in == 0)
            to[k++] = (uint32_t)i;
    }
    return k;
}

static void test_take(void)
{
    struct aps_format e4m3 = format_named("e4m3");
    size_t k = choose(7, indices[0]), next = 0;
    bool exact = true, rounds = true, gathered = true;

    vector_fill(&vectors[0], N, x);
    memcpy(memory, x, sizeof x);
    aps_sparse_gather(memory, indices[0], k, values[0]);
    aps_sparse_take(memory, indices[0], k, values[0], NULL);
    for (size_t i = 0; i < N; i++) {
        bool taken = next < k && indices[0][next] == i;

        gathered &= !taken || values[0][next] == x[i];
        exact &= memory[i] == (taken ? 0 : x[i]);
        next += taken;
    }
    ok(gathered, "the values of the selected elements");
    ok(exact, "selected elements become 0 in the memory, and no others");

    memcpy(memory, x, sizeof x);
    for (size_t i = 0; i < k; i++)
        sent[i] = rounded(&e4m3, values[0][i]);
    aps_sparse_take(memory, indices[0], k, values[0], sent);
    next = 0;
    for (size_t i = 0; i < N; i++) {
        bool taken = next < k && indices[0][next] == i;

        rounds &= memory[i] == (taken ? x[i] - rounded(&e4m3, x[i]) : x[i]);
        next += taken;
    }
    ok(rounds, "what a format rounds off is remembered");
}

/* Sums by the definition, rank by rank. */
static void sum_by_definition(const struct aps_sparse *ranks, size_t count)
{
    memset(expected, 0, sizeof expected);
    for (size_t r = 0; r < count; r++) {
        for (size_t i = 0; i < ranks[r].count; i++)
            expected[ranks[r].indices[i]] += ranks[r].values[i];
    }
}

static void test_sum(void)
{
    static const size_t one_in[RANKS] = {3, 1, 100, 50000, 2};
    struct aps_sparse ranks[RANKS];
    size_t at[RANKS];
    bool pass = true;

    for (size_t r = 0; r < RANKS; r++) {
        ranks[r].count = choose(one_in[r], indices[r]);
        ranks[r].indices = indices[r];
        ranks[r].values = values[r];
        vector_fill(&vectors[1], ranks[r].count, values[r]);
    }
    ranks[3].count = 0;
    for (size_t count = 0; count <= RANKS; count++) {
        sum_by_definition(ranks, count);
        memset(sum, 0xa5, sizeof sum);
        aps_sparse_sum(ranks, count, N, at, sum);
        pass &= memcmp(sum, expected, sizeof expected) == 0 &&
                aps_float_bits(sum[N]) == 0xa5a5a5a5u;
    }
    ok(pass, "elements are added in the order of the ranks, bit for bit");
}

/* Over many steps: sent + remembered = all inputs, if no sum is rounded. */
static void test_telescope(void)
{
    static int64_t came[N], went[N];
    bool pass = true;

    memset(memory, 0, sizeof memory);
    for (int step = 0; step < 50; step++) {
        size_t k = choose(20, indices[0]);

        for (size_t i = 0; i < N; i++) {
            int g = (int)(random_bits() % 2001) - 1000;

            memory[i] += (float)g;
            came[i] += g;
        }
        aps_sparse_gather(memory, indices[0], k, values[0]);
        aps_sparse_take(memory, indices[0], k, values[0], NULL);
        for (size_t i = 0; i < k; i++)
            went[indices[0][i]] += (int64_t)values[0][i];
    }
    for (size_t i = 0; i < N; i++)
        pass &= went[i] + (int64_t)memory[i] == came[i];
    ok(pass, "what was sent and what is remembered is all that came");
}

int main(void)
{
    test_take();
    test_sum();
    test_telescope();
    return done_testing();
}

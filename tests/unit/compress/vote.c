/* SPDX-License-Identifier: BSD-3-Clause */
/* Majority votes equal votes that are counted one by one. */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compress/vote.h"
#include "tests/tap/tap.h"

#define LONGEST 103

static float draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(int)(*seed >> 8) / 8388608.0f - 1;
}

/* All ranks vote as `bias` requires, except for random ones. */
static void test_votes(int ranks, size_t n, float bias)
{
    const size_t stride = aps_vote_bytes(n) + 3;
    uint8_t *ballots = malloc((size_t)ranks * stride + 1);
    uint8_t outcome[2 * LONGEST];
    float x[LONGEST + 1], y[LONGEST + 1];
    int sums[LONGEST + 1] = {0};
    unsigned seed = (unsigned)n;
    bool right = true;

    memset(ballots, 0xff, (size_t)ranks * stride + 1);
    for (int rank = 0; rank < ranks; rank++) {
        for (size_t i = 0; i < n; i++) {
            x[i] = i % 7 == 3 ? bias : draw(&seed) + bias;
            sums[i] += signbit(x[i]) ? -1 : 1;
        }
        aps_vote_cast(x, n, ballots + (size_t)rank * stride);
        right &= ballots[(size_t)rank * stride + aps_vote_bytes(n)] == 0xff;
    }
    memset(outcome, 0xee, sizeof outcome);
    aps_vote_count(ballots, stride, ranks, n, outcome);
    right &= outcome[aps_vote_outcome_bytes(ranks, n)] == 0xee;
    y[n] = 9;
    aps_vote_decode(outcome, ranks, n, 2.5f, y);
    right &= y[n] == 9;
    for (size_t i = 0; i < n; i++)
        right &= y[i] == 2.5f * (float)((sums[i] > 0) - (sums[i] < 0));
    ok(right, "%d ranks, %zu elements, about %g", ranks, n, (double)bias);
    free(ballots);
}

static void test_zeros(void)
{
    const float x[] = {0.0f, -0.0f, NAN, -INFINITY};
    uint8_t ballot;

    aps_vote_cast(x, 4, &ballot);
    ok((ballot & 0xb) == 0xa, "zeros have signs");
}

static void test_bytes(void)
{
    ok(aps_vote_bytes(0) == 0 && aps_vote_bytes(8) == 1 &&
           aps_vote_bytes(9) == 2,
       "a sign is a bit");
    ok(aps_vote_outcome_bytes(3, 16) == 2 && aps_vote_outcome_bytes(4, 16) == 4,
       "an outcome, too, but with ties five are a byte");
}

int main(void)
{
    static const int ranks[] = {1, 2, 3, 4, 7, 8, 254, 255, 256, 511, 600};
    static const size_t lengths[] = {0, 1, 5, 8, 39, 40, 41, LONGEST};

    test_bytes();
    test_zeros();
    for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            test_votes(ranks[r], lengths[i], 0);
            test_votes(ranks[r], lengths[i], -0.1f);
            test_votes(ranks[r], lengths[i], 3);
        }
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compress/vote.h"

#include <string.h>

#include "number/bits.h"

#define BYTE 8   /* signs */
#define DIGITS 5 /* in a byte: 3^5 <= 256 */

/* Ranks that a byte can count. */
#define COUNTED 255

size_t aps_vote_bytes(size_t n)
{
    return n / BYTE + (n % BYTE > 0);
}

size_t aps_vote_outcome_bytes(int ranks, size_t n)
{
    return ranks % 2 ? aps_vote_bytes(n) : n / DIGITS + (n % DIGITS > 0);
}

static uint8_t vote_signs(const float *x, size_t n)
{
    unsigned signs = 0;

    for (size_t i = 0; i < n; i++)
        signs |= aps_float_bits(x[i]) >> 31 << i;
    return (uint8_t)signs;
}

void aps_vote_cast(const float *x, size_t n, uint8_t *ballot)
{
    size_t i = 0;

    for (; i + BYTE <= n; i += BYTE)
        ballot[i / BYTE] = vote_signs(x + i, BYTE);
    if (i < n)
        ballot[i / BYTE] = vote_signs(x + i, n - i);
}

/* Returns a byte of 0 or 1 for each bit of a byte of signs, the first one
 * lowest. */
static uint64_t vote_spread(uint8_t signs)
{
    const uint64_t each =
        signs * UINT64_C(0x0101010101010101) & UINT64_C(0x8040201008040201);

    return (each + UINT64_C(0x7f7f7f7f7f7f7f7f)) >> 7 &
           UINT64_C(0x0101010101010101);
}

/* Counts the ranks that voted minus, for the eight elements of a byte. */
static void vote_count(const uint8_t *ballots, size_t stride, int ranks,
                       int against[BYTE])
{
    memset(against, 0, BYTE * sizeof *against);
    for (int first = 0; first < ranks; first += COUNTED) {
        const int end = ranks - first < COUNTED ? ranks : first + COUNTED;
        uint64_t counts = 0;

        for (int i = first; i < end; i++)
            counts += vote_spread(ballots[(size_t)i * stride]);
        for (int i = 0; i < BYTE; i++)
            against[i] += (int)(counts >> 8 * i & 255);
    }
}

static void vote_count_odd(const uint8_t *ballots, size_t stride, int ranks,
                           size_t n, uint8_t *outcome)
{
    for (size_t at = 0; at < aps_vote_bytes(n); at++) {
        int against[BYTE];
        unsigned signs = 0;

        vote_count(ballots + at, stride, ranks, against);
        for (unsigned i = 0; i < BYTE; i++)
            signs |= (unsigned)(against[i] > ranks / 2) << i;
        outcome[at] = (uint8_t)signs;
    }
}

/* Digit i of a byte, times 3^i, is the outcome + 1. */
static void vote_count_even(const uint8_t *ballots, size_t stride, int ranks,
                            size_t n, uint8_t *outcome)
{
    unsigned weight = 1, byte = 0;
    int against[BYTE] = {0};

    for (size_t i = 0; i < n; i++) {
        if (i % BYTE == 0)
            vote_count(ballots + i / BYTE, stride, ranks, against);
        const int more = ranks - 2 * against[i % BYTE];

        byte += weight * (unsigned)((more > 0) - (more < 0) + 1);
        weight *= 3;
        if (i % DIGITS == DIGITS - 1 || i + 1 == n) {
            outcome[i / DIGITS] = (uint8_t)byte;
            weight = 1;
            byte = 0;
        }
    }
}

void aps_vote_count(const uint8_t *ballots, size_t stride, int ranks, size_t n,
                    uint8_t *outcome)
{
    if (ranks % 2)
        vote_count_odd(ballots, stride, ranks, n, outcome);
    else
        vote_count_even(ballots, stride, ranks, n, outcome);
}

void aps_vote_decode(const uint8_t *outcome, int ranks, size_t n,
                     float magnitude, float *y)
{
    const float values[] = {-magnitude, 0, magnitude};
    unsigned byte = 0;

    for (size_t i = 0; ranks % 2 && i < n; i++)
        y[i] = values[outcome[i / BYTE] >> i % BYTE & 1 ? 0 : 2];
    for (size_t i = 0; ranks % 2 == 0 && i < n; i++) {
        byte = i % DIGITS == 0 ? outcome[i / DIGITS] : byte / 3;
        y[i] = values[byte % 3];
    }
}

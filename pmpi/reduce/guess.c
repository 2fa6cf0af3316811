/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/guess.h"

#include <stdint.h>

#define CACHE_LINE 64
#define INDEX_BITS 10

struct guess {
    uintptr_t place;
    int exponent; /* of the last block */
    bool repeated;
};

static _Thread_local struct guess guesses[1 << INDEX_BITS];

/* Blocks that are reduced together begin whole granules apart, of several lines, so
 * that a line further on no other one begins. */
static uintptr_t guess_place(enum aps_guess_kind kind, const float *place)
{
    return (uintptr_t)place + (kind == APS_GUESS_SUMS ? CACHE_LINE : 0);
}

/* Multiplicative hashing (Knuth, The Art of Computer Programming, 6.4). */
static struct guess *guess_of(uintptr_t place)
{
    const uint32_t line = (uint32_t)(place / CACHE_LINE);

    return &guesses[line * 2654435769u >> (32 - INDEX_BITS)];
}

bool aps_guess_exponent(enum aps_guess_kind kind, const float *place,
                        int *exponent)
{
    const uintptr_t at = guess_place(kind, place);
    const struct guess *guess = guess_of(at);

    *exponent = guess->exponent;
    return guess->place == at && guess->repeated;
}

void aps_guess_note(enum aps_guess_kind kind, const float *place, int exponent)
{
    const uintptr_t at = guess_place(kind, place);
    struct guess *guess = guess_of(at);

    guess->repeated = guess->place == at && guess->exponent == exponent;
    guess->exponent = exponent;
    guess->place = at;
}

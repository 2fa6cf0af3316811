/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/guess.h"

#include <stdint.h>

#define CACHE_LINE 64
#define INDEX_BITS 10

struct guess {
    uintptr_t place;
    float max[2]; /* the last one first; -1 is none */
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

bool aps_guess_recall(enum aps_guess_kind kind, const float *place,
                      float max[2])
{
    const uintptr_t at = guess_place(kind, place);
    const struct guess *guess = guess_of(at);

    max[0] = guess->max[0];
    max[1] = guess->max[1];
    return guess->place == at && max[1] >= 0;
}

void aps_guess_note(enum aps_guess_kind kind, const float *place, float max)
{
    const uintptr_t at = guess_place(kind, place);
    struct guess *guess = guess_of(at);

    guess->max[1] = guess->place == at ? guess->max[0] : -1;
    guess->max[0] = max;
    guess->place = at;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "block/guess.h"

#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cache.h"
#include "number/bits.h"
#include "number/philox.h"

#define SET_BITS 12
#define WAYS 4 /* in a cache line */

/* A table of 256 KiB: not of a thread, whose stack thread-local memory of a preloaded
 * library is taken from. */
static _Alignas(APS_CACHE_LINE) struct guess {
    _Atomic(uintptr_t) place; /* 0: nobody's */
    /* Of a block the bit pattern of its magnitude, of a vector its exponent. */
    _Atomic(uint32_t) last;
    _Atomic(int32_t) score; /* how well it would have been guessed */
} guesses[1 << SET_BITS][WAYS];

/* No magnitude of a float, times the number of ranks, has a greater or a lesser one. */
#define EXPONENT_MOST 400

/* A scale that recurs adds 1 to its place's score, another takes away twice as much. */
#define SCORE_LEAST (-64)
#define SCORE_VAIN 32
#define SCORE_WRONG 2
#define SCORE_GUESSED 4
#define SCORE_MOST 8

/* Blocks that are reduced together begin whole granules apart, of several lines, so
 * that a line or two further on no other one begins. */
static uintptr_t guess_place(enum aps_guess_kind kind, const float *place)
{
    return (uintptr_t)place + (kind == APS_GUESS_SUMS ? APS_CACHE_LINE : 0);
}

static uintptr_t guess_vector_place(const float *place)
{
    return (uintptr_t)place + 2 * APS_CACHE_LINE;
}

static bool guess_is_of(const struct guess *guess, uintptr_t place)
{
    return atomic_load_explicit(&guess->place, memory_order_relaxed) == place;
}

/* The place's; or else what is to become that: nobody's, or another's. */
static struct guess *guess_of(uintptr_t place)
{
    /* Places are multiples of a large power of two apart, which a single
     * multiplication would bring together. */
    const uint64_t hash = aps_stream_mix(place / APS_CACHE_LINE);
    struct guess *set = guesses[hash % (1 << SET_BITS)];

    for (int i = 0; i < WAYS; i++)
        if (guess_is_of(&set[i], place))
            return &set[i];
    for (int i = 0; i < WAYS; i++)
        if (guess_is_of(&set[i], 0))
            return &set[i];
    return &set[hash >> SET_BITS & (WAYS - 1)];
}

static uint32_t guess_last(const struct guess *guess)
{
    return atomic_load_explicit(&guess->last, memory_order_relaxed);
}

static int guess_score(const struct guess *guess)
{
    return atomic_load_explicit(&guess->score, memory_order_relaxed);
}

static int guess_next_score(int score, bool recurred, bool vain)
{
    if (recurred)
        score += score < SCORE_MOST;
    else if (score > 0)
        score = score < SCORE_WRONG ? 0 : score - SCORE_WRONG;
    if (vain)
        score -= SCORE_VAIN;
    return score < SCORE_LEAST ? SCORE_LEAST : score;
}

static void guess_note(struct guess *guess, uintptr_t place, uint32_t last,
                       bool recurred, bool vain)
{
    const int score = guess_is_of(guess, place) ? guess_score(guess) : 0;

    atomic_store_explicit(&guess->last, last, memory_order_relaxed);
    atomic_store_explicit(&guess->score,
                          guess_next_score(score, recurred, vain),
                          memory_order_relaxed);
    atomic_store_explicit(&guess->place, place, memory_order_relaxed);
}

bool aps_guess_recall(enum aps_guess_kind kind, const float *place, float *max,
                      bool *worth)
{
    const uintptr_t at = guess_place(kind, place);
    const struct guess *guess = guess_of(at);

    *max = aps_float_from_bits(guess_last(guess));
    *worth = guess_score(guess) >= SCORE_GUESSED;
    /* While another thread writes a vector's exponent there, it may be anything. */
    return place && guess_is_of(guess, at) && isfinite(*max);
}

void aps_guess_note(enum aps_guess_kind kind, const float *place, float max,
                    bool recurred)
{
    const uintptr_t at = guess_place(kind, place);

    if (place)
        guess_note(guess_of(at), at, aps_float_bits(max), recurred, false);
}

bool aps_guess_recall_exponent(const float *place, int *exponent)
{
    const uintptr_t at = guess_vector_place(place);
    const struct guess *guess = guess_of(at);

    *exponent = (int)guess_last(guess);
    /* Or a block's magnitude. */
    return guess_is_of(guess, at) && guess_score(guess) >= SCORE_GUESSED &&
           *exponent >= -EXPONENT_MOST && *exponent <= EXPONENT_MOST;
}

void aps_guess_note_exponent(const float *place, int exponent, bool vain)
{
    const uintptr_t at = guess_vector_place(place);
    struct guess *guess = guess_of(at);

    guess_note(guess, at, (uint32_t)exponent,
               guess_is_of(guess, at) && (int)guess_last(guess) == exponent,
               vain);
}

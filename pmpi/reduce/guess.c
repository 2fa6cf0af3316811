/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/guess.h"

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
    /* Of blocks: bit patterns of magnitudes, the last one first; or NONE. Of vectors:
     * the last exponent, and how well it would have been guessed. */
    _Atomic(uint32_t) known[2];
} guesses[1 << SET_BITS][WAYS];

#define NONE UINT32_MAX /* a NaN's */

/* No magnitude of a float, times the number of ranks, has a greater or a lesser one. */
#define EXPONENT_MOST 400

/* A vector's exponent that recurs adds 1 to its score, another one takes away twice as
 * much. */
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

static uint32_t guess_known(const struct guess *guess, int i)
{
    return atomic_load_explicit(&guess->known[i], memory_order_relaxed);
}

static void guess_write(struct guess *guess, uintptr_t place, uint32_t first,
                        uint32_t second)
{
    atomic_store_explicit(&guess->known[1], second, memory_order_relaxed);
    atomic_store_explicit(&guess->known[0], first, memory_order_relaxed);
    atomic_store_explicit(&guess->place, place, memory_order_relaxed);
}

bool aps_guess_recall(enum aps_guess_kind kind, const float *place,
                      float max[2])
{
    const uintptr_t at = guess_place(kind, place);
    const struct guess *guess = guess_of(at);
    const uint32_t last = guess_known(guess, 0), before = guess_known(guess, 1);

    max[0] = aps_float_from_bits(last);
    max[1] = aps_float_from_bits(before);
    return place && guess_is_of(guess, at) && last != NONE && before != NONE;
}

void aps_guess_note(enum aps_guess_kind kind, const float *place, float max)
{
    const uintptr_t at = guess_place(kind, place);
    struct guess *guess = guess_of(at);
    const uint32_t before =
        guess_is_of(guess, at) ? guess_known(guess, 0) : NONE;

    if (place)
        guess_write(guess, at, aps_float_bits(max), before);
}

bool aps_guess_recall_exponent(const float *place, int *exponent)
{
    const uintptr_t at = guess_vector_place(place);
    const struct guess *guess = guess_of(at);

    *exponent = (int)guess_known(guess, 0);
    /* While another thread writes a block's magnitude there, it may be anything. */
    return guess_is_of(guess, at) &&
           (int)guess_known(guess, 1) >= SCORE_GUESSED &&
           *exponent >= -EXPONENT_MOST && *exponent <= EXPONENT_MOST;
}

void aps_guess_note_exponent(const float *place, int exponent, bool vain)
{
    const uintptr_t at = guess_vector_place(place);
    struct guess *guess = guess_of(at);
    const bool known = guess_is_of(guess, at);
    int score = known ? (int)guess_known(guess, 1) : 0;

    if (known && (int)guess_known(guess, 0) == exponent)
        score += score < SCORE_MOST;
    else if (score > 0)
        score = score < SCORE_WRONG ? 0 : score - SCORE_WRONG;
    if (vain)
        score -= SCORE_VAIN;
    if (score < SCORE_LEAST)
        score = SCORE_LEAST;
    guess_write(guess, at, (uint32_t)exponent, (uint32_t)score);
}

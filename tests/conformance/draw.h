/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random numbers from a 64-bit seed (splitmix64).
 */
#ifndef CONFORMANCE_DRAW_H
#define CONFORMANCE_DRAW_H

#include <stdbool.h>
#include <stdint.h>

struct draw {
    uint64_t state;
};

/* A bijection whose results look random. */
static inline uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t draw_word(struct draw *draw)
{
    const uint64_t word = mix(draw->state);

    draw->state += UINT64_C(0x9e3779b97f4a7c15);
    return word;
}

/* Returns one of 0 .. n-1; 0 if n is 0. */
static inline int draw_below(struct draw *draw, int n)
{
    const uint64_t word = draw_word(draw);

    return n > 0 ? (int)((word >> 11) % (uint64_t)n) : 0;
}

/* True `percent` times of a hundred. */
static inline bool draw_chance(struct draw *draw, int percent)
{
    return draw_below(draw, 100) < percent;
}

#endif

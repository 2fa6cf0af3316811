/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random numbers: splitmix64 (Steele, Lea, Flood 2014). The same state gives the
 * same numbers on every rank.
 */
#ifndef DIGITS_RANDOM_H
#define DIGITS_RANDOM_H

#include <stdint.h>

/* Returns a number that is uniform in [0, 1). */
float random_unit(uint64_t *state);

void random_shuffle(uint64_t *state, int n, int *index);

#endif

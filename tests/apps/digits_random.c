/* SPDX-License-Identifier: BSD-3-Clause */
#include "digits_random.h"

static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Uniform in [0, 1), a multiple of 2^-24: exact in float. */
float random_unit(uint64_t *state)
{
    return (float)(random_next(state) >> 40) * 0x1p-24f;
}

void random_shuffle(uint64_t *state, int n, int *index)
{
    for (int i = n - 1; i > 0; i--) {
        uint64_t word = random_next(state) >> 32;
        int j = (int)((word * (uint64_t)(i + 1)) >> 32);
        int swap = index[i];

        index[i] = index[j];
        index[j] = swap;
    }
}

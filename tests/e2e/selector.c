/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MSTopK of arrays from standard input, for mstopk.py: for each array seven
 * 64-bit numbers, n, k, seed, layer, step, stage and the bytes of work memory
 * (0: the best size), and n floats. Prints a line for each: t1, t2, k1, k2,
 * start, and the selected indices.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "compress/select.h"

enum { N, K, SEED, LAYER, STEP, STAGE, BYTES, NUMBERS };

static void print(const struct aps_selection *s, const uint32_t *indices)
{
    printf("%a %a %zu %zu %zu", s->t1, s->t2, s->k1, s->k2, s->start);
    for (size_t i = 0; i < s->count; i++)
        printf(" %u", (unsigned)indices[i]);
    printf("\n");
}

/* Returns 0, or -1 if the array is incomplete or memory is short. */
static int select_one(const uint64_t *number)
{
    const size_t n = number[N], k = number[K];
    const struct aps_cast_options options = {
        .seed = number[SEED],
        .layer = (uint32_t)number[LAYER],
        .step = (uint32_t)number[STEP],
        .stage = (uint32_t)number[STAGE],
    };
    struct aps_bracket_work work = {
        .bytes = number[BYTES] ? number[BYTES] : aps_bracket_room(n, k),
    };
    float *x = malloc(n * sizeof *x);
    uint32_t *indices = malloc(k * sizeof *indices);
    int rc = -1;

    work.memory = malloc(work.bytes);
    if (x && indices && work.memory && fread(x, sizeof *x, n, stdin) == n) {
        struct aps_bracket bracket;
        struct aps_selection selection;

        aps_bracket_begin(x, NULL, n, k < n ? k + 1 : n, NULL, &work,
                          aps_cpu_chosen(), &bracket);
        aps_select_mstopk(&bracket, k, &options, indices, &selection);
        print(&selection, indices);
        rc = 0;
    }
    free(x);
    free(indices);
    free(work.memory);
    return rc;
}

int main(void)
{
    uint64_t number[NUMBERS];

    while (fread(number, sizeof *number, NUMBERS, stdin) == NUMBERS) {
        if (select_one(number) < 0)
            return 1;
    }
    return 0;
}

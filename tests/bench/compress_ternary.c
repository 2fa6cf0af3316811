/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TernGrad's passes over a layer: ms of the fastest run, GB/s of the layer's
 * floats, and the time divided by that of memcpy of the floats. An owner's
 * passes are those of a job of RANKS ranks, over all the layer's floats.
 */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compress.h"
#include "compress/ternary.h"
#include "compress/ternary_sums.h"

#define FLOATS 26843545 /* 25.6 Mi: ResNet-50's gradients */
#define RANKS 2
#define BLOCK (10 * APS_TERNARY_GROUP) /* floats of an owner's sums at a time */

struct data {
    enum aps_cpu cpu;
    struct aps_ternary_scale scale;
    float *g, *e, *x;
    uint8_t *digits, *sums;
};

static void run_measure_sum(void *data)
{
    struct data *d = data;

    (void)aps_ternary_measure_sum(d->g, d->e, FLOATS, 2.5f, d->cpu, d->x,
                                  &d->scale);
}

static void run_measure(void *data)
{
    struct data *d = data;

    (void)aps_ternary_measure(d->x, FLOATS, 2.5f, d->cpu, &d->scale);
}

static void run_encode(void *data)
{
    struct data *d = data;
    static const struct aps_cast_options draw = {.seed = 1};

    aps_ternary_encode(d->x, FLOATS, d->scale.limit, d->scale.scaler, &draw,
                       d->cpu, d->digits);
}

static void run_take(void *data)
{
    struct data *d = data;
    static const struct aps_cast_options draw = {.seed = 1};

    aps_ternary_take(d->x, FLOATS, d->scale.limit, d->scale.scaler, &draw,
                     d->cpu, d->digits);
}

static void run_sum(void *data)
{
    struct data *d = data;
    int16_t sum[BLOCK];

    for (size_t at = 0; at < FLOATS; at += BLOCK) {
        const size_t n = FLOATS - at < BLOCK ? FLOATS - at : BLOCK;

        memset(sum, 0, n * sizeof *sum);
        for (int i = 0; i < RANKS; i++)
            aps_ternary_add(d->digits + aps_ternary_bytes(at), n, d->cpu, sum);
        aps_ternary_sum_pack(sum, n, RANKS,
                             d->sums + aps_ternary_sum_bytes(RANKS, at));
    }
}

static void run_sum_decode(void *data)
{
    struct data *d = data;

    aps_ternary_sum_decode(d->sums, FLOATS, RANKS, d->scale.scaler, d->cpu,
                           d->g);
}

/* In the order of a call. */
static const struct bench_row rows[] = {
    {"measure x", run_measure},
    {"x = g + e, measure x", run_measure_sum},
    {"encode x", run_encode},
    {"encode x, and what is left of it", run_take},
    {"add the digits of 2 ranks, pack", run_sum},
    {"decode the sums", run_sum_decode},
};

int bench_ternary(void)
{
    struct data d = {
        .cpu = aps_cpu_chosen(),
        .g = bench_floats(FLOATS),
        .e = bench_floats(FLOATS),
        .x = bench_floats(FLOATS),
        .digits = malloc(aps_ternary_bytes(FLOATS)),
        .sums = malloc(aps_ternary_sum_bytes(RANKS, FLOATS)),
    };

    if (!d.digits || !d.sums) {
        perror("compress");
        exit(1);
    }
    bench_rows("ternary", rows, sizeof rows / sizeof *rows, &d, d.g, FLOATS,
               d.x);
    free(d.g);
    free(d.e);
    free(d.x);
    free(d.digits);
    free(d.sums);
    return 0;
}

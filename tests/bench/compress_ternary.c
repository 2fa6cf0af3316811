/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TernGrad's passes over a layer: ms of the fastest run, GB/s of the layer's
 * floats, and the time divided by that of memcpy of the floats. What an owner does
 * with its slice is of a job of RANKS ranks, and of all the layer's floats.
 */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compress.h"
#include "compress/ternary.h"

#define FLOATS 26843545 /* 25.6 Mi: ResNet-50's gradients */
#define RANKS 2
#define BLOCK (10 * APS_TERNARY_GROUP) /* floats of an owner's sums at a time */

struct data {
    enum aps_cpu cpu;
    struct aps_ternary_scale scale;
    float *g, *e, *x;
    uint8_t *digits, *sums;
};

static void run_measure_sum(struct data *d)
{
    (void)aps_ternary_measure_sum(d->g, d->e, FLOATS, 2.5f, d->cpu, d->x,
                                  &d->scale);
}

static void run_measure(struct data *d)
{
    (void)aps_ternary_measure(d->x, FLOATS, 2.5f, d->cpu, &d->scale);
}

static void run_encode(struct data *d)
{
    static const struct aps_cast_options draw = {.seed = 1};

    aps_ternary_encode(d->x, FLOATS, d->scale.limit, d->scale.scaler, &draw,
                       d->cpu, d->digits);
}

static void run_take(struct data *d)
{
    static const struct aps_cast_options draw = {.seed = 1};

    aps_ternary_take(d->x, FLOATS, d->scale.limit, d->scale.scaler, &draw,
                     d->cpu, d->digits);
}

static void run_decode(struct data *d)
{
    aps_ternary_decode(d->digits, FLOATS, d->scale.scaler, d->cpu, d->e);
}

static void run_sum(struct data *d)
{
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

static void run_sum_decode(struct data *d)
{
    aps_ternary_sum_decode(d->sums, FLOATS, RANKS, d->scale.scaler, d->cpu,
                           d->g);
}

/* In the order of a call. */
static const struct {
    const char *name;
    void (*run)(struct data *);
} rows[] = {
    {"measure x", run_measure},
    {"x = g + e, measure x", run_measure_sum},
    {"encode x", run_encode},
    {"encode x, and what is left of it", run_take},
    {"add the digits of 2 ranks, pack", run_sum},
    {"decode the digits", run_decode},
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
    const double copy = bench_memcpy(d.g, FLOATS, d.x);
    const double bytes = (double)FLOATS * sizeof(float);

    if (!d.digits || !d.sums) {
        perror("compress");
        exit(1);
    }
    printf("ternary, %d floats, %s: shortest run in ms, GB/s of the floats, "
           "time divided by memcpy's\n",
           FLOATS, aps_cpu_name(d.cpu));
    printf("  %-34s %8.3f %8.1f %8.2f\n", "memcpy", copy * 1e3,
           bytes / copy * 1e-9, 1.0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double best = 1e9;

        for (int r = 0; r < BENCH_RUNS; r++) {
            const double start = bench_now();

            rows[i].run(&d);
            const double seconds = bench_now() - start;
            best = seconds < best ? seconds : best;
        }
        printf("  %-34s %8.3f %8.1f %8.2f\n", rows[i].name, best * 1e3,
               bytes / best * 1e-9, best / copy);
    }
    free(d.g);
    free(d.e);
    free(d.x);
    free(d.digits);
    free(d.sums);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the selection of 1 % of the elements with one read of them (their maximum)
 * and with introselect on |x|. The latter, which std::nth_element uses, is a
 * quickselect with the median of three, as in libstdc++, whose fall-back to a heap such
 * data never reach. compress_select.py times numpy's introselect on the same data.
 */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "compress.h"
#include "compress/chunks.h"
#include "compress/indices.h"
#include "compress/select.h"
#include "compress/sparse.h"

#define DENSITY 0.01
#define FLOATS 26843545 /* 25.6 Mi: ResNet-50's gradients */
#define RANKS 8
#define CHUNK 32768

struct data {
    struct aps_bracket_work work;
    struct aps_bracket bracket;
    enum aps_cpu cpu;
    size_t n, k;
    float *g, *e, *delta, *other;
    float *values, *norms;
    uint32_t *indices;
    unsigned char *wire;
    struct aps_sparse ranks[RANKS];
};

static volatile float sink;

/* --- measured passes ------------------------------------------------------ */

static void run_read(struct data *d)
{
    sink = aps_max_finite(d->delta, d->n);
}

static void run_memcpy(struct data *d)
{
    memcpy(d->other, d->delta, d->n * sizeof *d->delta);
}

static void run_magnitudes(struct data *d)
{
    sink = aps_magnitudes_of(d->delta, d->n).max;
}

static void run_add(struct data *d)
{
    sink = aps_magnitudes_add(d->g, d->e, d->n, d->other).max;
}

static void run_begin(struct data *d)
{
    aps_bracket_begin(d->delta, NULL, d->n, d->k + 1, NULL, &d->work, d->cpu,
                      &d->bracket);
}

static void run_feedback(struct data *d)
{
    aps_bracket_begin(d->g, d->e, d->n, d->k + 1, d->other, &d->work, d->cpu,
                      &d->bracket);
}

static void run_selection(struct data *d)
{
    static const struct aps_cast_options options = {.seed = 1};
    struct aps_selection selection;

    aps_select_mstopk(&d->bracket, d->k, &options, d->indices, &selection);
}

static void run_mstopk(struct data *d)
{
    run_begin(d);
    run_selection(d);
}

static void run_mstopk_feedback(struct data *d)
{
    run_feedback(d);
    run_selection(d);
}

static void run_topk(struct data *d)
{
    run_begin(d);
    aps_select_topk(&d->bracket, d->k, d->indices);
}

static void run_threshold(struct data *d)
{
    run_begin(d);
    aps_select_threshold(&d->bracket, fabsf(d->values[0]), d->k, d->indices);
}

static void swap(float *a, float *b)
{
    float kept = *a;

    *a = *b;
    *b = kept;
}

/* *nth becomes the element of its rank; ends as std::nth_element does. */
static void quickselect(float *first, float *nth, float *last)
{
    while (last - first > 3) {
        float *middle = first + (last - first) / 2;
        float *left = first + 1, *right = last;
        float *a = first + 1, *b = middle, *c = last - 1;
        float *median = *a < *b ? (*b < *c   ? b
                                   : *a < *c ? c
                                             : a)
                                : (*a < *c   ? a
                                   : *b < *c ? c
                                             : b);

        swap(first, median);
        for (;;) {
            while (*left < *first)
                left++;
            right--;
            while (*first < *right)
                right--;
            if (left >= right)
                break;
            swap(left, right);
            left++;
        }
        if (left <= nth)
            first = left;
        else
            last = left;
    }
    for (float *i = first; i < last; i++) {
        for (float *j = i; j > first && *j < j[-1]; j--)
            swap(j, j - 1);
    }
}

static void run_quickselect(struct data *d)
{
    for (size_t i = 0; i < d->n; i++)
        d->other[i] = fabsf(d->delta[i]);
    quickselect(d->other, d->other + (d->n - d->k), d->other + d->n);
    sink = d->other[d->n - d->k];
}

static void run_gather(struct data *d)
{
    aps_sparse_gather(d->delta, d->indices, d->k, d->values);
}

static void run_take(struct data *d)
{
    aps_sparse_take(d->other, d->indices, d->k, d->values, NULL);
}

static void run_encode(struct data *d)
{
    aps_indices_encode(d->indices, d->k, 0, d->n, d->wire);
}

static void run_decode(struct data *d)
{
    if (aps_indices_decode(d->wire, d->k, 0, d->n, d->indices) < 0)
        exit(1);
}

static void run_sum(struct data *d)
{
    size_t at[RANKS];

    aps_sparse_sum(d->ranks, RANKS, d->n, at, d->other);
}

static void run_norms(struct data *d)
{
    aps_chunks_norms(d->delta, d->n, CHUNK, d->norms);
}

/* One run of introselect is enough. */
static const struct row {
    const char *name;
    void (*run)(struct data *);
    int repeats;
} rows[] = {
    {"one read: max |x|", run_read, BENCH_RUNS},
    {"memcpy", run_memcpy, BENCH_RUNS},
    {"quickselect as std::nth_element", run_quickselect, 3},
    {"mean and max of |x|", run_magnitudes, BENCH_RUNS},
    {"delta = g + e, mean and max", run_add, BENCH_RUNS},
    {"mstopk", run_mstopk, BENCH_RUNS},
    {"... of g + e", run_mstopk_feedback, BENCH_RUNS},
    {"... after the first pass", run_selection, BENCH_RUNS},
    {"topk", run_topk, BENCH_RUNS},
    {"gather k values", run_gather, BENCH_RUNS},
    {"take from the error memory", run_take, BENCH_RUNS},
    {"encode k indices", run_encode, BENCH_RUNS},
    {"decode k indices", run_decode, BENCH_RUNS},
    {"add 8 ranks' elements", run_sum, BENCH_RUNS},
    {"threshold", run_threshold, BENCH_RUNS},
    {"norms of chunks", run_norms, BENCH_RUNS},
};
#define ROWS (sizeof rows / sizeof *rows)

/* Returns the time of the shortest of several runs, in seconds. */
static double shortest(const struct row *row, struct data *d)
{
    double best = INFINITY;

    for (int r = 0; r < row->repeats; r++) {
        double start = bench_now();

        row->run(d);
        best = fmin(best, bench_now() - start);
    }
    return best;
}

static void *select_floats(size_t n)
{
    void *x = aligned_alloc(4096, (n * sizeof(float) / 4096 + 1) * 4096);

    if (!x) {
        perror("compress");
        exit(1);
    }
    return x;
}

/* Fills with values like gradients: spread over many binades, of both signs. */
static void select_fill(float *x, size_t n)
{
    uint32_t state = 1;

    for (size_t i = 0; i < n; i++) {
        float product = 1;

        for (int j = 0; j < 3; j++) {
            state = state * 1664525u + 1013904223u;
            product *= (float)(int32_t)state * 0x1p-31f;
        }
        x[i] = product;
    }
}

/* Allocates and fills d, except in.n. */
static void make(struct data *d)
{
    const size_t n = d->n;

    d->k = aps_select_count(DENSITY, n);
    d->g = select_floats(n);
    d->e = select_floats(n);
    d->delta = select_floats(n);
    d->other = select_floats(n);
    d->values = select_floats(d->k);
    d->norms = select_floats(aps_chunks_count(n, CHUNK));
    d->indices = select_floats(d->k);
    d->wire = select_floats(d->k);
    d->work.bytes = aps_bracket_room(n, d->k + 1);
    d->work.memory = select_floats(d->work.bytes / sizeof(float));
    d->cpu = aps_cpu_chosen();
    select_fill(d->g, n);
    memset(d->e, 0, n * sizeof *d->e);
    memcpy(d->delta, d->g, n * sizeof *d->g);
    memset(d->other, 0, n * sizeof *d->other);
    for (size_t r = 0; r < RANKS; r++)
        d->ranks[r] = (struct aps_sparse){d->indices, d->values, d->k};
}

int bench_select(void)
{
    struct data d = {.n = FLOATS};
    double seconds[ROWS];

    make(&d);
    for (size_t i = 0; i < ROWS; i++)
        seconds[i] = shortest(&rows[i], &d);
    printf("%zu floats, %zu selected, %s: shortest run in ms, GB/s of the "
           "floats, time divided by that of one read, quickselect's time "
           "divided by it\n",
           d.n, d.k, aps_cpu_name(d.cpu));
    for (size_t i = 0; i < ROWS; i++)
        printf("  %-32s %9.3f %8.1f %8.2f %8.1f\n", rows[i].name,
               seconds[i] * 1e3,
               (double)d.n * sizeof(float) / seconds[i] * 1e-9,
               seconds[i] / seconds[0], seconds[2] / seconds[i]);
    free(d.g);
    free(d.e);
    free(d.delta);
    free(d.other);
    free(d.values);
    free(d.norms);
    free(d.indices);
    free(d.wire);
    free(d.work.memory);
    return 0;
}

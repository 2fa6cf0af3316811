/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the work of one rank with one thread and with several, by the clock.
 * The rank searches, encodes, sums (with one other rank) and decodes vectors of
 * 1 Mi and 25.6 Mi floats, as a whole and in blocks. Blocks of 16 Ki floats are
 * the messages of e4m3 without `threads`, and blocks of 128 Ki those with it.
 * Runs with one thread and with several alternate. Prints the least times, in
 * ms, and their ratio.
 *
 *     threads [THREADS] [FORMAT ...]     default: 2 e4m3 bf16
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/size_min.h"
#include "codec/workers.h"
#include "block/accumulate.h"
#include "block/block.h"
#include "number/parse.h"

#define REPEATS 41
#define MI ((size_t)1 << 20)
#define LONGEST ((size_t)26843546) /* 25.6 Mi */

enum step { SEARCH, ENCODE, SUM, DECODE, STEPS };

struct bench {
    struct aps_wire wire;
    float *x, *y, *scratch;
    unsigned char *blocks; /* two, at multiples of `stride` */
    size_t stride;
};

/* Runs a step on n values. Their block is at the beginning. */
static void run_step(struct bench *b, enum step step, float *x, float *y,
                     size_t n)
{
    struct aps_block block = {
        .memory = &aps_memory_host, .x = x, .n = n, .ranks = 1, .exponent = 0};
    bool decoded;

    block.known = (struct aps_magnitude){1, true};
    switch (step) {
    case SEARCH:
        (void)aps_block_magnitude(&b->wire, &aps_memory_host, x, n);
        break;
    case ENCODE:
        (void)aps_block_encode(&b->wire, &block, b->blocks);
        break;
    case SUM:
        (void)aps_accumulate_encode(&b->wire, 2, b->blocks, b->stride, block,
                                    b->scratch, b->blocks + 2 * b->stride, NULL,
                                    &decoded);
        break;
    default:
        aps_block_decode(&b->wire, &aps_memory_host, b->blocks, n, y);
    }
}

static double time_step(struct bench *b, enum step step, size_t n, size_t block)
{
    const int64_t begin = aps_clock_ns(CLOCK_MONOTONIC);

    for (size_t i = 0; i < n; i += block)
        run_step(b, step, b->x + i, b->y + i, aps_size_min(block, n - i));
    return 1e-6 * (double)(aps_clock_ns(CLOCK_MONOTONIC) - begin);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void measure(struct bench *b, int threads, size_t n, size_t block)
{
    static const char *const names[] = {"search", "encode", "sum", "decode"};
    double times[STEPS + 1][2][REPEATS];

    for (int i = 0; i < REPEATS; i++)
        for (int several = 0; several < 2; several++) {
            times[STEPS][several][i] = 0;
            aps_workers_set(several ? threads : 1);
            for (int step = 0; step < STEPS; step++) {
                times[step][several][i] =
                    time_step(b, (enum step)step, n, block);
                times[STEPS][several][i] += times[step][several][i];
            }
        }
    printf("%-6s %9zu %9zu", b->wire.codec.format.name, n, block);
    for (int step = 0; step <= STEPS; step++) {
        for (int several = 0; several < 2; several++)
            qsort(times[step][several], REPEATS, sizeof(double), compare);
        printf("  %s %.3f %.3f %.2f", step < STEPS ? names[step] : "all",
               times[step][0][0], times[step][1][0],
               times[step][0][0] / times[step][1][0]);
    }
    printf("\n");
}

static void measure_format(const char *name, int threads)
{
    static const size_t messages[] = {16 * 1024, 128 * 1024, LONGEST};
    struct bench b = {.wire = {.memory = &aps_memory_host}};
    struct aps_format format;

    if (aps_format_parse(name, &format, NULL) < 0) {
        fprintf(stderr, "threads: unknown format '%s'\n", name);
        exit(1);
    }
    aps_codec_init(&format, &b.wire.codec);
    b.wire.sums = b.wire.codec;
    b.stride = aps_block_stride(&b.wire, LONGEST);
    b.x = malloc(LONGEST * sizeof *b.x);
    b.y = calloc(LONGEST, sizeof *b.y);
    b.scratch = malloc(LONGEST * sizeof *b.scratch);
    b.blocks = calloc(3, b.stride);
    if (!b.x || !b.y || !b.scratch || !b.blocks) {
        fprintf(stderr, "threads: out of memory\n");
        exit(1);
    }
    for (size_t i = 0; i < LONGEST; i++)
        b.x[i] = (float)(i % 1999) / 2000;
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        measure(&b, threads, MI, aps_size_min(messages[i], MI));
        measure(&b, threads, LONGEST, messages[i]);
    }
    free(b.x);
    free(b.y);
    free(b.scratch);
    free(b.blocks);
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? atoi(argv[1]) : 2;

    if (threads < 2 || threads > APS_WORKERS_MAX) {
        fprintf(stderr, "usage: threads [THREADS] [FORMAT ...]\n");
        return 1;
    }
    printf("# ms with 1 thread, ms with %d, ratio\n", threads);
    if (argc < 3) {
        measure_format("e4m3", threads);
        measure_format("bf16", threads);
    }
    for (int i = 2; i < argc; i++)
        measure_format(argv[i], threads);
    return 0;
}

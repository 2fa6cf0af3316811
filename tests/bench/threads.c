/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the work of one rank with one thread and with several, by the clock.
 * The rank searches, encodes, sums and decodes vectors of 1 Mi and 25.6 Mi floats: as
 * a whole, with the values of one other rank; and in the messages of 16 ranks, of which
 * it sums its own. Messages of 16 Ki floats are those of e4m3 with a scale for each
 * message or without `threads`, and those of 128 Ki floats the others. Runs with one
 * thread and with several alternate. Prints the least times, in ms, and their ratio.
 *
 *     threads [THREADS] [FORMAT ...]     default: 2 e4m3 bf16
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/size_min.h"
#include "codec/workers.h"
#include "block/accumulate.h"
#include "block/block.h"
#include "number/parse.h"

#define REPEATS 41
#define RANKS 16
#define MI ((size_t)1 << 20)
#define LONGEST ((size_t)26843546) /* 25.6 Mi */

enum step { SEARCH, ENCODE, SUM, DECODE, STEPS };

struct bench {
    struct aps_wire wire;
    struct aps_blocks list;
    float *x, *y, *scratch;
    unsigned char *blocks; /* blocks of all ranks, then the sum's */
    size_t stride;
};

/* Runs a step on n values of x and y, in `count` blocks of one length. Blocks lie
 * at multiples of `stride`. */
static void run_step(struct bench *b, enum step step, float *x, float *y,
                     size_t n, int count)
{
    const size_t length = n / (size_t)count;
    const int ranks = count > 1 ? count : 2;
    struct aps_block block = {
        .memory = &aps_memory_host, .x = x, .n = length, .ranks = 1};
    struct aps_cost cost = {0};
    bool decoded;

    block.known = (struct aps_magnitude){1, true};
    aps_blocks_begin(&b->list, &b->wire, &cost);
    b->list.shared = aps_workers_prefer_list((size_t)count, length);
    switch (step) {
    case SEARCH:
        (void)aps_block_magnitude(&b->wire, &aps_memory_host, x, n);
        break;
    case ENCODE:
        for (int i = 0; i < count; i++, block.x = (x += length))
            aps_blocks_encode(&b->list, &block,
                              b->blocks + (size_t)i * b->stride);
        break;
    case SUM:
        (void)aps_accumulate_encode(
            &b->wire, ranks, b->blocks, b->stride, block, b->scratch,
            b->blocks + (size_t)ranks * b->stride, NULL, &decoded);
        break;
    default:
        for (int i = 0; i < count; i++, y += length)
            aps_blocks_decode(&b->list, &aps_memory_host,
                              b->blocks + (size_t)i * b->stride, length, y);
    }
    aps_blocks_run(&b->list);
}

static double time_step(struct bench *b, enum step step, size_t n, size_t block,
                        int count)
{
    const int64_t begin = aps_clock_ns(CLOCK_MONOTONIC);
    const size_t group = block * (size_t)count;

    for (size_t i = 0; i < n; i += group)
        run_step(b, step, b->x + i, b->y + i, aps_size_min(group, n - i),
                 count);
    return 1e-6 * (double)(aps_clock_ns(CLOCK_MONOTONIC) - begin);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void measure(struct bench *b, int threads, size_t n, size_t block)
{
    const int count = block < n ? RANKS : 1;
    static const char *const names[] = {"search", "encode", "sum", "decode"};
    double times[STEPS + 1][2][REPEATS];

    b->stride = aps_block_stride(&b->wire, block);
    memset(b->blocks, 0, 3 * aps_block_stride(&b->wire, LONGEST));
    for (int i = 0; i < REPEATS; i++)
        for (int several = 0; several < 2; several++) {
            times[STEPS][several][i] = 0;
            aps_workers_set(several ? threads : 1);
            for (int step = 0; step < STEPS; step++) {
                times[step][several][i] =
                    time_step(b, (enum step)step, n, block, count);
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
    b.x = malloc(LONGEST * sizeof *b.x);
    b.y = calloc(LONGEST, sizeof *b.y);
    b.scratch = malloc(LONGEST * sizeof *b.scratch);
    b.blocks = calloc(3, aps_block_stride(&b.wire, LONGEST));
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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks that several threads encode, sum and decode, alone or as a list, have
 * the bits of one thread: every format, rounding and kind of sum.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec/workers.h"
#include "block/accumulate.h"
#include "block/block.h"
#include "codec/divided.h"
#include "number/parse.h"
#include "tap/tap.h"
#include "unit/common/formats.h"
#include "unit/common/rounded.h"

/* The thread sanitizer takes seconds for a format, and tries one in ten. */
#if defined(__SANITIZE_THREAD__)
#define EVERY 10
#else
#define EVERY 1
#endif
#define N ((size_t)40013)
#define RANKS 3

static const char *const blocks_of[] = {
    "nvfp4",     "mx-e4m3fn", "mx-int8",   "mx-e2m1fn",  "bfp7/64",  "bfp3/576",
    "bfp3/4096", "int8/512",  "qsgd7/512", "qsgd3/7-l2", "sign/512", "flex16"};
static const enum aps_rounding roundings[] = {
    APS_ROUND_NEAREST, APS_ROUND_STOCHASTIC, APS_ROUND_CORRELATED};
static const enum aps_accumulate_kind kinds[] = {
    APS_ACCUMULATE_FP32, APS_ACCUMULATE_FORMAT, APS_ACCUMULATE_KAHAN};
static const size_t sizes[] = {8192, 23456, N};

/* All that a reduction makes of its inputs. */
struct results {
    unsigned char blocks[RANKS][64 + N * 4]; /* at multiples of a line */
    unsigned char sums[3][64 + N * 4];
    float decoded[N], streamed[N], sum[3][N], placed[3][N];
    struct aps_magnitude magnitude, sum_magnitude[3];
    struct aps_scale_record records[3];
    bool placed_there[3];
    int least_exponent;
};

static _Alignas(64) float inputs[RANKS][N];

/* Values with and without INF, NaN and values beyond the format. */
static void fill(int kind)
{
    for (int r = 0; r < RANKS; r++)
        for (size_t i = 0; i < N; i++)
            inputs[r][i] = ldexpf((float)(int32_t)random_bits(),
                                  -(int)(random_bits() % 12) - 34);
    if (kind > 0)
        inputs[1][N / 3] = inputs[0][9000] = INFINITY;
    if (kind > 1)
        inputs[2][5000] = inputs[1][N / 3] = NAN;
}

static void accumulate(struct aps_wire wire, int kind, size_t n,
                       struct results *to)
{
    static float scratch[N];
    const struct aps_block sum = {.memory = &aps_memory_host,
                                  .n = n,
                                  .number = 5,
                                  .stage = 1,
                                  .ranks = 1,
                                  .exponent = 2};

    wire.accumulate = kinds[kind];
    aps_accumulate(&wire, RANKS, to->blocks[0], sizeof to->blocks[0], n,
                   to->sum[kind], &to->sum_magnitude[kind]);
    to->records[kind] = aps_accumulate_encode(
        &wire, RANKS, to->blocks[0], sizeof to->blocks[0], sum, scratch,
        to->sums[kind], to->placed[kind], &to->placed_there[kind]);
    if (!to->placed_there[kind])
        memset(to->placed[kind], 0, sizeof to->placed[kind]);
}

static void reduce(struct aps_wire wire, size_t n, int threads,
                   struct results *to)
{
    struct aps_cost cost = {0};
    struct aps_blocks blocks;

    memset(to, 0, sizeof *to);
    aps_workers_set(threads);
    to->magnitude = aps_block_magnitude(&wire, &aps_memory_host, inputs[1], n);
    aps_blocks_begin(&blocks, &wire, &cost);
    blocks.shared = n != N;
    for (int r = 0; r < RANKS; r++)
        aps_blocks_encode(&blocks,
                          &(struct aps_block){.memory = &aps_memory_host,
                                              .x = inputs[r],
                                              .n = n,
                                              .number = 5,
                                              .first = 77,
                                              .rank = r,
                                              .ranks = RANKS,
                                              .exponent = 2},
                          to->blocks[r]);
    aps_blocks_run(&blocks);
    to->least_exponent = cost.least_exponent;
    aps_block_decode(&wire, &aps_memory_host, to->blocks[0], n, to->decoded);
    wire.streams = true;
    aps_blocks_decode(&blocks, &aps_memory_host, to->blocks[1], n,
                      to->streamed);
    aps_blocks_run(&blocks);
    for (int kind = 0; kind < 3; kind++) {
        wire.streams = kind == 0;
        accumulate(wire, kind, n, to);
    }
}

static bool same_magnitude(struct aps_magnitude a, struct aps_magnitude b)
{
    return a.max == b.max && a.finite == b.finite;
}

static bool are_same(const struct results *a, const struct results *b)
{
    bool same = same_magnitude(a->magnitude, b->magnitude) &&
                a->least_exponent == b->least_exponent &&
                memcmp(a->blocks, b->blocks, sizeof a->blocks) == 0 &&
                memcmp(a->sums, b->sums, sizeof a->sums) == 0 &&
                memcmp(a->decoded, b->decoded, sizeof a->decoded) == 0 &&
                memcmp(a->streamed, b->streamed, sizeof a->streamed) == 0 &&
                memcmp(a->sum, b->sum, sizeof a->sum) == 0 &&
                memcmp(a->placed, b->placed, sizeof a->placed) == 0;

    for (int i = 0; i < 3; i++)
        same &= same_magnitude(a->sum_magnitude[i], b->sum_magnitude[i]) &&
                a->placed_there[i] == b->placed_there[i] &&
                a->records[i].in_max == b->records[i].in_max &&
                a->records[i].sum_max == b->records[i].sum_max &&
                a->records[i].over == b->records[i].over &&
                a->records[i].nonfinite == b->records[i].nonfinite;
    return same;
}

/* Format i of the eEmM and those in blocks. */
static bool any_format_at(int i, struct aps_format *format)
{
    static int first = -1; /* first format in blocks */

    if ((first < 0 || i < first) && format_at(i, format))
        return true;
    if (first < 0)
        first = i;
    return (size_t)(i - first) < sizeof blocks_of / sizeof *blocks_of &&
           aps_format_parse(blocks_of[i - first], format, NULL) == 0;
}

static int encodes;

static unsigned encode_once(const struct aps_codec *codec, const void *x,
                            size_t n, struct aps_scaling scaling,
                            const struct aps_cast_options *options, void *wire,
                            struct aps_encode_stats *stats)
{
    encodes++;
    return aps_memory_host.encode(codec, x, n, scaling, options, wire, stats);
}

static bool is_whole(const void *x)
{
    return x == inputs[1];
}

/* A memory says which addresses are not divided. */
static void test_whole(void)
{
    static unsigned char wire[N];
    const struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
    const struct aps_scaling scaling = {.factor = 1};
    struct aps_memory memory = aps_memory_host;
    struct aps_format format;
    struct aps_codec codec;

    memory.encode = encode_once;
    memory.whole = is_whole;
    (void)aps_format_parse("e4m3", &format, NULL);
    aps_codec_init(&format, &codec);
    fill(0);
    aps_workers_set(1);
    (void)aps_divided_encode(&memory, &codec, inputs[0], N, scaling, &options,
                             wire);
    aps_workers_set(2);
    (void)aps_divided_encode(&memory, &codec, inputs[1], N, scaling, &options,
                             wire);
    ok(encodes == 2, "GPU memory is not divided");
}

int main(void)
{
    static const int threads[] = {2, 3, 5};
    struct results *one = aligned_alloc(64, sizeof *one / 64 * 64 + 64);
    struct results *many = aligned_alloc(64, sizeof *many / 64 * 64 + 64);
    struct aps_format format;

    if (!one || !many)
        bail_out("out of memory");
    for (int i = 0; any_format_at(i, &format); i++) {
        struct aps_wire wire = {.memory = &aps_memory_host,
                                .seed = 3,
                                .fp64 = i % 4 == 1,
                                .records = i % 2 == 0 && !format.self_scaled};
        bool same = true;

        if (i % EVERY > 0)
            continue;
        aps_codec_init(&format, &wire.codec);
        wire.sums = wire.codec;
        for (int k = 0; k < 9; k++) {
            const size_t n = sizes[(k + i) % 3];

            fill(k / 3);
            wire.rounding = roundings[k % 3];
            reduce(wire, n, 1, one);
            reduce(wire, n, threads[(k / 3 + i) % 3], many);
            same &= are_same(one, many);
        }
        ok(same, "%s: several threads give the bits of one", format.name);
    }
    test_whole();
    free(one);
    free(many);
    aps_workers_stop();
    return done_testing();
}

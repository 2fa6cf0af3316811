/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions in few bits give the same result as a plain repetition of the same
 * roundings, bit for bit, on every rank. The formats alternate over the
 * reductions, accumulations and scales: the arguments choose one of TURNS
 * turns. `rounded TURN TURNS policy` prints the policy.
 */
#include "config.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "mpitap.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const char *const formats[] = {"e5m2", "e4m3", "e3m0", "e5m10", "e2m3",
                                      "e8m7", "e6m9", "e1m4", "e8m23"};

static const struct {
    enum scale scale;
    float fixed;
} scales[] = {{SCALE_NONE, 0},
              {SCALE_FIXED, 1024},
              {SCALE_FIXED, 1000},
              {SCALE_APS, 0},
              {SCALE_TIGHT, 0}};

/* Groups of 3 divide few of the numbers of ranks. */
static const struct way shapes[] = {
    {.reduce = REDUCE_DIRECT},
    {.reduce = REDUCE_RING},
    {.reduce = REDUCE_GATHER},
    {.reduce = REDUCE_MASTER},
    {.reduce = REDUCE_MASTER, .group = 1},
    {.reduce = REDUCE_MASTER, .group = 2},
    {.reduce = REDUCE_MASTER, .group = 3},
    {.reduce = REDUCE_HIERARCHICAL},
    {.reduce = REDUCE_HIERARCHICAL, .group = 1},
    {.reduce = REDUCE_HIERARCHICAL, .group = 2},
    {.reduce = REDUCE_HIERARCHICAL, .group = 3},
    {.reduce = REDUCE_HIERARCHICAL, .node_fp32 = true},
    {.reduce = REDUCE_HIERARCHICAL, .group = 1, .node_fp32 = true},
    {.reduce = REDUCE_HIERARCHICAL, .group = 2, .node_fp32 = true},
    {.reduce = REDUCE_HIERARCHICAL, .group = 3, .node_fp32 = true},
};

/* Fewer elements than ranks, and counts around the end of a slice; ways alternate. */
static const size_t few[] = {1, 7};
static const size_t about_slice[] = {63, 64, 65};
/* Several slices, the last one of one element. */
#define SLICES_COUNT 1025

#define ACCUMULATIONS ((int)ACCUMULATE_KAHAN + 1)

/* One in LONG_TURNS of a turn's shapes is also called with several chunks; in
 * LONG_TURNS turns all of them are. */
#define LONG_TURNS 5

/* At most this number of chunks in such a call, and of values of all ranks in it. */
#define CHUNKS_MAX 40
#define VALUES_MAX 4000000

#define CALLS_OF_WAY 5

static struct call calls[(LENGTH(formats) * LENGTH(scales) + 2) *
                         LENGTH(shapes) * ACCUMULATIONS * CALLS_OF_WAY];
static size_t call_count;

static void add(const struct way *way, size_t count, enum fill fill_kind)
{
    enum how how = call_count % 2 ? HOW_IN_PLACE : HOW_PLAIN;

    calls[call_count++] = (struct call){*way, count, fill_kind, how};
}

/* More chunks than are under way at a time, or at least two whole ones; the
 * last chunk has no whole slices. */
static size_t long_count(const struct way *way, int ranks)
{
    const size_t chunk = way_chunk(way, ranks);
    size_t chunks = VALUES_MAX / ((size_t)ranks * chunk);

    chunks = chunks < 2 ? 2 : chunks;
    chunks = chunks > CHUNKS_MAX ? CHUNKS_MAX : chunks;
    return chunks * chunk + 1057;
}

static void add_way(const struct way *way, int ranks, unsigned number,
                    bool with_chunks)
{
    /* All kinds except gradients. */
    const enum fill kind = (enum fill)(1 + number % (FILLS - 1));

    add(way, few[number % LENGTH(few)], FILL_GRADIENTS);
    add(way, about_slice[number % LENGTH(about_slice)], FILL_GRADIENTS);
    add(way, SLICES_COUNT, FILL_GRADIENTS);
    add(way, SLICES_COUNT, kind);
    if (with_chunks)
        add(way, long_count(way, ranks), FILL_GRADIENTS);
}

/*
 * Adds a shape that accumulates in one way, at every scale; the formats
 * alternate. Scales whose exponents are per chunk have several formats.
 */
static void add_shape(struct way way, int ranks, unsigned turn, unsigned turns,
                      bool with_chunks)
{
    static unsigned combinations, ways;
    const bool tight = way.accumulate == ACCUMULATE_FP32 && turn % 2 == 0;
    const enum scale with_exponents = tight ? SCALE_TIGHT : SCALE_APS;

    for (size_t c = 0; c < LENGTH(scales); c++) {
        way.scale = scales[c].scale;
        way.fixed = scales[c].fixed;
        if (!way_is_allowed(&way))
            continue;
        for (size_t f = (turn + combinations++) % turns; f < LENGTH(formats);
             f += turns) {
            way.format = formats[f];
            add_way(&way, ranks, ways++,
                    with_chunks && way.scale == with_exponents);
            with_chunks = with_chunks && way.scale != with_exponents;
        }
    }
}

/* Adds sums in another format than the one that is sent, wider or narrower. */
static void add_sums(struct way way, int ranks, unsigned number)
{
    static const char *const sums[] = {"e8m7", "e5m10", "e4m1", "e8m22"};

    way.sums = sums[number % LENGTH(sums)];
    way.format = number % 2 ? "e4m3" : "e5m2";
    way.scale = number % 3 ? SCALE_APS : SCALE_NONE;
    if (way_is_allowed(&way))
        add_way(&way, ranks, number, false);
}

/* Adds sums in chunks that hold some ranks, all but one, or more than all. */
static void add_chunks(struct way way, int ranks, unsigned number)
{
    static const int chunks[] = {2, 4, 3, 64};

    way.chunk = chunks[number % LENGTH(chunks)];
    way.format = number % 3 ? "e4m3" : "e5m2";
    way.sums = number / 2 % 2 ? "e4m1" : NULL;
    way.scale = number % 5 ? SCALE_APS : SCALE_NONE;
    if (way_is_allowed(&way))
        add_way(&way, ranks, number, number % LONG_TURNS == 1);
}

static void add_ways(int ranks, unsigned turn, unsigned turns)
{
    unsigned number = turn;

    for (size_t s = 0; s < LENGTH(shapes); s++) {
        for (int a = 0; a < ACCUMULATIONS; a++) {
            struct way way = shapes[s];

            way.format = formats[0];
            way.accumulate = (enum accumulate)a;
            if (way_is_allowed(&way))
                add_shape(way, ranks, turn, turns, number++ % LONG_TURNS == 0);
            add_sums(way, ranks, number);
            add_chunks(way, ranks, number);
        }
    }
}

/* rounded TURN TURNS [policy] */
int main(int argc, char **argv)
{
    unsigned turn, turns;
    int status;

    if (argc < 3 || (turns = (unsigned)atoi(argv[2])) == 0)
        return 2;
    turn = (unsigned)atoi(argv[1]);
    if (argc > 3 && strcmp(argv[3], "policy") == 0) {
        /* The rules are those of any number of ranks. */
        add_ways(2, turn, turns);
        calls_print_policy(stdout, call_count, calls);
        return 0;
    }
    MPI_Init(&argc, &argv);
    mpitap_begin();
    add_ways(mpitap_size(), turn, turns);
    calls_run(call_count, calls, reference_reduce);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

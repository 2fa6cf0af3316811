/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scale with a state, under random overflows. Each call gives what the scale
 * `fixed` gives with the factor that follows from the previous calls; a chunk
 * that overflows there gives what `scale: aps` gives for the chunk alone.
 * Nothing finite arrives as INF or NaN, and all ranks have the same bits.
 *
 * A schedule is a layer over some steps on its own communicator, with a new
 * state. `history short TURN TURNS SCHEDULES` runs SCHEDULES schedules of every
 * way whose turn it is; `long` in place of `short` uses layers of several
 * chunks, and fewer ways. `history short TURN TURNS policy` prints the policy.
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"
#include "reference.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Start of the scale. */
#define START 10
#define LEAST (-6)
#define WINDOW 2
#define BACKOFF                                                                \
    "{backoff: {start: 2^10, max: 2^10, min: 2^-6, window: 2, scope: layer}}"

#define STEPS 8 /* steps of a schedule */
#define LAYERS_MAX 400
#define LONG_TURNS 7 /* one way in LONG_TURNS has long layers, too */

static const char *const formats[] = {"e5m2", "e4m3",  "e4m3fn", "e3m2fn",
                                      "e3m0", "e5m10", "e2m3"};

static const struct way shapes[] = {
    {.reduce = REDUCE_DIRECT},
    {.reduce = REDUCE_RING},
    {.reduce = REDUCE_GATHER},
    {.reduce = REDUCE_MASTER},
    {.reduce = REDUCE_MASTER, .group = 1},
    {.reduce = REDUCE_MASTER, .group = 2},
    {.reduce = REDUCE_HIERARCHICAL},
    {.reduce = REDUCE_HIERARCHICAL, .group = 1},
    {.reduce = REDUCE_HIERARCHICAL, .group = 2},
    {.reduce = REDUCE_HIERARCHICAL, .group = 3},
    {.reduce = REDUCE_HIERARCHICAL, .node_fp32 = true},
    {.reduce = REDUCE_HIERARCHICAL, .group = 2, .node_fp32 = true},
};

static const size_t counts[] = {65, 1, 200, 7, 129, 300};

/* The test's copy of a layer's state. */
struct state {
    int exponent; /* log2 S */
    int steps;
    int after; /* step after the last overflow */
};

struct layer {
    struct way way;
    size_t count;
    struct state state;
};

static struct layer layers[LAYERS_MAX];
static size_t layer_count;
static int ranks, rank;
static uint64_t random_state;

static uint64_t draw(uint64_t most)
{
    uint64_t x = random_state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (x ^ (x >> 31)) % most;
}

/* --- the layers ----------------------------------------------------------- */

/* Sums in a format without INF hide what Kahan's steps cut. */
static bool is_tested(const struct way *way)
{
    const bool finite = strcmp(way->format, "e3m2fn") == 0;

    return way_is_allowed(way) &&
           !(finite && way->accumulate == ACCUMULATE_KAHAN);
}

static void add_layer(const struct way *way, size_t count)
{
    if (layer_count == LAYERS_MAX)
        bail_out("too many layers");
    layers[layer_count++] = (struct layer){.way = *way, .count = count};
}

static void add_ways(bool is_long, size_t turn, size_t turns)
{
    size_t number = 0;

    turns *= is_long ? LONG_TURNS : 1;
    for (size_t s = 0; s < LENGTH(shapes); s++)
        for (int sums = 0; sums < 4; sums++)
            for (size_t f = 0; f < LENGTH(formats); f++) {
                struct way way = shapes[s];

                way.format = formats[f];
                way.history = BACKOFF;
                way.accumulate =
                    sums < 3 ? (enum accumulate)sums : ACCUMULATE_FORMAT;
                way.chunk = sums == 3 ? 2 : 0;
                if (!is_tested(&way) || number++ % turns != turn)
                    continue;
                /* The last chunk has no whole slices. */
                add_layer(&way, is_long ? 2 * way_chunk(&way, ranks) + 257
                                        : counts[layer_count % LENGTH(counts)]);
            }
}

static void print_policy(void)
{
    printf("version: 1\nmin_count: 1\nsteps: {calls: %zu}\nrules:\n",
           layer_count);
    for (size_t i = 0; i < layer_count; i++)
        way_print_rule(stdout, &layers[i].way, (long)i, (long)i);
}

/* --- values --------------------------------------------------------------- */

enum kind { KIND_VALUES, KIND_POSITIVE, KIND_ZEROS, KIND_INF };

/* Fills with powers of two up to 2^top and far below, so that the least of them
 * show which exponent was used. */
static void fill(enum kind kind, int top, size_t n, float *x)
{
    int down = 0;

    for (size_t i = 0; i < n; i++) {
        int low;

        /* Not all chunks overflow. */
        if (i % 8192 == 8191)
            down = (int)draw(4);
        low = down + (int)draw(i % 4 == 0 ? 40 : 3);
        x[i] = ldexpf(1 + (float)draw(1 << 20) / (1 << 20), top - low);
        x[i] = kind == KIND_ZEROS ? 0 : x[i];
        x[i] = kind != KIND_POSITIVE && draw(2) ? -x[i] : x[i];
    }
}

/* Fills all ranks' values of a call, on each rank. The greatest value is near
 * the limit of the format. */
static enum kind fill_all(const struct layer *layer, size_t n, float *in[])
{
    static const struct {
        const char *format;
        int limit;
    } limits[] = {{"e5m2", 15}, {"e4m3", 7},   {"e4m3fn", 8}, {"e3m2fn", 4},
                  {"e3m0", 3},  {"e5m10", 15}, {"e2m3", 1}};
    const uint64_t dice = draw(20);
    enum kind kind = dice == 0   ? KIND_ZEROS
                     : dice == 1 ? KIND_INF
                     : dice < 8  ? KIND_POSITIVE
                                 : KIND_VALUES;
    const int first = (int)draw((uint64_t)ranks);
    int top = -layer->state.exponent - 4 + (int)draw(6);

    for (size_t i = 0; i < LENGTH(limits); i++)
        if (strcmp(limits[i].format, layer->way.format) == 0)
            top += limits[i].limit;
    if (kind == KIND_INF && strstr(layer->way.format, "fn"))
        kind = KIND_VALUES;
    for (int r = 0; r < ranks; r++)
        fill(kind, top - (int)draw(r == first ? 1 : 5), n, in[r]);
    for (int i = 0; i < 3 && kind == KIND_INF; i++)
        in[first][draw(n)] = i == 1 ? NAN : INFINITY;
    return kind;
}

/* --- what a call has to give ---------------------------------------------- */

/* True if a value is not finite although all ranks' values are. */
static bool is_over(size_t n, float *const in[], const float *out)
{
    for (size_t i = 0; i < n; i++) {
        bool finite = true;

        for (int r = 0; r < ranks; r++)
            finite &= isfinite(in[r][i]) != 0;
        if (finite && !isfinite(out[i]))
            return true;
    }
    return false;
}

static bool has_nonfinite(size_t n, float *const in[])
{
    for (int r = 0; r < ranks; r++)
        for (size_t i = 0; i < n; i++)
            if (!isfinite(in[r][i]))
                return true;
    return false;
}

/* Computes the result chunk by chunk. True if a chunk was redone. */
static bool expect(const struct layer *layer, size_t n, float *const in[],
                   float *out)
{
    struct way fixed = layer->way, aps = layer->way;
    const size_t chunk = way_chunk(&fixed, ranks);
    bool over = false;

    fixed.scale = SCALE_FIXED;
    fixed.fixed = ldexpf(1, layer->state.exponent);
    aps.scale = SCALE_APS;
    for (size_t begin = 0; begin < n; begin += chunk) {
        const size_t length = n - begin < chunk ? n - begin : chunk;
        float *part[RANKS_MAX];
        bool redone;

        for (int r = 0; r < ranks; r++)
            part[r] = in[r] + begin;
        reference_reduce(&fixed, ranks, length, part, out + begin);
        redone = is_over(length, part, out + begin);
        /* The result does not show whether a partial sum is an INF of the program. */
        if (fixed.accumulate != ACCUMULATE_FP32)
            redone |= has_nonfinite(length, part);
        if (redone)
            reference_reduce(&aps, ranks, length, part, out + begin);
        over |= redone;
    }
    return over;
}

static void learn(struct state *state, bool over)
{
    if (over) {
        state->exponent--;
        state->after = state->steps + 1;
    } else if ((state->steps - state->after + 1) % WINDOW == 0) {
        state->exponent++;
    }
    state->exponent = state->exponent > START   ? START
                      : state->exponent < LEAST ? LEAST
                                                : state->exponent;
    state->steps++;
}

/* --- calls ---------------------------------------------------------------- */

static bool call(MPI_Comm comm, struct layer *layer, float *in[], float *out,
                 float *expected)
{
    const size_t n = layer->count;
    const bool in_place = draw(2);
    const enum kind kind = fill_all(layer, n, in);
    const bool over = expect(layer, n, in, expected);
    char name[256];
    size_t at;
    int rc;

    if (in_place)
        memcpy(out, in[rank], n * sizeof *out);
    else
        memset(out, 0x5a, n * sizeof *out);
    rc = MPI_Allreduce(in_place ? MPI_IN_PLACE : in[rank], out, (int)n,
                       MPI_FLOAT, MPI_SUM, comm);
    at = first_difference(n, expected, out);
    if (rc != MPI_SUCCESS || at < n)
        diag("rank %d: %s, 2^%d, step %d, kind %d%s%s: element %zu of %zu is "
             "%a, "
             "expected %a",
             rank, way_name(&layer->way, name, sizeof name),
             layer->state.exponent, layer->state.steps, (int)kind,
             in_place ? ", in place" : "", over ? ", over" : "", at, n, out[at],
             expected[at]);
    if (kind == KIND_VALUES || kind == KIND_POSITIVE)
        learn(&layer->state, over);
    return rc == MPI_SUCCESS && at == n;
}

static unsigned long run(size_t schedules, bool good[], float *in[], float *out,
                         float *expected)
{
    for (size_t k = 0; k < schedules; k++) {
        MPI_Comm comm;

        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (size_t i = 0; i < layer_count; i++)
            layers[i].state = (struct state){.exponent = START};
        for (int step = 0; step < STEPS; step++)
            for (size_t i = 0; i < layer_count; i++)
                good[i] &= call(comm, &layers[i], in, out, expected);
        MPI_Comm_free(&comm);
    }
    return schedules * STEPS * layer_count;
}

static float *new_vector(void)
{
    size_t longest = 0;
    float *x;

    for (size_t i = 0; i < layer_count; i++)
        longest = layers[i].count > longest ? layers[i].count : longest;
    x = malloc(longest * sizeof *x);
    if (!x)
        bail_out("out of memory");
    return x;
}

static void test_schedules(size_t schedules)
{
    static bool good[LAYERS_MAX];
    float *in[RANKS_MAX], *out = new_vector(), *expected = new_vector();
    char name[256];

    for (int r = 0; r < ranks; r++)
        in[r] = new_vector();
    for (size_t i = 0; i < layer_count; i++)
        good[i] = true;
    expect_rewritten(run(schedules, good, in, out, expected));
    for (size_t i = 0; i < layer_count; i++)
        ok_all(good[i], "%zu elements, %zu schedules: %s", layers[i].count,
               schedules, way_name(&layers[i].way, name, sizeof name));
    for (int r = 0; r < ranks; r++)
        free(in[r]);
    free(out);
    free(expected);
}

int main(int argc, char **argv)
{
    size_t turn, turns;
    bool is_long;
    int status;

    if (argc < 5 || (turns = (size_t)atoi(argv[3])) == 0)
        return 2;
    is_long = strcmp(argv[1], "long") == 0;
    turn = (size_t)atoi(argv[2]);
    if (strcmp(argv[4], "policy") == 0) {
        ranks = 2; /* the rules are those of any number of ranks */
        add_ways(is_long, turn, turns);
        print_policy();
        return 0;
    }
    MPI_Init(&argc, &argv);
    mpitap_begin();
    rank = mpitap_rank();
    ranks = mpitap_size();
    random_state = (uint64_t)turn * 1000 + (uint64_t)ranks;
    add_ways(is_long, turn, turns);
    test_schedules((size_t)atoi(argv[4]));
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

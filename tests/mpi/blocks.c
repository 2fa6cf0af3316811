/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions in block formats give the results of libaps for whole layers, bit
 * for bit, on every rank. The formats alternate over the reductions; TURN
 * chooses the first format.
 *
 *   blocks TURN policy     prints the policy
 *   blocks TURN            runs all calls under it
 *   blocks TURN nonfinite  the calls, with an INF or a NaN of one rank
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "aps.h"
#include "calls.h"
#include "mpitap.h"
#include "reference_blocks.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const char *const formats[] = {
    "bfp7/64",   "bfp7/576", "mx-e4m3fn",  "nvfp4",     "bfp3/96",
    "mx-e5m2",   "bfp24/2",  "mx-e2m1fn",  "bfp10/20",  "mx-e3m2fn",
    "bfp1/4096", "mx-int8",  "hbfp8/1024", "mx-e2m3fn", "bfp15/1008",
    "int8/512",  "sign/64",  "int4/192",   "sign/1088", "int11/20",
};

static const struct way shapes[] = {
    {.reduce = REDUCE_DIRECT},
    {.reduce = REDUCE_RING},
    {.reduce = REDUCE_GATHER},
    {.reduce = REDUCE_MASTER},
    {.reduce = REDUCE_MASTER, .group = 2},
    {.reduce = REDUCE_MASTER, .group = 3},
    {.reduce = REDUCE_HIERARCHICAL},
    {.reduce = REDUCE_HIERARCHICAL, .group = 2},
    {.reduce = REDUCE_HIERARCHICAL, .group = 3},
    {.reduce = REDUCE_HIERARCHICAL, .node_fp32 = true},
    {.reduce = REDUCE_HIERARCHICAL, .group = 2, .node_fp32 = true},
};

/* The last one is a sum in chunks of two ranks, in every other shape in another
 * format. */
static const enum accumulate accumulations[] = {
    ACCUMULATE_FP32, ACCUMULATE_FORMAT, ACCUMULATE_KAHAN, ACCUMULATE_FORMAT};
#define IN_CHUNKS 3

/* Less than a block, about one, and more than one block for each rank. */
static const size_t counts[] = {1,    63,   100,  575,  577,
                                1025, 2305, 5000, 9217, 20011};

/* More than one chunk, and the last chunk has no whole slices; one way in
 * LONG_TURNS has such a call. */
#define LONG_COUNT 150001
#define LONG_TURNS 9

#define CALLS_MAX (LENGTH(shapes) * LENGTH(accumulations) * LENGTH(formats) * 3)
static struct call calls[CALLS_MAX];
static size_t call_count;

static void add(const struct way *way, size_t count, enum fill fill_kind)
{
    calls[call_count] = (struct call){
        *way, count, fill_kind, call_count % 2 ? HOW_IN_PLACE : HOW_PLAIN};
    call_count++;
}

static void add_format(struct way way, const char *format)
{
    static unsigned ways;
    const unsigned number = ways++;

    way.format = format;
    if (!way_is_allowed(&way))
        return;
    add(&way, counts[number % LENGTH(counts)], FILL_GRADIENTS);
    add(&way, counts[(number + 4) % LENGTH(counts)],
        (enum fill)(number % FILLS));
    if (number % LONG_TURNS == 0)
        add(&way, LONG_COUNT, FILL_GRADIENTS);
}

/* Adds all formats if sums are FP32, and one format in four otherwise. */
static void add_ways(unsigned turn)
{
    for (size_t s = 0; s < LENGTH(shapes); s++) {
        for (size_t a = 0; a < LENGTH(accumulations); a++) {
            struct way way = shapes[s];

            way.scale = SCALE_OWN;
            way.accumulate = accumulations[a];
            way.chunk = a == IN_CHUNKS ? 2 : 0;
            way.sums = a == IN_CHUNKS && s % 2 ? "bfp15/64" : NULL;
            for (size_t f = 0; f < LENGTH(formats); f++)
                if (a == 0 || (f + s + turn) % 4 == a)
                    add_format(way, formats[(f + turn) % LENGTH(formats)]);
        }
    }
}

/* --- INF and NaN ----------------------------------------------------------- */

/* Fills rank `rank`'s values of a call; one value, of one rank, is not finite. */
static size_t fill_with_one(const struct call *call, size_t seed, int rank,
                            float *x)
{
    const size_t n = call->count;
    const size_t place = seed * 7919 % n;

    fill(FILL_GRADIENTS, seed, rank, n, x);
    if (rank == (int)(seed % (size_t)mpitap_size()))
        x[place] = seed % 3 == 0 ? NAN : seed % 3 == 1 ? INFINITY : -INFINITY;
    return place;
}

/* Extends [*begin, *end) to whole blocks. */
static void widen(const char *name, size_t *begin, size_t *end)
{
    const size_t block = (size_t)aps_format_block(aps_format_get(name, NULL));

    *begin = *begin / block * block;
    *end = (*end + block - 1) / block * block;
}

/* True if the block of element `place` is NaN, and no other block except blocks
 * of partial sums that contain the element; or, if nothing was cast, if only
 * that element of the sum is not finite. */
static bool is_spoilt(const struct call *call, size_t place, const float *sum)
{
    const struct aps_format *format = aps_format_get(call->way.format, NULL);
    const size_t block = (size_t)aps_format_block(format);
    bool right = !isfinite(sum[place]);
    size_t begin = place, end = place + 1;

    widen(call->way.format, &begin, &end);
    /* In groups, and between them. */
    for (int i = 0; i < 2 && call->way.sums; i++) {
        widen(call->way.sums, &begin, &end);
        widen(call->way.format, &begin, &end);
    }
    for (size_t i = 0; i < call->count; i++)
        if (i / block != place / block)
            right &= isfinite(sum[i]) || (i >= begin && i < end);
        else if (isnan(sum[place]))
            right &= i == place || isnan(sum[i]) ||
                     (call->way.node_fp32 && isfinite(sum[i]));
    return right;
}

static bool check_nonfinite(const struct call *call, size_t seed)
{
    const size_t n = call->count;
    float *in[RANKS_MAX], *out = malloc(n * sizeof *out);
    float *expected = malloc(n * sizeof *expected);
    bool good;
    size_t place = 0;

    for (int r = 0; r < mpitap_size(); r++) {
        in[r] = malloc(n * sizeof *in[r]);
        place = fill_with_one(call, seed, r, in[r]);
    }
    good = call_make(call, in[mpitap_rank()], out) == MPI_SUCCESS;
    reference_blocks(&call->way, mpitap_size(), n, in, expected);
    good = good && first_difference(n, expected, out) == n &&
           is_spoilt(call, place, out);
    if (!good)
        diag("rank %d: %zu values, place %zu: %a, expected %a", mpitap_rank(),
             n, place, out[place], expected[place]);
    for (int r = 0; r < mpitap_size(); r++)
        free(in[r]);
    free(out);
    free(expected);
    return good;
}

/* All calls of the list, none of them long. */
static void run_nonfinite(void)
{
    bool good = true;
    char name[128];

    for (size_t i = 0; i < call_count; i++) {
        struct call call = calls[i];

        if (call.count > 20000)
            call.count = 20000;
        good &= check_nonfinite(&call, i);
        if (i + 1 < call_count && way_equals(&call.way, &calls[i + 1].way))
            continue;
        ok_all(good, "%s", way_name(&call.way, name, sizeof name));
        good = true;
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 2 ? argv[2] : "";
    int status;

    if (argc < 2)
        return 2;
    add_ways((unsigned)atoi(argv[1]));
    if (strcmp(mode, "policy") == 0) {
        calls_print_policy(stdout, call_count, calls);
        return 0;
    }
    MPI_Init(&argc, &argv);
    mpitap_begin();
    if (strcmp(mode, "nonfinite") == 0)
        run_nonfinite();
    else
        calls_run(call_count, calls, reference_blocks);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

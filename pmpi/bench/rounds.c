/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "bench/rounds.h"

#include <stdlib.h>
#include <string.h>

#include "bench/deviation.h"
#include "bench/meet.h"
#include "bench/variants.h"

#define BATCH_MAX 256
#define BATCH_SECONDS 3e-4
#define WARMUP_CALLS 2
#define AUTO_CALLS 72 /* more than `reduce: auto` tries */

/* --- one timing ----------------------------------------------------------- */

static size_t extent(const struct aps_bench *b)
{
    const struct aps_bench_piece *last = &b->pieces[b->piece_count - 1];

    return last->offset + last->count + APS_BENCH_EXTRA;
}

/* A program writes its gradients and reads the sums. If native MPI copies between
 * processes, another rank's core has read both, and a store must wait for that core. */
static void use(volatile float *x, size_t n)
{
    for (size_t i = 0; i < n; i += 64 / sizeof *x)
        x[i] = x[i];
}

/* Like a program between two calls: has the buffers of the calls to itself, and
 * then reads and writes other memory, so that they leave the caches. */
static void touch_other(const struct aps_bench *b)
{
    const size_t size = (size_t)(b->choice.cold * 0x1p20);

    if (size == 0)
        return;
    use(b->send, extent(b));
    use(b->receive, extent(b));
    for (size_t i = 0; i < size; i += 64)
        b->other[i]++;
}

/* COLLECTIVE. Sets b->pause. */
static void choose_pause(struct aps_bench *b)
{
    double start;

    touch_other(b); /* its pages are new */
    start = PMPI_Wtime();
    touch_other(b);
    b->pause = 2 * (PMPI_Wtime() - start);
    PMPI_Allreduce(MPI_IN_PLACE, &b->pause, 1, MPI_DOUBLE, MPI_MAX,
                   MPI_COMM_WORLD);
}

/* COLLECTIVE. Ranks meet, and after the pause return the time together. The barrier
 * comes before other memory is touched, since it brings MPI's code into the caches. */
static double meet_cold(const struct aps_bench *b)
{
    double start, now;

    aps_meet();
    start = PMPI_Wtime() + b->pause;
    touch_other(b);
    do
        now = PMPI_Wtime();
    while (now < start);
    return now;
}

/* Returns the seconds per call in a batch of calls of the variant on this rank. */
static double time_batch(const struct aps_bench *b,
                         const struct aps_bench_variant *v)
{
    double start, taken;

    if (b->choice.in_place)
        memcpy(b->receive, b->send, extent(b) * sizeof *b->send);
    aps_bench_variant_prepare(b, v);
    start = meet_cold(b);
    for (int i = 0; i < b->batch; i++)
        for (int p = 0; p < b->piece_count; p++)
            aps_bench_variant_call(b, v, &b->pieces[p]);
    taken = (PMPI_Wtime() - start) / b->batch;
    aps_meet();
    return taken;
}

/* --- warming up, and checking the sums ------------------------------------ */

/* Fills with NaN, which a path that writes nothing leaves. */
static void spoil(const struct aps_bench *b)
{
    memset(b->receive, 0xff, extent(b) * sizeof *b->receive);
}

/* Sets `batch` to the number of calls that native FP32 makes in BATCH_SECONDS, if all
 * calls have the same values. Otherwise, and with cold caches, a timing is of one call;
 * also in place, since the values would grow from call to call. */
static void choose_batch(struct aps_bench *b)
{
    int more = 1;

    while (more && !b->choice.in_place && b->choice.steady &&
           b->choice.cold == 0) {
        more = time_batch(b, &b->variants[0]) * b->batch < BATCH_SECONDS &&
               b->batch < BATCH_MAX;
        PMPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
        b->batch <<= more;
    }
}

/* `reduce: auto` chooses during the first calls. */
static int warmup_calls(const struct aps_bench_variant *v)
{
    return strcmp(v->reduce, "auto") == 0 ? AUTO_CALLS : WARMUP_CALLS;
}

static void warm_up(struct aps_bench *b)
{
    b->batch = 1;
    if (b->choice.cold > 0)
        choose_pause(b);
    spoil(b);
    time_batch(b, &b->variants[0]);
    memcpy(b->reference, b->receive, extent(b) * sizeof *b->receive);
    for (int i = 0; i < b->variant_count; i++) {
        struct aps_bench_variant *v = &b->variants[i];

        for (int call = 1; call < warmup_calls(v); call++)
            time_batch(b, v);
        spoil(b);
        time_batch(b, v);
        if (v->kind == APS_BENCH_FLOOR || v->kind == APS_BENCH_COPY)
            continue;
        aps_bench_variant_finish(b, v);
        v->error = aps_bench_deviation(b->reference, b->receive, b->pieces,
                                       b->piece_count);
        v->rewritten = v->error > APS_BENCH_SAME_ERROR;
        b->wrong |= v->error > v->limit;
        b->passed |= v->kind == APS_BENCH_OURS &&
                     v->limit > APS_BENCH_SAME_ERROR && !v->rewritten;
    }
    choose_batch(b);
}

/* --- measuring ------------------------------------------------------------ */

/* Orders the variants randomly, the same on all ranks. */
static void shuffle(int *order, int n, uint32_t *state)
{
    for (int i = n - 1; i > 0; i--) {
        *state = *state * 1664525u + 1013904223u;
        int j = (int)((uint64_t)*state * (uint32_t)(i + 1) >> 32);
        int moved = order[i];

        order[i] = order[j];
        order[j] = moved;
    }
}

/* Local, the same on all ranks. Doubles the values, which changes their exponent. */
static void set_doubled(struct aps_bench *b, bool doubled)
{
    if (doubled != b->doubled)
        for (size_t i = 0; i < extent(b); i++)
            b->send[i] *= doubled ? 2 : 0.5f;
    b->doubled = doubled;
}

static bool toss(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 31;
}

/* Sets the values of a round's next call. All variants have the same recorded step in a
 * round, so that each of them has all steps in turn. */
static void change_values(struct aps_bench *b, uint32_t *chance)
{
    if (b->choice.recorded)
        aps_recorded_fill(&b->recorded, (size_t)b->rounds + 1, b->send,
                          extent(b));
    else if (!b->choice.steady)
        set_doubled(b, toss(chance));
}

static void run_rounds(struct aps_bench *b)
{
    double seconds[APS_BENCH_VARIANTS_MAX];
    int order[APS_BENCH_VARIANTS_MAX];
    uint32_t state = 1, chance = 1;
    double start = PMPI_Wtime();
    int more = 1;

    for (int i = 0; i < b->variant_count; i++)
        order[i] = i;
    for (b->rounds = 0; more; b->rounds++) {
        shuffle(order, b->variant_count, &state);
        for (int i = 0; i < b->variant_count; i++) {
            change_values(b, &chance);
            seconds[order[i]] = time_batch(b, &b->variants[order[i]]);
        }
        PMPI_Allreduce(MPI_IN_PLACE, seconds, b->variant_count, MPI_DOUBLE,
                       MPI_MAX, MPI_COMM_WORLD);
        for (int i = 0; i < b->variant_count; i++)
            b->variants[i].samples[b->rounds] = seconds[i];
        more = b->rounds + 1 < APS_BENCH_ROUNDS_MAX &&
               (b->rounds + 1 < b->choice.rounds ||
                PMPI_Wtime() - start < b->choice.seconds);
        PMPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    set_doubled(b, false);
}

void aps_bench_rounds_run(struct aps_bench *b,
                          const struct aps_bench_piece *pieces, int count)
{
    b->pieces = pieces;
    b->piece_count = count;
    b->count = 0;
    for (int p = 0; p < count; p++)
        b->count += pieces[p].count;
    warm_up(b);
    run_rounds(b);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares MPI_Allreduce of floats in every format with native MPI, in one run; see
 * --help. A plain MPI program: native calls use PMPI_Allreduce, calls that a preloaded
 * library may rewrite use MPI_Allreduce.
 *
 * The variants alternate in rounds, each round in another order, so that all see the
 * same drift of the machine. One timing is a barrier and then as many calls as native
 * FP32 makes in 0.3 ms; the slowest rank counts. Medians and minima are over rounds.
 * `speed-up` is native FP32's median over the variant's; for `bypassed`, native FP32 of
 * the same number of elements, `fp32 of it`. `/floor` is the variant's median over that
 * of native integers of the format's width: an all-reduce of the same bytes without
 * conversion. `wire` is the share of the links' rate: for h hosts with one rank each, 2
 * (h - 1) / h of the bytes on the wire (the bus bandwidth of other benches) over time
 * and --wire-gbit.
 *
 * Before a variant is measured its sum is compared with native FP32's, so that a broken
 * path cannot look fast: `error` is the relative L2 difference. Too large an error ends
 * the run with status 1.
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench/choice.h"
#include "bench/half.h"
#include "bench/meet.h"
#include "bench/table.h"

#define BATCH_MAX 256
#define BATCH_SECONDS 3e-4
#define AUTO_CALLS 24 /* more than `reduce: auto` tries */

/* --- variants ------------------------------------------------------------- */

static struct variant *add_variant(struct bench *b, const char *name,
                                   enum kind kind, int width, double limit)
{
    struct variant *v = &b->variants[b->variant_count++];

    snprintf(v->name, sizeof v->name, "%s", name);
    snprintf(v->reduce, sizeof v->reduce, "native");
    v->kind = kind;
    v->width = width;
    v->limit = limit;
    v->floor = -1;
    return v;
}

static int find_floor(const struct bench *b, int width)
{
    for (int i = 0; i < b->variant_count; i++)
        if (b->variants[i].kind == FLOOR && b->variants[i].width == width)
            return i;
    return -1;
}

static void add_floor(struct bench *b, int width)
{
    char name[24];

    if (b->choice.no_floor || width >= 32 || find_floor(b, width) >= 0)
        return;
    snprintf(name, sizeof name, "int%d", width);
    add_variant(b, name, FLOOR, width, INFINITY);
}

/* Returns the error of two roundings of a value in the middle of its binade,
 * with a margin. If all sums are zero the error is 1. */
static double error_limit(int mantissa)
{
    return fmin(0.75, 1.5 * ldexp(1, -mantissa));
}

/* Adds a few more elements: compared with native FP32 of the same number. */
static void add_bypassed(struct bench *b)
{
    const int extra = choice_extra_bypassed(&b->choice);
    struct variant *v;

    add_variant(b, "fp32 of it", NATIVE, 32, 1e-5)->extra = extra;
    v = add_variant(b, "bypassed", PASSED, 32, 1e-5);
    v->extra = extra;
    v->native = b->variant_count - 2;
}

static void add_variants(struct bench *b)
{
    const struct choice *c = &b->choice;

    add_variant(b, "fp32", NATIVE, 32, 1e-5);
    if (!c->no_pass) {
        add_variant(b, "fp32 again", NATIVE, 32, 1e-5);
        add_variant(b, "unmatched", PASSED, 32, 1e-5);
        add_bypassed(b);
    }
    if (!c->no_half)
        add_floor(b, 16);
    for (int f = 0; f < c->format_count; f++)
        add_floor(b, c->formats[f].width);
    if (!c->no_half)
        add_variant(b, "fp16 op", HALF, 16, error_limit(10));
    for (int r = 0; r < c->reduce_count; r++)
        for (int f = 0; f < c->format_count; f++) {
            struct variant *v =
                add_variant(b, c->formats[f].name, OURS, c->formats[f].width,
                            error_limit(c->formats[f].mantissa));

            strcpy(v->reduce, c->reduces[r]);
            v->extra = choice_extra(c, f, r);
        }
    for (int i = 0; i < b->variant_count; i++)
        if (b->variants[i].kind == HALF || b->variants[i].kind == OURS)
            b->variants[i].floor = find_floor(b, b->variants[i].width);
}

/* --- one call ------------------------------------------------------------- */

static void call_piece(const struct bench *b, const struct variant *v,
                       const struct piece *piece)
{
    const float *send = b->send + piece->offset;
    float *receive = b->receive + piece->offset;
    uint16_t *half = b->half + piece->offset;
    const int n = (int)piece->count;
    const void *from = b->choice.in_place ? MPI_IN_PLACE : (const void *)send;

    switch (v->kind) {
    case NATIVE:
        PMPI_Allreduce(from, receive, n + v->extra, MPI_FLOAT, MPI_SUM,
                       MPI_COMM_WORLD);
        break;
    case PASSED:
    case OURS:
        MPI_Allreduce(from, receive, n + v->extra, MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
        break;
    case FLOOR:
        if (v->width == 16)
            PMPI_Allreduce(from, receive, n, MPI_SHORT, MPI_SUM,
                           MPI_COMM_WORLD);
        else
            PMPI_Allreduce(from, receive,
                           (int)((piece->count * (size_t)v->width + 7) / 8),
                           MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
        break;
    case HALF:
        half_encode(b->choice.in_place ? receive : send, piece->count, half);
        PMPI_Allreduce(MPI_IN_PLACE, half, n, b->half_type, b->half_sum,
                       MPI_COMM_WORLD);
        half_decode(half, piece->count, receive);
        break;
    }
}

static size_t extent(const struct bench *b)
{
    const struct piece *last = &b->pieces[b->piece_count - 1];

    return last->offset + last->count + CHOICE_EXTRA;
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
static void touch_other(const struct bench *b)
{
    const size_t size = (size_t)(b->choice.cold * 0x1p20);

    if (size == 0)
        return;
    use(b->send, extent(b));
    use(b->receive, extent(b));
    for (size_t i = 0; i < size; i += 64)
        b->other[i]++;
}

/* Returns the seconds per call in a batch of calls of the variant on this rank. */
static double time_batch(const struct bench *b, const struct variant *v)
{
    double start, taken;

    if (b->choice.in_place)
        memcpy(b->receive, b->send, extent(b) * sizeof *b->send);
    touch_other(b);
    meet();
    start = PMPI_Wtime();

    for (int i = 0; i < b->batch; i++)
        for (int p = 0; p < b->piece_count; p++)
            call_piece(b, v, &b->pieces[p]);
    taken = (PMPI_Wtime() - start) / b->batch;
    meet();
    return taken;
}

/* --- warming up, and checking the sums ------------------------------------ */

/* Returns the worst rank's relative L2 difference to native FP32's sum. */
static double measure_error(const struct bench *b)
{
    double difference = 0, size = 0, error;

    for (int p = 0; p < b->piece_count; p++)
        for (size_t i = 0; i < b->pieces[p].count; i++) {
            double x = b->reference[b->pieces[p].offset + i];
            double y = b->receive[b->pieces[p].offset + i];

            difference += (x - y) * (x - y);
            size += x * x;
        }
    error = sqrt(difference / size);
    if (isnan(error)) /* MAX of NaN is undefined */
        error = INFINITY;
    PMPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX,
                   MPI_COMM_WORLD);
    return error;
}

/* Fills with NaN, which a path that writes nothing leaves. */
static void spoil(const struct bench *b)
{
    memset(b->receive, 0xff, extent(b) * sizeof *b->receive);
}

/* Sets `batch` to the number of calls that native FP32 makes in BATCH_SECONDS, if all
 * calls have the same values. Otherwise, and with cold caches, a timing is of one call;
 * also in place, since the values would grow from call to call. */
static void choose_batch(struct bench *b)
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
static int warmup_calls(const struct bench *b, const struct variant *v)
{
    const int calls = (int)b->choice.warmup;

    return strcmp(v->reduce, "auto") == 0 && calls < AUTO_CALLS ? AUTO_CALLS
                                                                : calls;
}

static void warm_up(struct bench *b)
{
    b->batch = 1;
    spoil(b);
    time_batch(b, &b->variants[0]);
    memcpy(b->reference, b->receive, extent(b) * sizeof *b->receive);
    for (int i = 0; i < b->variant_count; i++) {
        struct variant *v = &b->variants[i];

        for (int call = 1; call < warmup_calls(b, v); call++)
            time_batch(b, v);
        spoil(b);
        time_batch(b, v);
        if (v->kind == FLOOR)
            continue;
        v->error = measure_error(b);
        v->rewritten = v->error > SAME_ERROR;
        b->wrong |= v->error > v->limit;
        b->passed |= v->kind == OURS && v->limit > SAME_ERROR && !v->rewritten;
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
static void set_doubled(struct bench *b, bool doubled)
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
static void change_values(struct bench *b, uint32_t *chance)
{
    if (b->choice.recorded)
        recorded_fill(&b->recorded, (size_t)b->rounds + 1, b->send, extent(b));
    else if (!b->choice.steady)
        set_doubled(b, toss(chance));
}

static void run_rounds(struct bench *b)
{
    double seconds[VARIANTS_MAX];
    int order[VARIANTS_MAX];
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
        more = b->rounds + 1 < ROUNDS_MAX &&
               (b->rounds + 1 < b->choice.rounds ||
                PMPI_Wtime() - start < b->choice.seconds);
        PMPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    set_doubled(b, false);
}

/* --- main ----------------------------------------------------------------- */

static void bench_case(struct bench *b, const struct piece *pieces, int count)
{
    b->pieces = pieces;
    b->piece_count = count;
    warm_up(b);
    run_rounds(b);
    if (b->rank == 0)
        table_print_case(b);
}

/* Fills with values like gradients: spread over many binades, both signs. */
static void fill(float *x, size_t n, int rank)
{
    uint32_t state = 12345 + 7919 * (uint32_t)rank;

    for (size_t i = 0; i < n; i++) {
        float product = 0x1p-7f;

        for (int j = 0; j < 3; j++) {
            state = state * 1664525u + 1013904223u;
            product *= (float)(int32_t)state * 0x1p-31f;
        }
        x[i] = product;
    }
}

static int count_hosts(int rank)
{
    MPI_Comm host;
    int on_host, hosts;

    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank,
                         MPI_INFO_NULL, &host);
    PMPI_Comm_rank(host, &on_host);
    PMPI_Comm_free(&host);
    hosts = on_host == 0;
    PMPI_Allreduce(MPI_IN_PLACE, &hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return hosts;
}

/* Returns the places of the tensors, which follow each other; the caller frees them. */
static struct piece *lay_out(const struct choice *c)
{
    struct piece *pieces = malloc((size_t)c->tensor_count * sizeof *pieces);
    size_t offset = 0;

    for (int i = 0; pieces && i < c->tensor_count; i++) {
        pieces[i] = (struct piece){offset, c->tensors[i]};
        offset += c->tensors[i] + CHOICE_EXTRA;
    }
    return pieces;
}

static void run(struct bench *b)
{
    const struct choice *c = &b->choice;
    struct piece *tensors = c->tensor_count ? lay_out(c) : NULL;
    size_t most = 0;

    for (int i = 0; i < c->size_count; i++)
        most = c->sizes[i] > most ? c->sizes[i] : most;
    if (tensors) {
        const struct piece *last = &tensors[c->tensor_count - 1];

        most = last->offset + last->count > most ? last->offset + last->count
                                                 : most;
    }
    most += CHOICE_EXTRA;
    b->send = malloc(most * sizeof *b->send);
    b->receive = malloc(most * sizeof *b->receive);
    b->reference = malloc(most * sizeof *b->reference);
    b->half = malloc(most * sizeof *b->half);
    b->other = calloc((size_t)c->cold + 1, 1 << 20);
    meet_all_good("apsmpi-bench",
                  b->send && b->receive && b->reference && b->half &&
                      b->other && (tensors || !c->tensor_count),
                  "no memory");
    if (c->recorded)
        recorded_fill(&b->recorded, 0, b->send, most);
    else
        fill(b->send, most, b->rank);
    memset(b->half, 0, most * sizeof *b->half);
    for (int i = 0; i < c->size_count; i++)
        bench_case(b, &(struct piece){0, c->sizes[i]}, 1);
    if (tensors)
        bench_case(b, tensors, c->tensor_count);
    free(tensors);
    free(b->send);
    free(b->receive);
    free(b->reference);
    free(b->half);
    free(b->other);
}

int main(int argc, char **argv)
{
    static struct bench b; /* too large for the stack */
    char error[256] = "";
    enum choice_action action = choice_read(argc, argv, &b.choice, error);

    if (action == CHOICE_HELP)
        choice_print_help(stdout);
    if (action == CHOICE_POLICY)
        choice_print_policy(&b.choice, stdout);
    if (action == CHOICE_HELP || action == CHOICE_POLICY) {
        choice_clear(&b.choice);
        return fflush(stdout) == 0 ? 0 : 1;
    }

    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
    meet_all_good("apsmpi-bench", action == CHOICE_RUN, error);
    b.hosts = count_hosts(b.rank);
    if (b.rank == 0 && b.choice.csv)
        b.csv = fopen(b.choice.csv, "w");
    meet_all_good("apsmpi-bench", b.rank || !b.choice.csv || b.csv,
                  "cannot write the file of --csv");
    meet_all_good("apsmpi-bench",
                  !b.choice.recorded ||
                      recorded_open(b.choice.recorded, b.rank, &b.recorded,
                                    error, sizeof error) == 0,
                  error);
    half_create(&b.half_type, &b.half_sum);
    add_variants(&b);
    if (b.rank == 0)
        table_print_head(&b);
    run(&b);
    if (b.rank == 0)
        table_print_foot(&b);
    if (b.csv && fclose(b.csv))
        b.wrong = true;
    half_destroy(&b.half_type, &b.half_sum);
    recorded_clear(&b.recorded);
    choice_clear(&b.choice);
    MPI_Finalize();
    return b.wrong;
}

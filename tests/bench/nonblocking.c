/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times nonblocking all-reduces in two ways; see --help. A plain MPI program: the
 * launcher chooses the library that carries out its calls.
 *
 *   step      the gradients of one training step: a call for each tensor, the
 *             last layer first, then one wait for all
 *   overlap   one call, a computation of the same length without any call of
 *             MPI, and both at once: the wait comes after the computation
 *
 * Each line of standard output is a round in milliseconds, of the slowest rank: `step`
 * the step; `overlap` the call and its wait, the computation, both, the core's work for
 * the call outside the computation, and the kernel's work during the computation.
 *
 * The program checks all sums after every round: they are small integers, which every
 * format holds. Wrong ones end the run with status 1.
 */
#include "config.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/meet.h"
#include "bench/sizes.h"

/* MPICH declares the statuses as an array, and MPI_STATUSES_IGNORE is 1. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

static const char help[] =
    "usage: mpiexec -n P nonblocking step|overlap [OPTION...]\n"
    "\n"
    "Times nonblocking all-reduces of floats: those of a training step, and "
    "one\n"
    "under a computation. Prints a line a round, in milliseconds.\n"
    "\n"
    "  --tensors FILE   of a step: layer,name,count (default: ResNet-50's "
    "161)\n"
    "  --blocking       of a step: MPI_Allreduce, one after the other\n"
    "  --ragged         of a step: all ranks but the first wait within it "
    "too,\n"
    "                   each at places of its own\n"
    "  --size N         of the overlap: floats, with Ki or Mi (default: 8Mi)\n"
    "  --rounds N       rounds that are measured (default: 5)\n"
    "  --warmup N       rounds before (default: 2)\n";

struct bench {
    bool overlap;
    bool blocking;
    bool ragged;
    int rounds;
    int warmup;
    int rank;
    int ranks;
    size_t *counts; /* counts of the tensors, in the order of the calls */
    int tensors;
    float *send; /* tensors, one after the other */
    float *receive;
    size_t total; /* floats of all tensors */
    MPI_Request *requests;
    long units; /* units of computation */
    bool wrong;
};

/* --- known sums ----------------------------------------------------------- */

/* Returns -1, 0 or 1; two of the ranks have values other than 0. */
static float value(int tensor, size_t k)
{
    return (float)((int)((k + (size_t)tensor) % 3) - 1);
}

static bool gives(const struct bench *b, int tensor, size_t k)
{
    const size_t ranks = (size_t)b->ranks;
    const size_t first = (k / 5 + (size_t)tensor) % ranks;
    const size_t rank = (size_t)b->rank;

    return rank == first || rank == (first + 1) % ranks;
}

static void fill(const struct bench *b)
{
    float *send = b->send;

    for (int t = 0; t < b->tensors; t++)
        for (size_t k = 0; k < b->counts[t]; k++)
            *send++ = gives(b, t, k) ? value(t, k) : 0;
}

/* Fills with NaN, which a call that writes nothing leaves. */
static void spoil(const struct bench *b)
{
    memset(b->receive, 0xff, b->total * sizeof *b->receive);
}

static void check_sums(struct bench *b)
{
    const float times = b->ranks > 1 ? 2 : 1;
    const float *sum = b->receive;

    for (int t = 0; t < b->tensors; t++)
        for (size_t k = 0; k < b->counts[t]; k++, sum++)
            if (!(*sum == times * value(t, k))) {
                if (!b->wrong)
                    fprintf(stderr,
                            "nonblocking: rank %d: element %zu of tensor %d "
                            "is %g, not %g\n",
                            b->rank, k, t, (double)*sum,
                            (double)(times * value(t, k)));
                b->wrong = true;
                return;
            }
}

/* --- rounds -------------------------------------------------------------- */

/* Returns the milliseconds of the slowest rank. */
static double slowest(double seconds)
{
    PMPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX,
                   MPI_COMM_WORLD);
    return 1e3 * seconds;
}

static void wait_for(struct bench *b, int count)
{
    MPI_Waitall(count, b->requests, MPI_STATUSES_IGNORE);
}

static void start(struct bench *b, int tensor, size_t offset)
{
    MPI_Iallreduce(b->send + offset, b->receive + offset,
                   (int)b->counts[tensor], MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                   &b->requests[tensor]);
}

/* True if this rank waits within the step after `calls` calls. */
static bool waits_after(const struct bench *b, int calls)
{
    return b->ragged && b->rank > 0 && calls % (3 + b->rank) == 0;
}

static void run_step(struct bench *b)
{
    size_t offset = 0;

    for (int t = 0; t < b->tensors; t++) {
        if (b->blocking)
            MPI_Allreduce(b->send + offset, b->receive + offset,
                          (int)b->counts[t], MPI_FLOAT, MPI_SUM,
                          MPI_COMM_WORLD);
        else
            start(b, t, offset);
        offset += b->counts[t];
        if (waits_after(b, t + 1))
            wait_for(b, t + 1);
    }
    wait_for(b, b->tensors);
}

static void time_step(struct bench *b, bool print)
{
    double begin, taken;

    spoil(b);
    aps_meet();
    begin = PMPI_Wtime();
    run_step(b);
    taken = slowest(PMPI_Wtime() - begin);
    check_sums(b);
    if (print && b->rank == 0)
        printf("step %.3f\n", taken);
}

/* Computes a chain in which each link waits for the previous one: it takes the
 * same time everywhere, and no compiler can shorten it. */
static void compute(long units)
{
    static volatile float sink;
    float x = 0;

    for (long unit = 0; unit < units; unit++)
        for (int i = 0; i < 64; i++)
            x = x * 0.999f + 0.001f;
    sink = x;
    (void)sink;
}

static double seconds_of(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Times of a call during a computation, in seconds. */
struct cores {
    double work;     /* the cores' work for the call, outside the computation */
    double computed; /* the core's time for the computation */
};

/* Times one call, with `units` of computation before the wait. */
static double time_call(struct bench *b, long units, struct cores *cores)
{
    double begin, taken, process, thread;

    spoil(b);
    aps_meet();
    begin = PMPI_Wtime();
    process = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    start(b, 0, 0);
    thread = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    compute(units);
    cores->computed = seconds_of(CLOCK_THREAD_CPUTIME_ID) - thread;
    wait_for(b, 1);
    cores->work =
        seconds_of(CLOCK_PROCESS_CPUTIME_ID) - process - cores->computed;
    taken = PMPI_Wtime() - begin;
    check_sums(b);
    return taken;
}

/* *computed: the core's time. */
static double time_computation(long units, double *computed)
{
    double begin;

    aps_meet();
    begin = PMPI_Wtime();
    *computed = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    compute(units);
    *computed = seconds_of(CLOCK_THREAD_CPUTIME_ID) - *computed;
    return PMPI_Wtime() - begin;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Makes the computation as long as the call, on all ranks at once: the median
 * of some rounds. */
static void calibrate(struct bench *b)
{
    enum { TRIES = 5 };
    const long units = 200000;
    double call[TRIES], computation[TRIES], computed;
    struct cores cores;

    for (int i = 0; i < TRIES; i++) {
        call[i] = slowest(time_call(b, 0, &cores));
        computation[i] = slowest(time_computation(units, &computed));
    }
    qsort(call, TRIES, sizeof *call, compare);
    qsort(computation, TRIES, sizeof *computation, compare);
    b->units = (long)((double)units * call[TRIES / 2] / computation[TRIES / 2]);
}

/* The computation needs no memory: if its core's time grows during a call, the
 * kernel's interrupts take the difference, above all for the links. */
static void time_overlap(struct bench *b, bool print)
{
    struct cores cores;
    double alone, work, links;
    const double call = slowest(time_call(b, 0, &cores));
    const double computation = slowest(time_computation(b->units, &alone));
    const double both = slowest(time_call(b, b->units, &cores));

    work = slowest(cores.work);
    links = slowest(cores.computed - alone);
    if (print && b->rank == 0)
        printf("overlap %.3f %.3f %.3f %.3f %.3f\n", call, computation, both,
               work, links);
}

static void run(struct bench *b)
{
    for (int i = -b->warmup; i < b->rounds; i++) {
        if (b->overlap && i == 0)
            calibrate(b);
        if (b->overlap)
            time_overlap(b, i >= 0);
        else
            time_step(b, i >= 0);
        fflush(stdout);
    }
}

/* --- the command line ---------------------------------------------------- */

static int read_number(const char *text, int least, int *number)
{
    char *end;
    const long read = strtol(text, &end, 10);

    if (end == text || *end || read < least || read > 1000000)
        return -1;
    *number = (int)read;
    return 0;
}

/* Returns the number of arguments read; 0: the option is bad. */
static int read_option(struct bench *b, const char *name, const char *value,
                       const char **table, size_t *size)
{
    int rc = -1;

    if (strcmp(name, "--blocking") == 0)
        return b->blocking = true;
    if (strcmp(name, "--ragged") == 0)
        return b->ragged = true;
    if (!value)
        return 0;
    if (strcmp(name, "--tensors") == 0) {
        *table = value;
        rc = 0;
    } else if (strcmp(name, "--size") == 0) {
        rc = aps_bench_read_size(value, size);
    } else if (strcmp(name, "--rounds") == 0) {
        rc = read_number(value, 1, &b->rounds);
    } else if (strcmp(name, "--warmup") == 0) {
        rc = read_number(value, 0, &b->warmup);
    }
    return rc < 0 ? 0 : 2;
}

static void reverse(size_t *list, int count)
{
    for (int i = 0; i < count / 2; i++) {
        const size_t last = list[count - 1 - i];

        list[count - 1 - i] = list[i];
        list[i] = last;
    }
}

/* Returns 0, or -1 with the cause in `error`. */
static int read_command_line(struct bench *b, int argc, char **argv,
                             char *error)
{
    const char *table = RESNET50_LAYERS;
    size_t size = 8 << 20;

    if (argc < 2 ||
        (strcmp(argv[1], "step") != 0 && strcmp(argv[1], "overlap") != 0)) {
        snprintf(error, APS_BENCH_ERROR, "step or overlap? See --help");
        return -1;
    }
    b->overlap = strcmp(argv[1], "overlap") == 0;
    for (int i = 2, taken; i < argc; i += taken) {
        taken = read_option(b, argv[i], argv[i + 1], &table, &size);
        if (taken == 0) {
            snprintf(error, APS_BENCH_ERROR,
                     "unknown, without its value, or with a bad one: '%.120s'",
                     argv[i]);
            return -1;
        }
    }
    if (!b->overlap) {
        if (aps_bench_read_tensors(table, &b->counts, &b->tensors, error) < 0)
            return -1;
        reverse(b->counts, b->tensors); /* the last layer first */
        return 0;
    }
    b->tensors = 1;
    b->counts = malloc(sizeof *b->counts);
    if (b->counts)
        b->counts[0] = size;
    return b->counts ? 0 : -1;
}

static bool allocate(struct bench *b)
{
    for (int t = 0; t < b->tensors; t++)
        b->total += b->counts[t];
    b->send = malloc(b->total * sizeof *b->send);
    b->receive = malloc(b->total * sizeof *b->receive);
    b->requests = malloc((size_t)b->tensors * sizeof *b->requests);
    for (int t = 0; b->requests && t < b->tensors; t++)
        b->requests[t] = MPI_REQUEST_NULL;
    return b->send && b->receive && b->requests;
}

int main(int argc, char **argv)
{
    struct bench b = {.rounds = 5, .warmup = 2};
    char error[APS_BENCH_ERROR] = "no memory";
    int level, wrong, rc;

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(help, stdout) < 0;
    rc = read_command_line(&b, argc, argv, error);
    /* As programs with their own threads do. */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    PMPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
    aps_meet_all_good("nonblocking", rc == 0, error);
    aps_meet_all_good("nonblocking", allocate(&b), "no memory");
    fill(&b);
    run(&b);
    wrong = b.wrong;
    PMPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    free(b.send);
    free(b.receive);
    free(b.requests);
    free(b.counts);
    MPI_Finalize();
    return wrong;
}

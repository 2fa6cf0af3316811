/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times the sums of a training step and those of native FP32, alternately in
 * one process, so that both see the same drift of the machine; see --help. A
 * plain MPI program: native calls use PMPI_Allreduce, the others MPI_Allreduce
 * or MPI_Iallreduce, which a preloaded library may rewrite.
 *
 * Each line of standard output is a round: `step`, then the milliseconds of the
 * step in native FP32 and of the step as the library carries it out, each of
 * the slowest rank. The last line is `error`: the relative L2 difference of the
 * last sums from native ones, of the worst rank. A compressor with feedback
 * sends values later, so the difference of one step may be near 1.
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/deviation.h"
#include "bench/meet.h"
#include "bench/sizes.h"

/* MPICH declares the statuses as an array, and MPI_STATUSES_IGNORE is 1. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

static const char help[] =
    "usage: mpiexec -n P step [OPTION...]\n"
    "\n"
    "Times the all-reduces of a training step, a call for each tensor, the "
    "last\n"
    "layer first, and the same calls in native FP32. Prints a line a round.\n"
    "\n"
    "  --tensors FILE   layer,name,count (default: ResNet-50's 161)\n"
    "  --nonblocking    MPI_Iallreduce, and one wait for all; native FP32 is\n"
    "                   MPI_Allreduce in any case\n"
    "  --rounds N       rounds that are measured (default: 5)\n"
    "  --warmup N       steps before (default: 3)\n";

struct bench {
    bool nonblocking;
    int rounds;
    int warmup;
    int rank;
    size_t *counts; /* counts of the tensors, in the order of the calls */
    int tensors;
    size_t total; /* floats of all tensors */
    float *send;  /* tensors, one after the other */
    float *receive;
    float *native; /* native FP32's sums */
    MPI_Request *requests;
};

/* Fills with values like gradients: spread over many binades, both signs. */
static void fill(const struct bench *b)
{
    uint32_t state = 12345 + 7919 * (uint32_t)b->rank;

    for (size_t i = 0; i < b->total; i++) {
        float product = 0x1p-7f;

        for (int j = 0; j < 3; j++) {
            state = state * 1664525u + 1013904223u;
            product *= (float)(int32_t)state * 0x1p-31f;
        }
        b->send[i] = product;
    }
}

/* --- rounds --------------------------------------------------------------- */

static void sum_natively(const struct bench *b)
{
    size_t offset = 0;

    for (int t = 0; t < b->tensors; offset += b->counts[t++])
        PMPI_Allreduce(b->send + offset, b->native + offset, (int)b->counts[t],
                       MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void sum(const struct bench *b)
{
    size_t offset = 0;

    for (int t = 0; t < b->tensors; offset += b->counts[t++])
        if (b->nonblocking)
            MPI_Iallreduce(b->send + offset, b->receive + offset,
                           (int)b->counts[t], MPI_FLOAT, MPI_SUM,
                           MPI_COMM_WORLD, &b->requests[t]);
        else
            MPI_Allreduce(b->send + offset, b->receive + offset,
                          (int)b->counts[t], MPI_FLOAT, MPI_SUM,
                          MPI_COMM_WORLD);
    if (b->nonblocking)
        MPI_Waitall(b->tensors, b->requests, MPI_STATUSES_IGNORE);
}

/* COLLECTIVE. Returns the milliseconds of the slowest rank. */
static double time_step(const struct bench *b,
                        void (*step)(const struct bench *))
{
    double taken;

    aps_meet();
    taken = PMPI_Wtime();
    step(b);
    taken = PMPI_Wtime() - taken;
    PMPI_Allreduce(MPI_IN_PLACE, &taken, 1, MPI_DOUBLE, MPI_MAX,
                   MPI_COMM_WORLD);
    return 1e3 * taken;
}

/* True on all ranks if every value is a sum. */
static bool run(const struct bench *b)
{
    double error;

    for (int i = -b->warmup; i < b->rounds; i++) {
        const double native = time_step(b, sum_natively);
        const double ours = time_step(b, sum);

        if (i >= 0 && b->rank == 0)
            printf("step %.3f %.3f\n", native, ours);
        fflush(stdout);
    }
    /* A call that writes nothing leaves NaN. */
    memset(b->receive, 0xff, b->total * sizeof *b->receive);
    sum(b);
    error = aps_bench_deviation(b->native, b->receive,
                                &(struct aps_bench_piece){0, b->total}, 1);
    if (b->rank == 0)
        printf("error %.3g\n", error);
    return isfinite(error);
}

/* --- the command line ----------------------------------------------------- */

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
                       const char **table)
{
    int rc = -1;

    if (strcmp(name, "--nonblocking") == 0)
        return b->nonblocking = true;
    if (!value)
        return 0;
    if (strcmp(name, "--tensors") == 0) {
        *table = value;
        rc = 0;
    } else if (strcmp(name, "--rounds") == 0) {
        rc = read_number(value, 1, &b->rounds);
    } else if (strcmp(name, "--warmup") == 0) {
        rc = read_number(value, 0, &b->warmup);
    }
    return rc < 0 ? 0 : 2;
}

/* Returns 0, or -1 with the cause in `error`. */
static int read_command_line(struct bench *b, int argc, char **argv,
                             char *error)
{
    const char *table = RESNET50_LAYERS;

    for (int i = 1, taken; i < argc; i += taken) {
        taken = read_option(b, argv[i], argv[i + 1], &table);
        if (taken == 0) {
            snprintf(error, APS_BENCH_ERROR,
                     "unknown, without its value, or with a bad one: '%.120s'",
                     argv[i]);
            return -1;
        }
    }
    if (aps_bench_read_tensors(table, &b->counts, &b->tensors, error) < 0)
        return -1;
    for (int i = 0, j = b->tensors - 1; i < j; i++, j--) {
        const size_t last = b->counts[j]; /* the last layer first */

        b->counts[j] = b->counts[i];
        b->counts[i] = last;
    }
    return 0;
}

/* Touches the pages, so that the timed calls do not. */
static bool allocate(struct bench *b)
{
    for (int t = 0; t < b->tensors; t++)
        b->total += b->counts[t];
    b->send = malloc(b->total * sizeof *b->send);
    b->receive = malloc(b->total * sizeof *b->receive);
    b->native = malloc(b->total * sizeof *b->native);
    b->requests = malloc((size_t)b->tensors * sizeof *b->requests);
    if (!b->send || !b->receive || !b->native || !b->requests)
        return false;
    memset(b->receive, 0xff, b->total * sizeof *b->receive);
    memset(b->native, 0xff, b->total * sizeof *b->native);
    return true;
}

int main(int argc, char **argv)
{
    struct bench b = {.rounds = 5, .warmup = 3};
    char error[APS_BENCH_ERROR] = "no memory";
    bool good;
    int rc;

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(help, stdout) < 0;
    rc = read_command_line(&b, argc, argv, error);
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    aps_meet_all_good("step", rc == 0, error);
    aps_meet_all_good("step", allocate(&b), "no memory");
    fill(&b);
    good = run(&b);
    free(b.send);
    free(b.receive);
    free(b.native);
    free(b.requests);
    free(b.counts);
    MPI_Finalize();
    return !good;
}

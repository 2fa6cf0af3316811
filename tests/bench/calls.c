/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times the collectives other than all-reduces, of FP32 natively, rewritten, and with
 * `reduce: auto`, in one job (make bench-mpis BENCH=calls):
 *
 *     APSMPI_POLICY=p.yaml mpiexec -genv LD_PRELOAD LIB -n 2 calls --csv FILE N...
 *
 * N: a number of floats of all ranks together. The policy has `reduce: auto` for calls
 * of N floats, and rewrites those of N + 64 for each rank. FILE gets a row for each
 * collective and N: medians of microseconds, the slowest rank's, and native's divided
 * by those of `auto` and rewritten calls. The three alternate in a random order. Before
 * each call the ranks touch 4 MiB of other memory, and values change by a power of two.
 */
#include "config.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXTRA 64
#define ROUNDS_MAX 4000
#define TRIALS 48 /* more than `reduce: auto` makes */
#define OTHER (4 << 20)
#define SECONDS 2 /* time to measure a row */

enum variant { NATIVE, AUTO, REWRITTEN, VARIANTS };

static int rank, ranks;
static float *in, *out;
static unsigned char *other;
static double samples[VARIANTS][ROUNDS_MAX];

/* --- the calls ------------------------------------------------------------ */

static void reduce(bool native, int block)
{
    (native ? PMPI_Reduce : MPI_Reduce)(in, out, block * ranks, MPI_FLOAT,
                                        MPI_SUM, 0, MPI_COMM_WORLD);
}

static void reduce_scatter(bool native, int block)
{
    (native ? PMPI_Reduce_scatter_block : MPI_Reduce_scatter_block)(
        in, out, block, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void allgather(bool native, int block)
{
    (native ? PMPI_Allgather : MPI_Allgather)(in, block, MPI_FLOAT, out, block,
                                              MPI_FLOAT, MPI_COMM_WORLD);
}

static void bcast(bool native, int block)
{
    (native ? PMPI_Bcast : MPI_Bcast)(rank == 0 ? in : out, block * ranks,
                                      MPI_FLOAT, 0, MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*call)(bool native, int block);
} collectives[] = {
    {"reduce", reduce},
    {"reduce_scatter", reduce_scatter},
    {"allgather", allgather},
    {"bcast", bcast},
};

/* --- timing --------------------------------------------------------------- */

/* The values of a call: of a pool, times a power of two. */
static void fill(int n, int call)
{
    uint32_t state = 1 + (uint32_t)rank + 7 * (uint32_t)call;
    const float factor = 0x1p-31f / (float)(1 << call % 5);

    for (int i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        in[i] = (float)(int32_t)state * factor;
    }
}

static double timed(int c, enum variant variant, int block)
{
    double begin, now;

    PMPI_Barrier(MPI_COMM_WORLD);
    begin = PMPI_Wtime() + 6e-4; /* the ranks begin together */
    for (int i = 0; i < OTHER; i += 64)
        other[i]++;
    do
        now = PMPI_Wtime();
    while (now < begin);
    collectives[c].call(variant == NATIVE,
                        block + (variant == REWRITTEN ? EXTRA : 0));
    return PMPI_Wtime() - now;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void bench(int c, int n, FILE *csv)
{
    const int block = n / ranks;
    const double start = PMPI_Wtime();
    double median[VARIANTS];
    int rounds = 0, more = 1;
    uint32_t state = 1;

    for (int i = 0; i < TRIALS; i++)
        timed(c, AUTO, block);
    for (int i = 0; i < 4; i++)
        timed(c, REWRITTEN, block);
    for (; more && rounds < ROUNDS_MAX; rounds++) {
        double seconds[VARIANTS];
        int first, step;

        state = state * 1664525u + 1013904223u;
        first = (int)(state >> 16) % VARIANTS;
        step = 1 + (int)(state >> 31);
        fill((block + EXTRA) * ranks, rounds);
        for (int i = 0; i < VARIANTS; i++) {
            const int v = (first + i * step) % VARIANTS;

            seconds[v] = timed(c, (enum variant)v, block);
        }
        PMPI_Allreduce(MPI_IN_PLACE, seconds, VARIANTS, MPI_DOUBLE, MPI_MAX,
                       MPI_COMM_WORLD);
        for (int v = 0; v < VARIANTS; v++)
            samples[v][rounds] = seconds[v];
        more = PMPI_Wtime() - start < SECONDS;
        PMPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    for (int v = 0; v < VARIANTS; v++) {
        qsort(samples[v], (size_t)rounds, sizeof samples[v][0], compare);
        median[v] = samples[v][rounds / 2];
    }
    if (rank == 0)
        fprintf(csv, "%s,%d,%.1f,%.1f,%.1f,%.2f,%.2f\n", collectives[c].name, n,
                1e6 * median[NATIVE], 1e6 * median[AUTO],
                1e6 * median[REWRITTEN], median[NATIVE] / median[AUTO],
                median[NATIVE] / median[REWRITTEN]);
}

int main(int argc, char **argv)
{
    FILE *csv = NULL;
    int most = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 3; i < argc; i++)
        most = atoi(argv[i]) > most ? atoi(argv[i]) : most;
    in = calloc((size_t)most + EXTRA * (size_t)ranks, sizeof *in);
    out = calloc((size_t)most + EXTRA * (size_t)ranks, sizeof *out);
    other = calloc(OTHER, 1);
    if (argc > 2 && rank == 0)
        csv = fopen(argv[2], "w");
    if (argc < 3 || !in || !out || !other || (rank == 0 && !csv))
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (csv)
        fputs("call,floats,native_us,auto_us,rewritten_us,auto,rewritten\n",
              csv);
    for (size_t c = 0; c < sizeof collectives / sizeof *collectives; c++)
        for (int i = 3; i < argc; i++)
            bench((int)c, atoi(argv[i]), csv);
    if (csv)
        fclose(csv);
    free(in);
    free(out);
    free(other);
    MPI_Finalize();
    return 0;
}

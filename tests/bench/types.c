/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares sums of 16-bit floats and doubles with native ones of the same type
 * (PMPI_Allreduce) in one job:
 *
 *     APSMPI_POLICY=p.yaml mpiexec -genv LD_PRELOAD LIB -n 2 tests/bench/types
 *
 * A row for each type that MPI has and each size: microseconds of the fastest of
 * paired calls, native and preloaded alternately, each after a barrier, and the median
 * of their ratios. Each call sums other values: a window of a pool, times a power of
 * two.
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZES 5
#define PAIRS_MAX 60
#define POOL 8191 /* values of the pool, a prime number */

static const size_t sizes[SIZES] = {16 << 10, 128 << 10, 1 << 20, 4 << 20,
                                    25600000};

static void set_bf16(void *x, size_t i, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    ((uint16_t *)x)[i] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static void set_fp16(void *x, size_t i, float value)
{
    ((_Float16 *)x)[i] = (_Float16)value;
}

static void set_double(void *x, size_t i, float value)
{
    ((double *)x)[i] = value;
}

struct type {
    const char *name;
    size_t bytes;
    void (*set)(void *x, size_t i, float value);
    MPI_Datatype mpi;
};

static float pool[POOL];
static double ratios[PAIRS_MAX];

static void fill_pool(int rank)
{
    uint32_t state = 1 + (uint32_t)rank;

    for (size_t i = 0; i < POOL; i++) {
        state = state * 1664525u + 1013904223u;
        pool[i] = ldexpf((float)(int32_t)state * 0x1p-31f, -(int)(i % 8));
    }
}

static void fill(const struct type *type, int call, size_t n, void *x)
{
    const float factor = ldexpf(1, -(call % 5));
    size_t at = (size_t)call * 977 % POOL;

    for (size_t i = 0; i < n; i++) {
        type->set(x, i, pool[at] * factor);
        at = at + 1 < POOL ? at + 1 : 0;
    }
}

static double timed(const struct type *type, bool native, const void *in,
                    void *out, size_t n)
{
    double begin;

    PMPI_Barrier(MPI_COMM_WORLD);
    begin = PMPI_Wtime();
    if (native)
        PMPI_Allreduce(in, out, (int)n, type->mpi, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Allreduce(in, out, (int)n, type->mpi, MPI_SUM, MPI_COMM_WORLD);
    return PMPI_Wtime() - begin;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void bench(const struct type *type, size_t n, int rank)
{
    const int pairs = n > 1 << 20 ? 9 : PAIRS_MAX;
    void *in = malloc(n * type->bytes), *out = malloc(n * type->bytes);
    double best[2] = {INFINITY, INFINITY};

    if (!in || !out)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(out, 0, n * type->bytes);
    for (int i = -2; i < pairs; i++) {
        double seconds[2];

        fill(type, i + 2, n, in);
        for (int native = 0; native < 2; native++)
            seconds[native] = timed(type, native, in, out, n);
        if (i < 0) /* the first calls meet cold memory */
            continue;
        ratios[i] = seconds[1] / seconds[0];
        for (int native = 0; native < 2; native++)
            best[native] = fmin(best[native], seconds[native]);
    }
    qsort(ratios, (size_t)pairs, sizeof *ratios, by_size);
    if (rank == 0)
        printf("%s,%zu,%.1f,%.1f,%.2f\n", type->name, n, 1e6 * best[1],
               1e6 * best[0], ratios[pairs / 2]);
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    const struct type types[] = {
#ifdef MPIX_BFLOAT16
        {"bf16", 2, set_bf16, MPIX_BFLOAT16},
#endif
#if defined(MPIX_C_FLOAT16) && MPICH_NUMVERSION >= 40300000
        /* MPICH 4.0 ends in an assertion of its own */
        {"fp16", 2, set_fp16, MPIX_C_FLOAT16},
#endif
        {"double", 8, set_double, MPI_DOUBLE},
    };
    const size_t most = argc > 1 ? strtoull(argv[1], NULL, 10) : SIZE_MAX;
    int rank;

    (void)set_bf16;
    (void)set_fp16;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fill_pool(rank);
    if (rank == 0)
        puts("type,count,native_us,preloaded_us,times_native");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        for (int k = 0; k < SIZES && sizes[k] <= most; k++)
            bench(&types[i], sizes[k], rank);
    }
    MPI_Finalize();
    return 0;
}

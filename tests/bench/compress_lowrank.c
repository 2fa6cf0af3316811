/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PowerSGD's products: GB/s of the matrix's elements, whatever else is read or
 * written, and memcpy's GB/s of a matrix that is copied. Microseconds of
 * orthogonalising P. "+e": with feedback, the memory in place; "+e2": out of
 * place. tests/bench/compress.py reads this table.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cpu.h"
#include "compress.h"
#include "compress/lowrank.h"

static const struct aps_matrix matrices[] = {
    {512, 4608, (size_t)512 * 4608},   {2048, 512, (size_t)2048 * 512},
    {1000, 2048, (size_t)1000 * 2048}, {64, 147, (size_t)64 * 147},
    {4096, 4096, (size_t)4096 * 4096},
};
static const size_t ranks[] = {1, 2, 4, 8, 32};

struct data {
    const struct aps_matrix *matrix;
    size_t rank;
    float *m, *e, *out, *p, *q, *spare;
    double *room;
};

static void run_left(const struct data *d)
{
    aps_lowrank_left(d->matrix, d->rank, d->m, d->q, d->p);
}

static void run_left_memory(const struct data *d)
{
    aps_lowrank_left_feedback(d->matrix, d->rank, d->m, d->e, d->e, d->q, d->p);
}

static void run_left_apart(const struct data *d)
{
    aps_lowrank_left_feedback(d->matrix, d->rank, d->m, d->e, d->out, d->q,
                              d->p);
}

static void run_right(const struct data *d)
{
    aps_lowrank_right(d->matrix, d->rank, d->m, d->p, d->q);
}

static void run_restore(const struct data *d)
{
    aps_lowrank_restore(d->matrix, d->rank, d->p, d->q, d->out);
}

static void run_restore_memory(const struct data *d)
{
    aps_lowrank_restore_feedback(d->matrix, d->rank, d->p, d->q, 0.5f, d->e,
                                 d->out, d->e);
}

static void run_restore_apart(const struct data *d)
{
    aps_lowrank_restore_feedback(d->matrix, d->rank, d->p, d->q, 0.5f, d->m,
                                 d->out, d->e);
}

static void run_orthogonalise(const struct data *d)
{
    aps_lowrank_orthogonalise(d->matrix->rows, d->rank, d->spare, d->room);
}

/* The last one is in microseconds. */
static const struct {
    const char *name;
    void (*run)(const struct data *);
} ways[] = {
    {"left", run_left},
    {"left+e", run_left_memory},
    {"left+e2", run_left_apart},
    {"right", run_right},
    {"restore", run_restore},
    {"restore+e", run_restore_memory},
    {"restore+e2", run_restore_apart},
    {"orthogonal", run_orthogonalise},
};
#define WAYS (sizeof ways / sizeof *ways)

/* Returns the seconds of the fastest run; small matrices are run several times. */
static double best_of(size_t way, const struct data *d)
{
    const int times = d->matrix->count < 100000 ? 100 : 1;
    double best = 1e9;

    for (int r = 0; r < BENCH_RUNS; r++) {
        const double start = bench_now();

        for (int i = 0; i < times; i++)
            ways[way].run(d);
        const double seconds = (bench_now() - start) / times;
        best = seconds < best ? seconds : best;
    }
    return best;
}

static void bench_line(struct data *d)
{
    const double bytes = (double)(d->matrix->count * sizeof *d->m);
    const size_t rows = d->matrix->rows, columns = d->matrix->columns;

    printf("  %4zu x %-4zu %4zu", rows, columns, d->rank);
    for (size_t way = 0; way < WAYS; way++) {
        /* all ways begin with numbers of the same size */
        aps_lowrank_draw(rows, 0, d->rank, &(struct aps_lowrank_seed){1, 0, 0},
                         d->p);
        aps_lowrank_draw(columns, 0, d->rank,
                         &(struct aps_lowrank_seed){2, 0, 0}, d->q);
        aps_lowrank_draw(rows, 0, d->rank, &(struct aps_lowrank_seed){3, 0, 0},
                         d->spare);
        const double seconds = best_of(way, d);

        if (way < WAYS - 1)
            printf(" %10.2f", 1e-9 * bytes / seconds);
        else
            printf(" %10.1f", 1e6 * seconds);
    }
    printf(" %8.2f\n",
           1e-9 * bytes / bench_memcpy(d->m, d->matrix->count, d->out));
}

int bench_lowrank(void)
{
    printf("lowrank, %s: GB/s of the matrix, us of P's orthogonalisation\n",
           aps_cpu_name(aps_cpu_chosen()));
    printf("  %4s   %-4s %4s", "rows", "cols", "rank");
    for (size_t way = 0; way < WAYS; way++)
        printf(" %10s", ways[way].name);
    printf(" %8s\n", "memcpy");
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) {
        for (size_t j = 0; j < sizeof ranks / sizeof *ranks; j++) {
            const struct aps_matrix *matrix = &matrices[i];
            struct data d = {
                .matrix = matrix,
                .rank = ranks[j],
                .m = bench_floats(matrix->count),
                .e = bench_floats(matrix->count),
                .out = bench_floats(matrix->count),
                .p = bench_floats(matrix->rows * ranks[j]),
                .q = bench_floats(matrix->columns * ranks[j]),
                .spare = bench_floats(matrix->rows * ranks[j]),
            };

            d.room = (double *)bench_floats(
                2 * aps_lowrank_room(matrix->rows, ranks[j]));
            bench_line(&d);
            free(d.m);
            free(d.e);
            free(d.out);
            free(d.p);
            free(d.q);
            free(d.spare);
            free(d.room);
        }
    }
    return 0;
}

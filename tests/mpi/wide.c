/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of doubles in a format wider than FP32: wide X M order|any [gather].
 * Values are rounded to eXmM by an oracle and added in FP64, in rank order. With `any`
 * all sums are exact, so that their order does not matter. With `gather` all-reduces
 * do not round their sums, as reduce-scatters never do.
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"
#include "tests/unit/common/wide_oracle.h"

#define MOST 100003
#define PARTS 3

static int rank, size, exponent_bits, mantissa_bits;
static bool exact, gathers;
static double in[MOST], out[4 * MOST];

enum how { ALLREDUCE, IN_PLACE, LATER, REDUCE, SCATTER, GATHER, BCAST, HOWS };
static const char *const how_names[HOWS] = {
    "MPI_Allreduce",  "in place",      "MPI_Iallreduce", "MPI_Reduce",
    "reduce-scatter", "MPI_Allgather", "MPI_Bcast"};

static double rounded(double value)
{
    (void)wide_oracle(exponent_bits, mantissa_bits, value, &value);
    return value;
}

static uint64_t hash(uint64_t bits)
{
    for (int turn = 0; turn < 3; turn++)
        bits = (bits ^ bits >> 29) * UINT64_C(0xbf58476d1ce4e5b9) + 1;
    return bits;
}

/* Element i of a rank: of many binades, or small integers in steps of the format. */
static double value_of(int of, size_t i)
{
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint64_t bits = hash(i * 64 + (unsigned)of);
    const double sign = bits >> 63 ? -1 : 1;

    if (i % 1009 == 5)
        return of == 0 ? sign * INFINITY : 1;
    if (i % 1009 == 6)
        return of == size - 1 ? NAN : 1;
    if (i % 1009 == 7) /* INF once it is rounded, or added */
        return ldexp(2 - ldexp(1, -mantissa_bits - 1), bias - (int)(bits & 1));
    if (exact)
        return sign *
               (double)(bits >> (65 - mantissa_bits) & UINT64_MAX >> 12) / 1024;
    if (i % 1009 > 1000) /* subnormals of the format */
        return sign * ldexp((double)(bits & 0xffff), -bias - mantissa_bits - 4);
    return ldexp(sign * (double)(bits >> 11), (int)(bits & 31) - 80);
}

static double sum_of(size_t i, bool rounds)
{
    double sum = rounded(value_of(0, i));

    for (int k = 1; k < size; k++)
        sum += rounded(value_of(k, i));
    return rounds ? rounded(sum) : sum;
}

static bool same(double a, double b)
{
    return isnan(b) ? isnan(a) : memcmp(&a, &b, sizeof a) == 0;
}

static void reduce_in_parts(int n)
{
    MPI_Request requests[PARTS];

    for (int p = 0; p < PARTS; p++) {
        const int begin = n / PARTS * p;
        const int end = p == PARTS - 1 ? n : begin + n / PARTS;

        MPI_Iallreduce(in + begin, out + begin, end - begin, MPI_DOUBLE,
                       MPI_SUM, MPI_COMM_WORLD, &requests[p]);
    }
    for (int p = 0; p < PARTS; p++)
        MPI_Wait(&requests[p], MPI_STATUS_IGNORE);
}

/* Makes a call with in[n]. Sets the results' number on this rank, and the number of
 * the first. */
static void make(enum how how, int n, size_t *results, size_t *first)
{
    const MPI_Comm comm = MPI_COMM_WORLD;
    const int share = n / size, root = size - 1;

    *results = (size_t)n;
    *first = 0;
    switch (how) {
    case ALLREDUCE:
        MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, comm);
        return;
    case IN_PLACE:
        memcpy(out, in, (size_t)n * sizeof *in);
        MPI_Allreduce(MPI_IN_PLACE, out, n, MPI_DOUBLE, MPI_SUM, comm);
        return;
    case LATER:
        reduce_in_parts(n);
        return;
    case REDUCE:
        MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_SUM, root, comm);
        *results = rank == root ? (size_t)n : 0;
        return;
    case SCATTER:
        MPI_Reduce_scatter_block(in, out, share, MPI_DOUBLE, MPI_SUM, comm);
        *results = (size_t)share;
        *first = (size_t)(rank * share);
        return;
    case GATHER:
        MPI_Allgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, comm);
        *results = (size_t)(n * size);
        return;
    default:
        memcpy(out, in, (size_t)n * sizeof *in);
        MPI_Bcast(out, n, MPI_DOUBLE, root, comm);
        return;
    }
}

static size_t count_wrong(enum how how, int n)
{
    const bool rounds = how != SCATTER && !(gathers && how <= LATER);
    size_t results, first, wrong = 0;

    memset(out, 0x55, sizeof out);
    make(how, n, &results, &first);
    for (size_t i = 0; i < results; i++) {
        const double wanted =
            how == GATHER
                ? rounded(value_of((int)(i / (size_t)n), i % (size_t)n))
            : how == BCAST ? rounded(value_of(size - 1, i))
                           : sum_of(first + i, rounds);

        wrong += !same(out[i], wanted);
    }
    if (wrong > 0)
        diag("%s of %d: %zu wrong of %zu", how_names[how], n, wrong, results);
    if (how != REDUCE && how != SCATTER)
        wrong += !same_on_all(out, results * sizeof *out);
    return wrong;
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 7, 1024, MOST};
    int level, status;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
    rank = mpitap_rank();
    size = mpitap_size();
    exponent_bits = atoi(argv[1]);
    mantissa_bits = atoi(argv[2]);
    exact = strcmp(argv[3], "any") == 0;
    gathers = argc > 4;
    for (size_t i = 0; i < MOST; i++)
        in[i] = value_of(rank, i);
    for (int how = 0; how < HOWS; how++) {
        size_t wrong = 0;

        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            if (how != SCATTER || counts[k] >= size)
                wrong += count_wrong((enum how)how, counts[k]);
        ok_all(wrong == 0, "e%dm%d, %s: sums in FP64", exponent_bits,
               mantissa_bits, how_names[how]);
    }
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduced IN COUNT CALLS OUT: all-reduces floats from a file. IN has, for each
 * call and then for each rank, COUNT floats. Rank 0 writes the sums of all calls
 * to OUT, after all ranks have compared their results with it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what)
{
    fprintf(stderr, "reduced: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void *allocate(size_t count)
{
    float *x = malloc(count * sizeof *x + 1);

    if (!x)
        fail("out of memory");
    return x;
}

/* Reads this rank's values of a call. */
static void read_values(FILE *in, int call, int ranks, int rank, int count,
                        float *x)
{
    const long at = ((long)call * ranks + rank) * count * (long)sizeof *x;

    if (fseek(in, at, SEEK_SET) != 0 ||
        fread(x, sizeof *x, (size_t)count, in) != (size_t)count)
        fail("the input is too short");
}

/* Compares the result with that of rank 0. */
static void compare(const float *sum, int count, int rank)
{
    float *first = allocate((size_t)count);

    memcpy(first, sum, (size_t)count * sizeof *sum);
    MPI_Bcast(first, count * (int)sizeof *sum, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (memcmp(first, sum, (size_t)count * sizeof *sum) != 0) {
        fprintf(stderr, "reduced: rank %d has other bits than rank 0\n", rank);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    free(first);
}

int main(int argc, char **argv)
{
    int rank, ranks, count, calls;
    float *x, *sum;
    FILE *in, *out = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 5)
        fail("usage: reduced IN COUNT CALLS OUT");
    count = atoi(argv[2]);
    calls = atoi(argv[3]);
    in = fopen(argv[1], "rb");
    if (rank == 0)
        out = fopen(argv[4], "wb");
    if (!in || (rank == 0 && !out))
        fail("cannot open a file");
    x = allocate((size_t)count);
    sum = allocate((size_t)count);
    for (int call = 0; call < calls; call++) {
        read_values(in, call, ranks, rank, count, x);
        MPI_Allreduce(x, sum, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        compare(sum, count, rank);
        if (out &&
            fwrite(sum, sizeof *sum, (size_t)count, out) != (size_t)count)
            fail("cannot write the sums");
    }
    fclose(in);
    if (out && fclose(out) != 0)
        fail("cannot write the sums");
    free(x);
    free(sum);
    MPI_Finalize();
    return 0;
}

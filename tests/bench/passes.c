/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long the bytes of an all-reduce take on one node when nothing else is done: the
 * bound of roofline.sh. A plain MPI program whose ranks read and write floats of
 * their own, at the same time and in the order of the reduction:
 *
 *   aps        reads n floats, and once more chunk by chunk, each of which it
 *              writes, too
 *   aps-tight  the same without the first pass
 *
 * What stays in the caches next to a core (codes, sums) is left out. Floats are read
 * by the search for the greatest one, which is faster than memory, and written by
 * memset of the C library.
 *
 *   mpiexec -n 2 passes SIZE...     such as 1Mi 25.6Mi
 *
 * A line for each scale and size: the scale, the floats, the median and the least
 * of the rounds' microseconds, each of the slowest rank. Before each round, as the
 * all-reduce bench does with --cold 8, ranks read and write 8 MiB of other memory.
 */
#include "config.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/least.h"
#include "codec/codec.h"
#include "meet.h"
#include "sizes.h"

#define CHUNK ((size_t)64 * 1024) /* floats, as in src/wire/pipeline_sizes.c */
#define COLD ((size_t)8 << 20)
#define ROUNDS_LEAST 5
#define ROUNDS_MOST 200
#define BYTES ((size_t)1 << 30) /* of a size, in all its rounds */

struct bench {
    size_t n;
    float *in;
    float *out;
    unsigned char *other; /* COLD bytes */
    float seen;           /* that reading is not left out */
};

static void read_floats(struct bench *b, size_t begin, size_t n)
{
    b->seen += aps_magnitude_of(b->in + begin, n).max;
}

/* Seconds of the slowest rank. */
static double time_passes(struct bench *b, bool twice, int round)
{
    double taken, slowest;

    for (size_t i = 0; i < COLD; i += 64)
        b->other[i]++;
    meet();
    taken = -MPI_Wtime();
    if (twice)
        read_floats(b, 0, b->n);
    for (size_t i = 0; i < b->n; i += CHUNK) {
        const size_t n = aps_least(b->n - i, CHUNK);

        read_floats(b, i, n);
        memset(b->out + i, round & 1, n * sizeof *b->out);
    }
    taken += MPI_Wtime();
    MPI_Allreduce(&taken, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void measure(struct bench *b, const char *scale, bool twice)
{
    const size_t wanted = BYTES / (b->n * sizeof *b->in + 1);
    const int rounds = wanted < ROUNDS_LEAST  ? ROUNDS_LEAST
                       : wanted > ROUNDS_MOST ? ROUNDS_MOST
                                              : (int)wanted;
    double taken[ROUNDS_MOST];
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < rounds; i++)
        taken[i] = time_passes(b, twice, i);
    qsort(taken, (size_t)rounds, sizeof *taken, compare);
    if (rank == 0)
        printf("%s %zu %.1f %.1f\n", scale, b->n, 1e6 * taken[rounds / 2],
               1e6 * taken[0]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    meet_all_good("passes", argc > 1, "usage: mpiexec -n P passes SIZE...");
    for (int i = 1; i < argc; i++) {
        struct bench b = {.n = 0};
        const int read = sizes_read(argv[i], &b.n);

        meet_all_good("passes", read == 0 && b.n > 0,
                      "a size is a number of floats, such as 25.6Mi");
        b.in = malloc(b.n * sizeof *b.in);
        b.out = malloc(b.n * sizeof *b.out);
        b.other = calloc(COLD, 1);
        meet_all_good("passes", b.in && b.out && b.other, "out of memory");
        for (size_t k = 0; k < b.n; k++)
            b.in[k] = (float)k;
        memset(b.out, 0, b.n * sizeof *b.out);
        measure(&b, "aps", true);
        measure(&b, "aps-tight", false);
        free(b.in);
        free(b.out);
        free(b.other);
        meet_all_good("passes", b.seen >= 0, "a float is below 0");
    }
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times the bytes of an all-reduce on one node without any other work: the
 * bound of roofline.sh. A plain MPI program whose ranks read and write floats
 * of their own, at the same time and in the order of the reduction:
 *
 *   aps        reads n floats, and once more chunk by chunk, each of which it
 *              writes, too
 *   aps-tight  reads n floats once, without the first pass
 *   codes4, codes8, codes16
 *              hands 4-, 8- or 16-bit codes from core to core: writes n of them, waits
 *              for all ranks, reads its part of each other rank's, writes as many for
 *              the sum, waits, and reads all other parts. Only one byte of each cache
 *              line is touched: it is the lines' way that takes the time. Left out
 *              where ranks outnumber the cores, since a wait is a scheduler's there.
 *
 * The first two leave out data that stays in the caches (codes, sums). The
 * search for the greatest value reads the floats, faster than memory delivers
 * them, and memset of the C library writes them.
 *
 *   mpiexec -n 2 passes SIZE...     such as 1Mi 25.6Mi
 *
 * A line for each kind and size: the kind, the floats, the median and the least
 * of the rounds' microseconds, each of the slowest rank. Before each round, as the
 * all-reduce bench does with --cold 8, ranks read and write 8 MiB of other memory.
 */
#include "config.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/size_min.h"
#include "codec/codec.h"
#include "bench/meet.h"
#include "bench/sizes.h"

/* Codes of a chunk, as for two ranks in src/wire/pipeline_sizes.c. */
#define CHUNK ((size_t)128 * 1024)
#define COLD ((size_t)8 << 20)
#define ROUNDS_MIN 5
#define ROUNDS_MAX 200
#define BYTES ((size_t)1 << 30) /* bytes of one size, in all its rounds */
#define LINE ((size_t)64)

/* Memory that a rank shares: `codes` and `sums` begin at multiples of a line. */
struct shared {
    _Atomic int *stage; /* stage of the rank: it only grows */
    unsigned char *codes;
    unsigned char *sums;
};

struct bench {
    size_t n;
    float *in;
    float *out;
    unsigned char *other; /* COLD bytes */
    struct shared *ranks; /* shared memory of all ranks, by rank */
    MPI_Win window;
    int rank, size;
    float seen; /* keeps reads from being optimised away */
};

static void read_floats(struct bench *b, size_t begin, size_t n)
{
    b->seen += aps_magnitude_of(b->in + begin, n).max;
}

static void move_floats(struct bench *b, bool twice, int round)
{
    if (twice)
        read_floats(b, 0, b->n);
    for (size_t i = 0; i < b->n; i += CHUNK) {
        const size_t n = aps_size_min(b->n - i, CHUNK);

        read_floats(b, i, n);
        memset(b->out + i, round & 1, n * sizeof *b->out);
    }
}

static void write_lines(unsigned char *to, size_t bytes, int value)
{
    for (size_t i = 0; i < bytes; i += LINE)
        *(volatile unsigned char *)(to + i) = (unsigned char)value;
}

static void read_lines(struct bench *b, const unsigned char *from, size_t bytes)
{
    unsigned seen = 0;

    for (size_t i = 0; i < bytes; i += LINE)
        seen += *(const volatile unsigned char *)(from + i);
    b->seen += (float)seen;
}

/* Begins this rank's next stage; then reads `bytes` of each other rank's sums,
 * or of this rank's part of its codes, once that rank has reached the stage. */
static void hand_over(struct bench *b, size_t bytes, bool sums)
{
    const int stage =
        atomic_load_explicit(b->ranks[b->rank].stage, memory_order_relaxed) + 1;

    atomic_store_explicit(b->ranks[b->rank].stage, stage, memory_order_release);
    for (int i = 1; i < b->size; i++) {
        const struct shared *from = &b->ranks[(b->rank + i) % b->size];

        while (atomic_load_explicit(from->stage, memory_order_acquire) < stage)
            ;
        read_lines(b, sums ? from->sums : from->codes + (size_t)b->rank * bytes,
                   bytes);
    }
}

static void move_codes(struct bench *b, unsigned bits, int round)
{
    const size_t part = b->n * bits / 8 / (size_t)b->size;

    write_lines(b->ranks[b->rank].codes, part * (size_t)b->size, round);
    hand_over(b, part, false);
    write_lines(b->ranks[b->rank].sums, part, round);
    hand_over(b, part, true);
}

struct kind {
    const char *name;
    unsigned bits; /* width of a code; 0: floats */
    bool twice;
};

/* Returns the seconds of the slowest rank. */
static double time_kind(struct bench *b, const struct kind *kind, int round)
{
    double taken, slowest;

    for (size_t i = 0; i < COLD; i += LINE)
        b->other[i]++;
    aps_meet();
    taken = -MPI_Wtime();
    if (kind->bits > 0)
        move_codes(b, kind->bits, round);
    else
        move_floats(b, kind->twice, round);
    taken += MPI_Wtime();
    MPI_Allreduce(&taken, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void measure(struct bench *b, const struct kind *kind)
{
    const size_t wanted = BYTES / (b->n * sizeof *b->in + 1);
    const int rounds = wanted < ROUNDS_MIN   ? ROUNDS_MIN
                       : wanted > ROUNDS_MAX ? ROUNDS_MAX
                                             : (int)wanted;
    double taken[ROUNDS_MAX];

    for (int i = 0; i < rounds; i++)
        taken[i] = time_kind(b, kind, i);
    qsort(taken, (size_t)rounds, sizeof *taken, compare);
    if (b->rank == 0)
        printf("%s %zu %.1f %.1f\n", kind->name, b->n, 1e6 * taken[rounds / 2],
               1e6 * taken[0]);
}

/* COLLECTIVE. Allocates memory that all ranks see, for codes of 16 bits and a
 * stage, on which no rank waits for a core. An error of MPI ends the job. */
static void share(struct bench *b)
{
    const size_t codes = (2 * b->n + LINE - 1) / LINE * LINE;
    unsigned char *own, *base;
    MPI_Aint bytes;
    int unit;

    MPI_Win_allocate_shared((MPI_Aint)(2 * (codes + LINE)), 1, MPI_INFO_NULL,
                            MPI_COMM_WORLD, &own, &b->window);
    memset(own, 0, 2 * (codes + LINE));
    for (int i = 0; i < b->size; i++) {
        MPI_Win_shared_query(b->window, i, &bytes, &unit, &base);
        /* Rounds up to a line, on every rank: the mapping begins at a page. */
        base += LINE - (uintptr_t)base % LINE;
        b->ranks[i] = (struct shared){(_Atomic int *)base, base + LINE,
                                      base + LINE + codes};
    }
}

static void measure_all(struct bench *b)
{
    static const struct kind kinds[] = {
        {"aps", 0, true},     {"aps-tight", 0, false}, {"codes4", 4, false},
        {"codes8", 8, false}, {"codes16", 16, false},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].bits == 0 || b->window != MPI_WIN_NULL)
            measure(b, &kinds[i]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    aps_meet_all_good("passes", argc > 1, "usage: mpiexec -n P passes SIZE...");
    for (int i = 1; i < argc; i++) {
        struct bench b = {.window = MPI_WIN_NULL};
        const int read = aps_bench_read_size(argv[i], &b.n);

        aps_meet_all_good("passes", read == 0 && b.n > 0,
                          "a size is a number of floats, such as 25.6Mi");
        MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
        MPI_Comm_size(MPI_COMM_WORLD, &b.size);
        b.in = malloc(b.n * sizeof *b.in);
        b.out = malloc(b.n * sizeof *b.out);
        b.other = calloc(COLD, 1);
        b.ranks = calloc((size_t)b.size, sizeof *b.ranks);
        aps_meet_all_good("passes", b.in && b.out && b.other && b.ranks,
                          "out of memory");
        if (!aps_meet_shares_cores(b.size))
            share(&b);
        for (size_t k = 0; k < b.n; k++)
            b.in[k] = (float)k;
        memset(b.out, 0, b.n * sizeof *b.out);
        measure_all(&b);
        if (b.window != MPI_WIN_NULL)
            MPI_Win_free(&b.window);
        free(b.in);
        free(b.out);
        free(b.other);
        free(b.ranks);
        aps_meet_all_good("passes", b.seen >= 0, "a float is below 0");
    }
    MPI_Finalize();
    return 0;
}

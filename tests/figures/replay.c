/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums recorded gradients again, in several ways a step:
 *
 *     replay PREFIX TENSORS VARIANTS
 *
 * Rank r reads PREFIX.r (record.c), in which TENSORS records are one step. Each
 * step calls MPI_Allreduce for VARIANTS times TENSORS vectors: layer v * TENSORS + t
 * of a policy is tensor t in variant v. The program ends with status 1 if a sum is
 * not the same on all ranks.
 *
 * With count.c preloaded rank 0 prints a CSV: for each layer the calls after the
 * first step, and what they sent: messages, bytes and collective calls of all ranks
 * together; and the same of the first step's call.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"

enum { COUNTS = 3 }; /* members of struct counts */

struct layer {
    long first[COUNTS]; /* of the first step */
    long later[COUNTS];
};

struct tensor {
    int n;
    float *x, *sum;
};

static int rank, ranks;

static void replay_fail(const char *what)
{
    fprintf(stderr, "replay: rank %d: %s: %s\n", rank, what, strerror(errno));
    PMPI_Abort(MPI_COMM_WORLD, 2);
}

static void *replay_allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);

    if (!memory)
        replay_fail("memory");
    return memory;
}

/* The next record; 0 at the end of the file. */
static int replay_read(FILE *file, struct tensor *tensor)
{
    int64_t n;

    if (fread(&n, sizeof n, 1, file) != 1)
        return 0;
    if (n < 0 || n > 1 << 28)
        replay_fail("a record's length");
    if (n > tensor->n) {
        free(tensor->x);
        free(tensor->sum);
        tensor->x = replay_allocate((size_t)n, sizeof *tensor->x);
        tensor->sum = replay_allocate((size_t)n, sizeof *tensor->sum);
    }
    tensor->n = (int)n;
    if (fread(tensor->x, sizeof *tensor->x, (size_t)n, file) != (size_t)n)
        replay_fail("a record's end");
    return 1;
}

static void replay_count(count_read_fn read, long counts[COUNTS])
{
    struct counts now = {0, 0, 0};

    if (read)
        read(&now);
    counts[0] = now.messages;
    counts[1] = now.bytes;
    counts[2] = now.collectives;
}

/* COLLECTIVE over MPI_COMM_WORLD. */
static void replay_sum(count_read_fn read, const struct tensor *tensor,
                       long counts[COUNTS])
{
    long before[COUNTS], after[COUNTS];

    replay_count(read, before);
    MPI_Allreduce(tensor->x, tensor->sum, tensor->n, MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
    replay_count(read, after);
    for (int i = 0; i < COUNTS; i++)
        counts[i] += after[i] - before[i];
}

static uint64_t replay_hash(uint64_t hash, const struct tensor *tensor)
{
    for (int i = 0; i < tensor->n; i++) {
        uint32_t bits;

        memcpy(&bits, &tensor->sum[i], sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* COLLECTIVE over MPI_COMM_WORLD. */
static int replay_same(uint64_t hash)
{
    uint64_t least, most;

    PMPI_Allreduce(&hash, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    PMPI_Allreduce(&hash, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    return least == most;
}

/* COLLECTIVE over MPI_COMM_WORLD. */
static void replay_print(struct layer *layers, int count, long steps)
{
    const int numbers = count * 2 * COUNTS;

    PMPI_Reduce(rank == 0 ? MPI_IN_PLACE : layers, layers, numbers, MPI_LONG,
                MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank != 0)
        return;
    printf("layer,calls,messages,bytes,collectives,first_messages,first_bytes,"
           "first_collectives\n");
    for (int i = 0; i < count; i++)
        printf("%d,%ld,%ld,%ld,%ld,%ld,%ld,%ld\n", i, steps - 1,
               layers[i].later[0], layers[i].later[1], layers[i].later[2],
               layers[i].first[0], layers[i].first[1], layers[i].first[2]);
}

int main(int argc, char **argv)
{
    count_read_fn read;
    struct tensor *tensors;
    struct layer *layers;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    char path[4096];
    int count, variants, same;
    long step = 0;
    FILE *file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    count = argc == 4 ? atoi(argv[2]) : 0;
    variants = argc == 4 ? atoi(argv[3]) : 0;
    if (count < 1 || variants < 1) {
        errno = EINVAL;
        replay_fail("usage: replay PREFIX TENSORS VARIANTS");
    }
    *(void **)&read = dlsym(RTLD_DEFAULT, "count_read");
    snprintf(path, sizeof path, "%s.%d", argv[1], rank);
    file = fopen(path, "rb");
    if (!file)
        replay_fail(path);
    tensors = replay_allocate((size_t)count, sizeof *tensors);
    layers = replay_allocate((size_t)count * (size_t)variants, sizeof *layers);
    for (;; step++) {
        int t = 0;

        while (t < count && replay_read(file, &tensors[t]))
            t++;
        if (t < count)
            break;
        for (int l = 0; l < count * variants; l++) {
            const struct tensor *tensor = &tensors[l % count];

            replay_sum(read, tensor,
                       step == 0 ? layers[l].first : layers[l].later);
            hash = replay_hash(hash, tensor);
        }
    }
    same = replay_same(hash);
    if (read)
        replay_print(layers, count * variants, step);
    if (!same && rank == 0)
        fprintf(stderr, "replay: the ranks got DIFFERENT sums\n");
    fclose(file);
    for (int t = 0; t < count; t++) {
        free(tensors[t].x);
        free(tensors[t].sum);
    }
    free(tensors);
    free(layers);
    MPI_Finalize();
    return !same;
}

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
 * Rank 0 adds up all files in FP64 and prints a CSV: for each layer, the number of
 * calls after the first SETTLING steps, in which scales that keep a state settle, and
 * their elements. If count.c is preloaded, messages, bytes and collective calls of all
 * ranks together follow; then sums over the calls of the mean relative error (Eq. 5 of
 * the APS paper) and of |sum - exact|^2 / |exact|^2.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"

enum {
    COUNTS = 3, /* members of struct counts */
    SETTLING = 3
};

struct layer {
    long sent[COUNTS];
    double eq5, nmse;
    uint64_t hash; /* hash of all sums on this rank */
};

struct tensor {
    int n;
    float *x, *sum;
    double *exact; /* on rank 0 */
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

/* Reads the next record. Returns 0 at the end of the file. */
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
        free(tensor->exact);
        tensor->x = replay_allocate((size_t)n, sizeof *tensor->x);
        tensor->exact = replay_allocate((size_t)n, sizeof *tensor->exact);
        tensor->sum = replay_allocate((size_t)n, sizeof *tensor->sum);
    }
    tensor->n = (int)n;
    if (fread(tensor->x, sizeof *tensor->x, (size_t)n, file) != (size_t)n)
        replay_fail("a record's end");
    return 1;
}

/* Reads the next record of all ranks; rank 0 gets the exact sum. */
static int replay_read_all(FILE **files, struct tensor *tensor)
{
    const int before = tensor->n;
    struct tensor other = {0};

    if (!replay_read(files[rank], tensor))
        return 0;
    errno = EINVAL;
    if (before > 0 && tensor->n != before)
        replay_fail("a record's length is not that of the step before");
    if (rank != 0)
        return 1;
    for (int i = 0; i < tensor->n; i++)
        tensor->exact[i] = (double)tensor->x[i];
    for (int r = 1; r < ranks; r++) {
        if (!replay_read(files[r], &other) || other.n != tensor->n)
            replay_fail("another rank's record");
        for (int i = 0; i < tensor->n; i++)
            tensor->exact[i] += (double)other.x[i];
    }
    free(other.x);
    free(other.sum);
    free(other.exact);
    return 1;
}

/* Runs on rank 0. */
static void replay_measure(const struct tensor *tensor, struct layer *layer)
{
    double relative = 0, error = 0, norm = 0;
    int measured = 0;

    for (int i = 0; i < tensor->n; i++) {
        const double exact = tensor->exact[i];
        const double off = exact - (double)tensor->sum[i];

        error += off * off;
        norm += exact * exact;
        if ((float)exact != 0.0f) {
            relative += fabs(off / exact);
            measured++;
        }
    }
    layer->eq5 += measured > 0 ? relative / measured : 0;
    layer->nmse += norm > 0 ? error / norm : 0;
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

/* COLLECTIVE over MPI_COMM_WORLD. Prints on rank 0 the layers whose sums differ
 * between ranks. Returns 1 if there are none. */
static int replay_same(const struct layer *layers, int count)
{
    int same = 1;

    for (int i = 0; i < count; i++) {
        uint64_t least, most;

        PMPI_Allreduce(&layers[i].hash, &least, 1, MPI_UINT64_T, MPI_MIN,
                       MPI_COMM_WORLD);
        PMPI_Allreduce(&layers[i].hash, &most, 1, MPI_UINT64_T, MPI_MAX,
                       MPI_COMM_WORLD);
        if (least == most)
            continue;
        same = 0;
        if (rank == 0)
            fprintf(stderr,
                    "replay: the ranks got DIFFERENT sums of layer %d\n", i);
    }
    return same;
}

/* COLLECTIVE over MPI_COMM_WORLD. */
static void replay_print(struct layer *layers, int count, long calls,
                         const struct tensor *tensors, int per_step)
{
    if (rank == 0)
        printf("layer,calls,elements,messages,bytes,collectives,eq5,nmse\n");
    for (int i = 0; i < count; i++) {
        long sent[COUNTS];

        PMPI_Reduce(layers[i].sent, sent, COUNTS, MPI_LONG, MPI_SUM, 0,
                    MPI_COMM_WORLD);
        if (rank == 0)
            printf("%d,%ld,%d,%ld,%ld,%ld,%.9g,%.9g\n", i, calls,
                   tensors[i % per_step].n, sent[0], sent[1], sent[2],
                   layers[i].eq5, layers[i].nmse);
    }
}

/* Opens rank r's file; rank 0 opens all. */
static FILE **replay_open(const char *prefix)
{
    FILE **files = replay_allocate((size_t)ranks, sizeof(FILE *));
    char path[4096];

    for (int r = 0; r < ranks; r++) {
        if (rank != 0 && r != rank)
            continue;
        snprintf(path, sizeof path, "%s.%d", prefix, r);
        files[r] = fopen(path, "rb");
        if (!files[r])
            replay_fail(path);
    }
    return files;
}

/* COLLECTIVE over MPI_COMM_WORLD. Makes one step's calls; `settled`: they count. */
static void replay_step(count_read_fn read, const struct tensor *tensors,
                        int count, int variants, int settled,
                        struct layer *layers)
{
    long ignored[COUNTS] = {0};

    for (int l = 0; l < count * variants; l++) {
        const struct tensor *tensor = &tensors[l % count];

        replay_sum(read, tensor, settled ? layers[l].sent : ignored);
        layers[l].hash = replay_hash(layers[l].hash, tensor);
        if (settled && rank == 0)
            replay_measure(tensor, &layers[l]);
    }
}

static void replay_free(FILE **files, struct tensor *tensors, int count)
{
    for (int r = 0; r < ranks; r++)
        if (files[r])
            fclose(files[r]);
    free(files);
    for (int t = 0; t < count; t++) {
        free(tensors[t].x);
        free(tensors[t].sum);
        free(tensors[t].exact);
    }
    free(tensors);
}

int main(int argc, char **argv)
{
    int count, variants, same;
    count_read_fn read;
    struct tensor *tensors;
    struct layer *layers;
    long step = 0;
    FILE **files;

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
    files = replay_open(argv[1]);
    tensors = replay_allocate((size_t)count, sizeof *tensors);
    layers = replay_allocate((size_t)count * (size_t)variants, sizeof *layers);
    for (;; step++) {
        int t = 0;

        while (t < count && replay_read_all(files, &tensors[t]))
            t++;
        if (t < count)
            break;
        replay_step(read, tensors, count, variants, step >= SETTLING, layers);
    }
    same = replay_same(layers, count * variants);
    replay_print(layers, count * variants,
                 step > SETTLING ? step - SETTLING : 0, tensors, count);
    free(layers);
    replay_free(files, tensors, count);
    MPI_Finalize();
    return !same;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "comm/sample.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "progress/wait.h"

/* What ranks merge on rank 0. */
struct totals {
    uint64_t counts[6];
    double sums[3];
    double max_relative;
};

/* Elements that are summed at a time. */
#define CHUNK (32 * 1024)

int aps_sample_init(struct aps_sample *sample)
{
    sample->chunk = malloc(CHUNK * sizeof *sample->chunk);
    sample->partial = malloc(CHUNK * sizeof *sample->partial);
    sample->copy = malloc(CHUNK * sizeof *sample->copy);
    return sample->chunk && sample->partial && sample->copy ? 0 : -1;
}

void aps_sample_clear(struct aps_sample *sample)
{
    free(sample->chunk);
    free(sample->partial);
    free(sample->copy);
    free(sample->reference);
    *sample = (struct aps_sample){0};
}

/* Room for n elements; at least a chunk, to receive into. */
static int sample_reserve(struct aps_sample *sample, size_t n)
{
    double *bigger;

    if (n <= sample->capacity)
        return 0;
    if (n < CHUNK)
        n = CHUNK;
    bigger = realloc(sample->reference, n * sizeof *bigger);
    if (!bigger)
        return -1;
    sample->reference = bigger;
    sample->capacity = n;
    return 0;
}

static size_t sample_length_at(size_t begin, size_t n)
{
    return n - begin < CHUNK ? n - begin : CHUNK;
}

/* x[n], where the host can read them; n is at most CHUNK. */
static const float *sample_on_host(const struct aps_sample *sample,
                                   const struct aps_memory *memory,
                                   const float *x, size_t n)
{
    if (memory == &aps_memory_host)
        return x;
    memory->copy_out(sample->copy, x, n);
    return sample->copy;
}

/* One message, complete. An MPI error code. */
static int sample_send(const struct aps_vcomm *vcomm, int to, const void *bytes,
                       size_t size)
{
    MPI_Request request;
    int rc =
        PMPI_Isend(bytes, (int)size, MPI_BYTE, aps_vcomm_rank(vcomm, to),
                   aps_vcomm_tag(vcomm, APS_TAG_SAMPLE), vcomm->comm, &request);

    return rc == MPI_SUCCESS ? aps_wait_requests(1, &request) : rc;
}

static int sample_receive(const struct aps_vcomm *vcomm, int from, void *bytes,
                          size_t size)
{
    MPI_Request request;
    int rc =
        PMPI_Irecv(bytes, (int)size, MPI_BYTE, aps_vcomm_rank(vcomm, from),
                   aps_vcomm_tag(vcomm, APS_TAG_SAMPLE), vcomm->comm, &request);

    return rc == MPI_SUCCESS ? aps_wait_requests(1, &request) : rc;
}

/*
 * COLLECTIVE over vcomm. `mine` of all ranks is merged up a binomial tree, in
 * which a rank's number is its distance from the root: on the root `mine` is
 * the result, on the others it is spoilt; `theirs` is scratch of the same size.
 * An MPI error code.
 */
static int sample_reduce(const struct aps_vcomm *vcomm, int root, void *mine,
                         void *theirs, size_t size,
                         void (*merge)(void *mine, const void *theirs,
                                       size_t size))
{
    const int ranks = vcomm->size;
    const int number = (vcomm->rank + ranks - root) % ranks;
    int rc = MPI_SUCCESS;

    for (int bit = 1; bit < ranks && rc == MPI_SUCCESS; bit <<= 1) {
        if (number & bit)
            return sample_send(vcomm, (number - bit + root) % ranks, mine,
                               size);
        if (number + bit >= ranks)
            continue;
        rc = sample_receive(vcomm, (number + bit + root) % ranks, theirs, size);
        if (rc == MPI_SUCCESS)
            merge(mine, theirs, size);
    }
    return rc;
}

static void sample_add(void *mine, const void *theirs, size_t size)
{
    const double *other = theirs;
    double *sum = mine;

    for (size_t i = 0; i < size / sizeof *sum; i++)
        sum[i] += other[i];
}

int aps_sample_reference(struct aps_sample *sample,
                         const struct aps_vcomm *vcomm, int root,
                         const struct aps_memory *memory, const float *in,
                         size_t n, int *ready)
{
    const bool keeps = vcomm->rank == root;
    int rc = MPI_SUCCESS;
    int room = 1;

    if (keeps)
        room = sample_reserve(sample, n) == 0;
    for (size_t begin = 0; begin < n && rc == MPI_SUCCESS; begin += CHUNK) {
        const size_t length = sample_length_at(begin, n);
        const float *values =
            sample_on_host(sample, memory, in + begin, length);
        /* The root sums in place: into the reference, or into the chunk when
         * there is no room, so that the others need not know. */
        double *mine =
            keeps && room ? sample->reference + begin : sample->chunk;

        for (size_t i = 0; i < length; i++)
            mine[i] = values[i];
        rc = sample_reduce(vcomm, root, mine, sample->partial,
                           length * sizeof *mine, sample_add);
    }
    *ready = room;
    return rc;
}

void aps_sample_keep(struct aps_sample *sample, const struct aps_memory *memory,
                     const float *in, size_t n, int *ready)
{
    *ready = sample_reserve(sample, n) == 0;
    for (size_t begin = 0; begin < n && *ready; begin += CHUNK) {
        const size_t length = sample_length_at(begin, n);
        const float *values =
            sample_on_host(sample, memory, in + begin, length);

        for (size_t i = 0; i < length; i++)
            sample->reference[begin + i] = values[i];
    }
}

static void sample_merge_totals(void *mine, const void *theirs, size_t size)
{
    const struct totals *other = theirs;
    struct totals *totals = mine;

    (void)size;
    for (int i = 0; i < 6; i++)
        totals->counts[i] += other->counts[i];
    for (int i = 0; i < 3; i++)
        totals->sums[i] += other->sums[i];
    if (other->max_relative > totals->max_relative)
        totals->max_relative = other->max_relative;
}

int aps_sample_merge(const struct aps_vcomm *vcomm, struct aps_measure *measure,
                     int *ready)
{
    struct totals theirs;
    struct totals totals = {
        .counts = {measure->compared, measure->skipped, measure->underflow,
                   measure->overflow, measure->nonfinite, !*ready},
        .sums = {measure->sum_relative, measure->sum_error2,
                 measure->sum_reference2},
        .max_relative = measure->max_relative,
    };
    const int rc = sample_reduce(vcomm, 0, &totals, &theirs, sizeof totals,
                                 sample_merge_totals);

    measure->compared = totals.counts[0];
    measure->skipped = totals.counts[1];
    measure->underflow = totals.counts[2];
    measure->overflow = totals.counts[3];
    measure->nonfinite = totals.counts[4];
    measure->sum_relative = totals.sums[0];
    measure->sum_error2 = totals.sums[1];
    measure->sum_reference2 = totals.sums[2];
    measure->max_relative = totals.max_relative;
    *ready = totals.counts[5] == 0;
    return rc;
}

void aps_sample_compare(const struct aps_sample *sample,
                        const struct aps_memory *memory, const float *out,
                        size_t n, struct aps_measure *measure)
{
    *measure = (struct aps_measure){0};
    for (size_t begin = 0; begin < n; begin += CHUNK) {
        const size_t length = sample_length_at(begin, n);

        aps_measure_add(measure, sample->reference + begin,
                        sample_on_host(sample, memory, out + begin, length),
                        length);
    }
}

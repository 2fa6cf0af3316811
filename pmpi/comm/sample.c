/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "comm/sample.h"

#include <stdint.h>
#include <stdlib.h>

#include "progress/wait.h"

/* Elements that are summed at a time. */
#define CHUNK (32 * 1024)

int aps_sample_init(struct aps_sample *sample)
{
    sample->chunk = malloc(CHUNK * sizeof *sample->chunk);
    sample->copy = malloc(CHUNK * sizeof *sample->copy);
    return sample->chunk && sample->copy ? 0 : -1;
}

void aps_sample_clear(struct aps_sample *sample)
{
    free(sample->chunk);
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

int aps_sample_reference(struct aps_sample *sample, MPI_Comm comm, int root,
                         const struct aps_memory *memory, const float *in,
                         size_t n, int *ready)
{
    int rank, rc = MPI_SUCCESS;
    int room = 1;

    PMPI_Comm_rank(comm, &rank);
    if (rank == root)
        room = sample_reserve(sample, n) == 0;
    for (size_t begin = 0; begin < n && rc == MPI_SUCCESS; begin += CHUNK) {
        const size_t length = sample_length_at(begin, n);
        const float *values =
            sample_on_host(sample, memory, in + begin, length);
        /* The root sums in place: into the reference, or into the chunk when
         * there is no room, so that the others need not know. */
        double *mine =
            rank == root && room ? sample->reference + begin : sample->chunk;
        MPI_Request request;

        for (size_t i = 0; i < length; i++)
            mine[i] = values[i];
        rc = PMPI_Ireduce(rank == root ? MPI_IN_PLACE : mine,
                          rank == root ? mine : NULL, (int)length, MPI_DOUBLE,
                          MPI_SUM, root, comm, &request);
        if (rc == MPI_SUCCESS)
            rc = aps_wait_requests(1, &request);
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

/* COLLECTIVE over comm. `values` become their sums or greatest on rank 0. */
static int sample_merge(MPI_Comm comm, void *values, int count,
                        MPI_Datatype type, MPI_Op op)
{
    MPI_Request request;
    int rank, rc;

    PMPI_Comm_rank(comm, &rank);
    rc = PMPI_Ireduce(rank == 0 ? MPI_IN_PLACE : values,
                      rank == 0 ? values : NULL, count, type, op, 0, comm,
                      &request);
    return rc == MPI_SUCCESS ? aps_wait_requests(1, &request) : rc;
}

int aps_sample_merge(MPI_Comm comm, struct aps_measure *measure, int *ready)
{
    uint64_t counts[] = {measure->compared,  measure->skipped,
                         measure->underflow, measure->overflow,
                         measure->nonfinite, !*ready};
    double sums[] = {measure->sum_relative, measure->sum_error2,
                     measure->sum_reference2};
    int rc = sample_merge(comm, counts, 6, MPI_UINT64_T, MPI_SUM);

    if (rc == MPI_SUCCESS)
        rc = sample_merge(comm, sums, 3, MPI_DOUBLE, MPI_SUM);
    if (rc == MPI_SUCCESS)
        rc = sample_merge(comm, &measure->max_relative, 1, MPI_DOUBLE, MPI_MAX);
    measure->compared = counts[0];
    measure->skipped = counts[1];
    measure->underflow = counts[2];
    measure->overflow = counts[3];
    measure->nonfinite = counts[4];
    measure->sum_relative = sums[0];
    measure->sum_error2 = sums[1];
    measure->sum_reference2 = sums[2];
    *ready = counts[5] == 0;
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

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "sample.h"

#include <stdlib.h>

#include "wait.h"

/* Elements that are summed at a time. */
#define CHUNK (32 * 1024)

int aps_sample_init(struct aps_sample *sample)
{
    sample->chunk = malloc(CHUNK * sizeof *sample->chunk);
    return sample->chunk ? 0 : -1;
}

void aps_sample_clear(struct aps_sample *sample)
{
    free(sample->chunk);
    free(sample->reference);
    *sample = (struct aps_sample){0};
}

/* Rank 0: room for n elements; at least a chunk, to receive into. */
static int reserve(struct aps_sample *sample, size_t n)
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

int aps_sample_reference(struct aps_sample *sample, MPI_Comm comm,
                         const float *in, size_t n, int *ready)
{
    int rank, rc = MPI_SUCCESS;
    int room = 1;

    PMPI_Comm_rank(comm, &rank);
    if (rank == 0)
        room = reserve(sample, n) == 0;
    for (size_t begin = 0; begin < n && rc == MPI_SUCCESS; begin += CHUNK) {
        size_t length = n - begin < CHUNK ? n - begin : CHUNK;
        /* Rank 0 sums in place: into the reference, or into the chunk when
         * there is no room, so that the others need not know. */
        double *mine = rank == 0 && room ? sample->reference + begin
                                         : sample->chunk;
        MPI_Request request;

        for (size_t i = 0; i < length; i++)
            mine[i] = in[begin + i];
        rc = PMPI_Ireduce(rank == 0 ? MPI_IN_PLACE : mine,
                          rank == 0 ? mine : NULL, (int)length, MPI_DOUBLE,
                          MPI_SUM, 0, comm, &request);
        if (rc == MPI_SUCCESS)
            rc = aps_wait_requests(1, &request);
    }
    *ready = room;
    return rc;
}

void aps_sample_compare(const struct aps_sample *sample, const float *out,
                        size_t n, struct aps_measure *measure)
{
    *measure = (struct aps_measure){0};
    aps_measure_add(measure, sample->reference, out, n);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "layered.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

int layered_counts[LAYERED_LAYERS] = {4096, 1500, 2048};
int layered_all = 4096 + 1500 + 2048;

uint32_t layered_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static bool layered_is(const struct layered *layered, const char *how)
{
    return strcmp(layered->how, how) == 0;
}

static void layered_make_persistent(struct layered *layered)
{
#ifdef HAVE_PMPI_ALLREDUCE_INIT
    MPI_Info info = mpitap_strict_order();

    for (int i = 0, offset = 0; i < LAYERED_LAYERS;
         offset += layered_counts[i++])
        MPI_Allreduce_init(layered->in + offset, layered->out + offset,
                           layered_counts[i], MPI_FLOAT, MPI_SUM, layered->comm,
                           info, &layered->requests[i]);
    MPI_Info_free(&info);
#else
    fprintf(stderr, "this MPI has no persistent all-reduces\n");
    MPI_Abort(layered->comm, 1);
#endif
}

static void layered_read_counts(MPI_Comm comm)
{
    const char *text = getenv("LAYERED_COUNTS");
    int *counts = layered_counts;

    if (!text)
        return;
    if (sscanf(text, "%d,%d,%d", &counts[0], &counts[1], &counts[2]) ==
        LAYERED_LAYERS)
        layered_all = counts[0] + counts[1] + counts[2];
    else
        layered_all = LAYERED_MAX + 1;
    if (layered_all > LAYERED_MAX) {
        fprintf(stderr, "LAYERED_COUNTS=%s\n", text);
        MPI_Abort(comm, 1);
    }
}

void layered_begin(struct layered *layered, const char *how, MPI_Comm comm)
{
    layered->how = how;
    layered->comm = comm;
    layered_read_counts(comm);
    for (int i = 0; i < LAYERED_LAYERS; i++)
        layered->requests[i] = MPI_REQUEST_NULL;
    if (layered_is(layered, "persistent"))
        layered_make_persistent(layered);
}

static void layered_sum_layers(struct layered *layered)
{
    const bool nonblocking = layered_is(layered, "nonblocking");

    for (int i = 0, offset = 0; i < LAYERED_LAYERS;
         offset += layered_counts[i++]) {
        const float *from = layered->in + offset;
        float *to = layered->out + offset;
        const int count = layered_counts[i];

        if (nonblocking) {
            MPI_Iallreduce(from, to, count, MPI_FLOAT, MPI_SUM, layered->comm,
                           &layered->requests[i]);
        } else if (layered_is(layered, "in-place")) {
            memcpy(to, from, (size_t)count * sizeof *to);
            MPI_Allreduce(MPI_IN_PLACE, to, count, MPI_FLOAT, MPI_SUM,
                          layered->comm);
        } else {
            MPI_Allreduce(from, to, count, MPI_FLOAT, MPI_SUM, layered->comm);
        }
    }
}

void layered_sum(struct layered *layered)
{
    MPI_Status statuses[LAYERED_LAYERS];

    if (layered_is(layered, "persistent"))
        MPI_Startall(LAYERED_LAYERS, layered->requests);
    else if (layered_is(layered, "together"))
        MPI_Allreduce(layered->in, layered->out, layered_all, MPI_FLOAT,
                      MPI_SUM, layered->comm);
    else
        layered_sum_layers(layered);
    MPI_Waitall(LAYERED_LAYERS, layered->requests, statuses);
}

void layered_end(struct layered *layered)
{
    for (int i = 0; i < LAYERED_LAYERS; i++)
        if (layered->requests[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&layered->requests[i]);
}

uint64_t layered_hash(uint64_t hash, const float *values, int count)
{
    const unsigned char *bytes = (const unsigned char *)values;

    for (size_t i = 0; i < (size_t)count * sizeof *values; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

void layered_tell(MPI_Comm comm, const char *what, uint64_t hash)
{
    uint64_t least, most;
    int rank;

    MPI_Comm_rank(comm, &rank);
    MPI_Reduce(&hash, &least, 1, MPI_UINT64_T, MPI_MIN, 0, comm);
    MPI_Reduce(&hash, &most, 1, MPI_UINT64_T, MPI_MAX, 0, comm);
    if (rank == 0)
        printf("%s %s%016llx\n", least == most ? "sums" : "differ", what,
               (unsigned long long)most);
}

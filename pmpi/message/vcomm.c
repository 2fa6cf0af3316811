/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "message/vcomm.h"

#include <stdlib.h>
#include <string.h>

struct aps_vcomm aps_vcomm_all(MPI_Comm comm, int tag)
{
    struct aps_vcomm vcomm = {.comm = comm, .tag = tag};

    PMPI_Comm_rank(comm, &vcomm.rank);
    PMPI_Comm_size(comm, &vcomm.size);
    return vcomm;
}

int aps_vcomm_init(struct aps_vcomm *vcomm, MPI_Comm comm, int size, int rank,
                   const int ranks[], const int *nodes, int tag)
{
    int *copy = malloc((size_t)size * sizeof *copy);

    if (!copy)
        return -1;
    memcpy(copy, ranks, (size_t)size * sizeof *copy);
    *vcomm = (struct aps_vcomm){.comm = comm,
                                .rank = rank,
                                .size = size,
                                .ranks = copy,
                                .nodes = nodes,
                                .tag = tag};
    return 0;
}

int aps_vcomm_divide(struct aps_vcomm *part, const struct aps_vcomm *whole,
                     enum aps_vcomm_part kind, int size, int rank,
                     const int members[])
{
    if (aps_vcomm_init(part, whole->comm, size, rank, members, whole->nodes,
                       whole->tag + (int)kind * APS_TAGS) < 0)
        return -1;
    for (int i = 0; i < size; i++)
        part->ranks[i] = aps_vcomm_rank(whole, members[i]);
    return 0;
}

void aps_vcomm_clear(struct aps_vcomm *vcomm)
{
    free(vcomm->ranks);
    *vcomm = (struct aps_vcomm){.comm = MPI_COMM_NULL};
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "related.h"

#include <stdint.h>
#include <stdlib.h>

#include "agree.h"

/* Local. What a kind of calls needs; what is there stays. */
static bool make(struct aps_related *related, MPI_Comm comm,
                 enum aps_call_kind kind)
{
    int ranks;

    if (kind == APS_CALL_ALLGATHER) {
        related->gather = aps_allgather_create(comm);
        return related->gather != NULL;
    }
    if (!related->scatter)
        related->scatter = aps_scatter_create(comm);
    if (!related->scatter)
        return false;
    if (kind == APS_CALL_REDUCE) {
        related->rooted = aps_rooted_create(comm, related->scatter);
        return related->rooted != NULL;
    }
    PMPI_Comm_size(comm, &ranks);
    related->bounds = malloc(((size_t)ranks + 1) * sizeof *related->bounds);
    return related->bounds != NULL;
}

int aps_related_prepare(struct aps_related *related, MPI_Comm comm,
                        enum aps_call_kind kind)
{
    if (related->state[kind] == APS_RELATED_NEW)
        related->state[kind] = aps_agree_all(comm, make(related, comm, kind))
                                   ? APS_RELATED_READY
                                   : APS_RELATED_FAILED;
    return related->state[kind] == APS_RELATED_READY ? 0 : -1;
}

long aps_related_number(struct aps_related *related, enum aps_call_kind kind,
                        size_t count)
{
    return related
        ->numbers[kind][(count * UINT64_C(0x9E3779B97F4A7C15)) >> 58]++;
}

void aps_related_clear(struct aps_related *related)
{
    aps_rooted_destroy(related->rooted);
    aps_scatter_destroy(related->scatter);
    aps_allgather_destroy(related->gather);
    free(related->bounds);
    *related = (struct aps_related){0};
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "comm/other_collectives_state.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/bucket.h"
#include "wire/pipeline_sizes.h"

/* Local. Makes the state for calls of this kind, in place of the old one. */
static bool other_state_make(struct aps_other_state *related,
                             const struct aps_vcomm *vcomm,
                             enum aps_call_kind kind, size_t granule)
{
    if (kind == APS_CALL_ALLGATHER) {
        aps_allgather_destroy(related->gather);
        related->gather = aps_allgather_create(vcomm, granule);
        return related->gather != NULL;
    }
    if (kind == APS_CALL_REDUCE) {
        aps_reduce_root_destroy(related->rooted);
        related->rooted = aps_reduce_root_create(vcomm, granule);
        return related->rooted != NULL;
    }
    if (kind == APS_CALL_BCAST) {
        aps_broadcast_destroy(related->broadcast);
        related->broadcast = aps_broadcast_create(vcomm, granule);
        return related->broadcast != NULL;
    }
    aps_reduce_scatter_destroy(related->scatter);
    related->scatter = aps_reduce_scatter_create(vcomm, granule);
    if (!related->bounds)
        related->bounds =
            malloc(((size_t)vcomm->size + 1) * sizeof *related->bounds);
    return related->scatter && related->bounds;
}

int aps_other_state_prepare(struct aps_other_state *related,
                            const struct aps_vcomm *vcomm,
                            enum aps_call_kind kind,
                            const struct aps_format *format)
{
    const size_t granule = aps_pipeline_granule(format);

    if (related->granules[kind] < granule) {
        if (!other_state_make(related, vcomm, kind, granule))
            return MPI_ERR_NO_MEM;
        related->granules[kind] = granule;
    }
    return MPI_SUCCESS;
}

long aps_other_state_number(struct aps_other_state *related,
                            enum aps_call_kind kind, size_t count)
{
    return related->numbers[kind][aps_bucket(count, APS_OTHER_STATE_BITS)]++;
}

void aps_other_state_clear(struct aps_other_state *related)
{
    aps_reduce_root_destroy(related->rooted);
    aps_reduce_scatter_destroy(related->scatter);
    aps_allgather_destroy(related->gather);
    aps_broadcast_destroy(related->broadcast);
    free(related->bounds);
    *related = (struct aps_other_state){0};
}

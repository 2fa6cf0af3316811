/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "comm/other_collectives_state.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/bucket.h"
#include "wire/pipeline_sizes.h"

/* Local. Makes the state for calls of this kind, in place of the old one. */
static bool other_state_make(struct aps_other_state *state,
                             const struct aps_vcomm *vcomm,
                             enum aps_call_kind kind, size_t granule)
{
    if (kind == APS_CALL_ALLGATHER) {
        aps_allgather_destroy(state->gather);
        state->gather = aps_allgather_create(vcomm, granule);
        return state->gather != NULL;
    }
    if (kind == APS_CALL_REDUCE) {
        aps_reduce_root_destroy(state->rooted);
        state->rooted = aps_reduce_root_create(vcomm, granule);
        return state->rooted != NULL;
    }
    if (kind == APS_CALL_BCAST) {
        aps_broadcast_destroy(state->broadcast);
        state->broadcast = aps_broadcast_create(vcomm, granule);
        return state->broadcast != NULL;
    }
    aps_reduce_scatter_destroy(state->scatter);
    state->scatter = aps_reduce_scatter_create(vcomm, granule);
    if (!state->bounds)
        state->bounds =
            malloc(((size_t)vcomm->size + 1) * sizeof *state->bounds);
    return state->scatter && state->bounds;
}

int aps_other_state_prepare(struct aps_other_state *state,
                            const struct aps_vcomm *vcomm,
                            enum aps_call_kind kind,
                            const struct aps_format *format)
{
    const size_t granule = aps_pipeline_granule(format);

    if (state->granules[kind] < granule) {
        state->granules[kind] = 0;
        if (!other_state_make(state, vcomm, kind, granule))
            return MPI_ERR_NO_MEM;
        state->granules[kind] = granule;
    }
    return MPI_SUCCESS;
}

long aps_other_state_number(struct aps_other_state *state,
                            enum aps_call_kind kind, size_t count)
{
    return state->numbers[kind][aps_bucket(count, APS_OTHER_STATE_BITS)]++;
}

void aps_other_state_clear(struct aps_other_state *state)
{
    aps_reduce_root_destroy(state->rooted);
    aps_reduce_scatter_destroy(state->scatter);
    aps_allgather_destroy(state->gather);
    aps_broadcast_destroy(state->broadcast);
    free(state->bounds);
    *state = (struct aps_other_state){0};
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "trial/candidates.h"

#include <stdlib.h>

#include "layer/layers.h"
#include "comm/report.h"
#include "message/agree.h"

void aps_candidates_clear(struct aps_candidates *candidates)
{
    for (int i = 0; i < APS_CANDIDATES_MAX; i++)
        aps_carried_state_clear(&candidates->kept[i]);
    aps_sample_clear(&candidates->sample);
    free(candidates->out);
}

static void candidates_count(const struct aps_context *context,
                             const struct aps_candidates *candidates, size_t n)
{
    const unsigned long long bytes =
        n * (sizeof(float) + (context->rank == 0 ? sizeof(double) : 0));

    if (candidates->needed && bytes > atomic_load(candidates->needed))
        atomic_store(candidates->needed, bytes);
}

/* Local. Makes the memory for the reference. */
static bool candidates_prepare(struct aps_context *context,
                               struct aps_sample *sample, size_t n)
{
    if (!sample->chunk && aps_sample_init(sample) < 0) {
        aps_sample_clear(sample);
        return false;
    }
    return context->rank != 0 || aps_sample_reserve(sample, n) == 0;
}

/* All ranks have the same room afterwards, whatever this rank had before. */
bool aps_candidates_equip(struct aps_context *context,
                          struct aps_candidates *candidates, size_t n,
                          bool well)
{
    float *out = NULL;
    int rc;

    well &= candidates_prepare(context, &candidates->sample, n);
    if (n > candidates->room) {
        out = malloc(n * sizeof *out);
        well = well && out;
    }
    rc = aps_agree_all(aps_comm_resources_vcomm(context->resources), &well);
    (void)aps_context_fail(context, "a sample", rc);
    if (!well) {
        free(out);
        return false;
    }
    if (out) {
        free(candidates->out);
        candidates->out = out;
        candidates->room = n;
        candidates_count(context, candidates, n);
    }
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "layer/layers.h"

#include "layer/compressions.h"
#include "layer/scales.h"

/* Layers of a call that are reduced in the same way. */
struct part {
    int count;
    struct aps_layer_key keys[APS_VECTORS_MAX];
    struct aps_vector vectors[APS_VECTORS_MAX];
};

static void layers_add(struct part *part, const struct aps_layer_key *key,
                       const struct aps_vector *vector)
{
    part->keys[part->count] = *key;
    part->vectors[part->count++] = *vector;
}

/* COLLECTIVE over the site's ranks. Reduces the layers that the
 * compressor takes, which depends only on their shapes, and then the others. */
static __attribute__((noinline)) int
layers_compress(const struct aps_layer_site *site, const struct aps_plan *plan,
                int count, const struct aps_layer_key keys[],
                struct aps_vector vectors[], struct aps_cost *cost)
{
    struct aps_plan rest = *plan;
    struct part taken, left;
    int rc = MPI_SUCCESS, now = MPI_SUCCESS;

    rest.compressor = (struct aps_compressor){0};
    rest.feedback = false;
    taken.count = left.count = 0;
    for (int i = 0; i < count; i++)
        layers_add(aps_plan_takes(plan, &keys[i].matrix) ? &taken : &left,
                   &keys[i], &vectors[i]);
    if (taken.count > 0)
        rc = aps_compressions_run(site, plan, taken.count, taken.keys,
                                  taken.vectors, cost);
    /* Run these after an error, too, since other ranks may not know of it; without
     * memory this rank has sent nothing, and other ranks wait for that. */
    if (left.count > 0 && rc != MPI_ERR_NO_MEM)
        now = aps_layers_reduce(site, &rest, left.count, left.keys,
                                left.vectors, cost);
    return rc == MPI_SUCCESS ? now : rc;
}

int aps_layers_reduce(const struct aps_layer_site *site,
                      const struct aps_plan *plan, int count,
                      const struct aps_layer_key keys[],
                      struct aps_vector vectors[], struct aps_cost *cost)
{
    struct aps_plan exact;
    size_t n = 0;

    for (int i = 0; i < count; i++) {
        vectors[i].number = aps_layer_key_number(&keys[i]);
        n += vectors[i].n;
    }
    if (aps_plan_is_compressed(plan))
        return layers_compress(site, plan, count, keys, vectors, cost);
    if (aps_scale_state_bytes(&plan->scale) == 0)
        return aps_reductions_run(site->reductions, plan, count, vectors, cost);
    if (!aps_reductions_are_exact(site->reductions, plan, n))
        return aps_scales_run(site, plan, count, keys, vectors, cost);
    /* Without a cast a state needs no message, and learns nothing. */
    exact = *plan;
    exact.scale = (struct aps_scale){.kind = APS_SCALE_NONE};
    return aps_reductions_run(site->reductions, &exact, count, vectors, cost);
}

void aps_carried_state_clear(struct aps_carried_state *kept)
{
    aps_scales_destroy(kept->scales);
    aps_compressions_destroy(kept->compressions);
    *kept = (struct aps_carried_state){0};
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cut/exponent.h"

#include "block/magnitude_batch.h"
#include "block/plan_wire.h"
#include "scale/exponent.h"

int aps_exponent_agree(const struct aps_vcomm *vcomm,
                       const struct aps_wire *wire, const void *x, size_t n,
                       int *exponent, struct aps_cost *cost)
{
    float max;

    *exponent = 0;
    if (!aps_scale_ops_of(&wire->scale)->agreed)
        return MPI_SUCCESS;
    max = aps_block_magnitude(wire, wire->memory, x, n).max;
    return aps_exponent_agree_all(vcomm, wire, 1, &max, exponent, cost);
}

/* If blocks lie on a device, each vector is measured alone, in order to find
 * out whether its values are lost. */
void aps_exponent_measure(const struct aps_wire *wire, int count,
                          struct aps_vector vectors[])
{
    struct aps_magnitude_query queries[APS_VECTORS_MAX];
    struct aps_vector *measured[APS_VECTORS_MAX];
    size_t n = 0;

    for (int i = 0; i < count; i++) {
        struct aps_vector *vector = &vectors[i];

        if (vector->measured)
            continue;
        vector->measured = true;
        if (wire->device) {
            vector->magnitude = aps_block_magnitude(wire, vector->memory,
                                                    vector->in, vector->n);
            continue;
        }
        measured[n] = vector;
        queries[n++] = (struct aps_magnitude_query){
            .memory = vector->memory, .x = vector->in, .n = vector->n};
    }
    aps_magnitude_queries_run(queries, n);
    for (size_t k = 0; k < n; k++)
        measured[k]->magnitude = queries[k].magnitude;
}

void aps_exponent_set(const struct aps_wire *wire, int count,
                      const int greatest[], struct aps_vector vectors[])
{
    for (int i = 0; i < count; i++)
        vectors[i].exponent = vectors[i].sum_exponent =
            aps_wire_stage_exponent(wire, greatest[i]);
}

/* COLLECTIVE over vcomm. The ranks take the MAX of exponents[count]. */
static int exponent_agree(const struct aps_vcomm *vcomm, int count,
                          int exponents[], struct aps_cost *cost)
{
    const int64_t begin = aps_exponent_clock(cost);
    const int rc = aps_agree_max(vcomm, count, exponents);

    cost->agree_ns += aps_exponent_clock(cost) - begin;
    return rc;
}

int aps_exponent_vectors(const struct aps_vcomm *vcomm,
                         const struct aps_wire *wire, bool whole, int count,
                         struct aps_vector vectors[], struct aps_cost *cost)
{
    int greatest[APS_VECTORS_MAX];
    bool agreed = whole;
    int rc = MPI_SUCCESS;

    if (!aps_scale_ops_of(&wire->scale)->agreed)
        return MPI_SUCCESS;
    for (int i = 0; i < count; i++) {
        greatest[i] = vectors[i].greatest;
        agreed &= vectors[i].agreed;
    }
    if (!agreed) {
        aps_exponent_measure(wire, count, vectors);
        for (int i = 0; i < count; i++)
            greatest[i] =
                aps_scale_max_exponent(vectors[i].magnitude.max, vcomm->size);
        rc = exponent_agree(vcomm, count, greatest, cost);
    }
    aps_exponent_set(wire, count, greatest, vectors);
    return rc;
}

int aps_exponent_agree_all(const struct aps_vcomm *vcomm,
                           const struct aps_wire *wire, int count,
                           const float max[], int exponents[],
                           struct aps_cost *cost)
{
    int rc;

    for (int i = 0; i < count; i++)
        exponents[i] = 0;
    if (!aps_scale_ops_of(&wire->scale)->agreed)
        return MPI_SUCCESS;
    for (int i = 0; i < count; i++)
        exponents[i] = aps_scale_max_exponent(max[i], vcomm->size);
    rc = exponent_agree(vcomm, count, exponents, cost);
    for (int i = 0; i < count; i++)
        exponents[i] = aps_wire_stage_exponent(wire, exponents[i]);
    return rc;
}

int aps_exponent_begin(struct aps_exponents *exponents,
                       const struct aps_vcomm *vcomm,
                       const struct aps_wire *wire, int count,
                       const float max[])
{
    exponents->begun = aps_scale_ops_of(&wire->scale)->agreed;
    exponents->count = count;
    if (!exponents->begun)
        return MPI_SUCCESS;
    for (int i = 0; i < count; i++)
        exponents->greatest[i] = aps_scale_max_exponent(max[i], vcomm->size);
    return aps_agreement_begin(&exponents->agreement, vcomm, APS_TAG_EXPONENT,
                               count, exponents->greatest);
}

int aps_exponent_end(struct aps_exponents *exponents,
                     const struct aps_wire *wire, int result[],
                     struct aps_cost *cost)
{
    int64_t begin;
    int rc;

    for (int i = 0; i < exponents->count; i++)
        result[i] = 0;
    if (!exponents->begun)
        return MPI_SUCCESS;
    exponents->begun = false;
    begin = aps_exponent_clock(cost);
    rc = aps_agreement_end(&exponents->agreement);
    cost->agree_ns += aps_exponent_clock(cost) - begin;
    for (int i = 0; i < exponents->count; i++)
        result[i] = aps_wire_stage_exponent(wire, exponents->greatest[i]);
    return rc;
}

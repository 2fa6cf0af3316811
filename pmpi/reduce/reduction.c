/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/reduction.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cache.h"
#include "codec/workers.h"
#include "device/device.h"
#include "device/memory_relay.h"
#include "message/agree.h"
#include "block/plan_wire.h"
#include "reduce/algorithm.h"
#include "reduce/allgather_sum.h"
#include "reduce/direct.h"
#include "reduce/hierarchical.h"
#include "reduce/master.h"
#include "wire/pipeline_sizes.h"
#include "reduce/ring.h"

/* Longest vectors for which algorithms are made, in elements, because their
 * shared memory depends on it. A class of comm/autotune is on one side of each,
 * so that a preparation for one call of the class suits all of them. */
static const size_t sizes[] = {1024 - 1, 16 * 1024 - 1, SIZE_MAX};

/* Algorithm prepared for one kind of groups. */
struct prepared {
    enum aps_reduce_kind reduce;
    enum aps_group_kind group;
    int group_size;
    size_t longest;                  /* longest vector, in elements */
    size_t granule;                  /* largest granule of formats */
    struct aps_algorithm *algorithm; /* NULL: creation failed */
    char cause[256];                 /* cause of the failure */
};

struct aps_reductions {
    const struct aps_vcomm *vcomm;
    int test_nodes;
    bool test_cyclic;
    uint64_t numbers[APS_CALL_KINDS]; /* number of vectors so far */
    struct prepared *prepared;        /* [count] */
    int count;
};

struct row {
    aps_algorithm_create_fn *create; /* NULL: not an algorithm (auto) */
    bool grouped;                    /* reduces by the plan's groups */
    bool sized;                      /* made for vectors up to a size */
};

static struct row reduction_row_of(enum aps_reduce_kind reduce)
{
    static const struct row rows[] = {
        [APS_REDUCE_DIRECT] = {aps_direct_algorithm, false, false},
        [APS_REDUCE_HIERARCHICAL] = {aps_hierarchical_algorithm, true, true},
        [APS_REDUCE_RING] = {aps_ring_algorithm, false, false},
        [APS_REDUCE_MASTER] = {aps_master_algorithm, true, false},
        [APS_REDUCE_GATHER] = {aps_allgather_sum_algorithm, false, false},
    };

    return (size_t)reduce < sizeof rows / sizeof *rows
               ? rows[reduce]
               : (struct row){NULL, false, false};
}

struct aps_reductions *aps_reductions_create(const struct aps_vcomm *vcomm,
                                             int test_nodes, bool test_cyclic)
{
    struct aps_reductions *reductions = calloc(1, sizeof *reductions);

    if (!reductions)
        return NULL;
    reductions->vcomm = vcomm;
    reductions->test_nodes = test_nodes;
    reductions->test_cyclic = test_cyclic;
    return reductions;
}

void aps_reductions_destroy(struct aps_reductions *reductions)
{
    if (!reductions)
        return;
    for (int i = 0; i < reductions->count; i++) {
        struct aps_algorithm *algorithm = reductions->prepared[i].algorithm;

        if (algorithm)
            algorithm->ops->destroy(algorithm);
    }
    free(reductions->prepared);
    free(reductions);
}

static bool reduction_is_of(const struct prepared *prepared,
                            const struct aps_plan *plan)
{
    return prepared->reduce == plan->reduce &&
           (!reduction_row_of(plan->reduce).grouped ||
            (prepared->group == plan->group &&
             (plan->group != APS_GROUP_NUMBER ||
              prepared->group_size == plan->group_size)));
}

static size_t reduction_size_of(size_t n)
{
    size_t i = 0;

    while (sizes[i] < n)
        i++;
    return sizes[i];
}

/* Returns the first prepared algorithm for vectors of n elements or more and
 * for the plan's format; all of them give the same bits. If there is none,
 * returns one of exactly that size whose creation failed, or NULL. Shorter
 * vectors may need less memory. */
static const struct prepared *
reduction_find(const struct aps_reductions *reductions,
               const struct aps_plan *plan, size_t n)
{
    const size_t size =
        reduction_row_of(plan->reduce).sized ? reduction_size_of(n) : SIZE_MAX;
    const size_t granule = aps_pipeline_granule(&plan->format);
    const struct prepared *failed = NULL;

    for (int i = 0; i < reductions->count; i++) {
        const struct prepared *prepared = &reductions->prepared[i];

        if (reduction_is_of(prepared, plan) && prepared->longest >= n &&
            prepared->granule >= granule) {
            if (prepared->algorithm)
                return prepared;
            if (prepared->longest == size)
                failed = prepared;
        }
    }
    return failed;
}

/* COLLECTIVE over vcomm. Agrees whether GPUs are expected, and whether MPI is
 * CUDA-aware, on all ranks, and whether any rank divides vectors. Returns an
 * MPI error code. */
static int reduction_agree(const struct aps_vcomm *vcomm,
                           enum aps_devices *devices, bool *divides)
{
    int any[3] = {!aps_device_is_expected(), !aps_device_mpi_is_aware(),
                  aps_workers_threads() > 1};
    const int rc = aps_agree_max(vcomm, 3, any);

    *devices = any[0]   ? APS_DEVICES_NONE
               : any[1] ? APS_DEVICES_EXPECTED
                        : APS_DEVICES_AWARE;
    *divides = any[2];
    return rc;
}

/* COLLECTIVE over vcomm. Creates the algorithm, which stays NULL if any rank
 * cannot create it. Returns an MPI error code. */
static int reduction_make(struct aps_reductions *reductions,
                          const struct aps_plan *plan, size_t n,
                          struct prepared *prepared)
{
    const struct aps_vcomm *vcomm = reductions->vcomm;
    const struct row row = reduction_row_of(plan->reduce);
    enum aps_devices devices;
    bool divides;
    int rc = reduction_agree(vcomm, &devices, &divides);
    const size_t longest = row.sized && devices == APS_DEVICES_NONE
                               ? reduction_size_of(n)
                               : SIZE_MAX;
    const struct aps_algorithm_params params = {
        .vcomm = vcomm,
        .grouping = {.kind = plan->group,
                     .number = plan->group_size,
                     .test_nodes = reductions->test_nodes,
                     .test_cyclic = reductions->test_cyclic},
        .devices = devices,
        .divides = divides,
        .longest = longest,
        .granule = aps_pipeline_granule(&plan->format),
    };
    bool good;

    prepared->reduce = plan->reduce;
    prepared->group = plan->group;
    prepared->group_size = plan->group_size;
    prepared->longest = longest;
    prepared->granule = params.granule;
    if (rc == MPI_SUCCESS)
        rc = row.create(&params, &prepared->algorithm, prepared->cause,
                        sizeof prepared->cause);
    if (rc > 0)
        return rc;
    good = rc == MPI_SUCCESS;
    rc = aps_agree_all(vcomm, &good);
    if (rc != MPI_SUCCESS || good)
        return rc;
    /* The values are the same on all ranks, even if the ranks' devices
     * differ. */
    prepared->longest = row.sized ? reduction_size_of(n) : SIZE_MAX;
    if (prepared->algorithm) {
        prepared->algorithm->ops->destroy(prepared->algorithm);
        prepared->algorithm = NULL;
        prepared->cause[0] = '\0';
    }
    return aps_agree_cause(vcomm, prepared->cause, sizeof prepared->cause);
}

/* Returns one more empty record, or NULL if memory is missing. */
static struct prepared *reduction_add(struct aps_reductions *reductions)
{
    struct prepared *all = realloc(
        reductions->prepared, (size_t)(reductions->count + 1) * sizeof *all);

    if (!all)
        return NULL;
    reductions->prepared = all;
    all[reductions->count] = (struct prepared){.longest = 0};
    return &all[reductions->count++];
}

int aps_reductions_prepare(struct aps_reductions *reductions,
                           const struct aps_plan *plan, size_t n, char *cause,
                           size_t size)
{
    const struct prepared *prepared = reduction_find(reductions, plan, n);

    if (!prepared && !reduction_row_of(plan->reduce).create) {
        snprintf(cause, size, "reduce: %s is not a single reduction",
                 aps_reduce_name(plan->reduce));
        return -1;
    }
    if (!prepared) {
        struct prepared *new = reduction_add(reductions);
        const int rc =
            new ? reduction_make(reductions, plan, n, new) : MPI_ERR_NO_MEM;

        if (rc != MPI_SUCCESS)
            return rc;
        prepared = new;
    }
    if (prepared->algorithm)
        return 0;
    snprintf(cause, size, "%s", prepared->cause);
    return -1;
}

bool aps_reductions_are_exact(const struct aps_reductions *reductions,
                              const struct aps_plan *plan, size_t n)
{
    const struct prepared *prepared = reduction_find(reductions, plan, n);
    const struct aps_algorithm *algorithm =
        prepared ? prepared->algorithm : NULL;

    return algorithm && algorithm->ops->is_exact &&
           algorithm->ops->is_exact(algorithm, plan);
}

const struct aps_groups *
aps_reductions_groups(const struct aps_reductions *reductions,
                      const struct aps_plan *plan)
{
    for (int i = 0; i < reductions->count; i++) {
        const struct prepared *prepared = &reductions->prepared[i];
        const struct aps_algorithm *algorithm = prepared->algorithm;

        if (reduction_is_of(prepared, plan) && algorithm)
            return algorithm->ops->groups ? algorithm->ops->groups(algorithm)
                                          : NULL;
    }
    return NULL;
}

uint64_t aps_reductions_number(struct aps_reductions *reductions,
                               enum aps_call_kind call)
{
    return reductions->numbers[call]++;
}

/* --- overflow ------------------------------------------------------------- */

/* Pieces of vectors in which a predicted scale made a value overflow. Each is
 * reduced again as a vector of its own, scaled by APS, under which nothing
 * overflows. */
struct again {
    struct aps_reductions *reductions;
    struct aps_plan plan;
    struct aps_cost cost;
    struct aps_vector vectors[APS_VECTORS_MAX];
    int count;
    int rc; /* first error; this rank continues, as the other ranks do */
};

static void again_flush(struct again *again)
{
    int rc;

    if (again->count == 0)
        return;
    again->cost.redone += (unsigned)again->count;
    rc = aps_reductions_run(again->reductions, &again->plan, again->count,
                            again->vectors, &again->cost);
    if (again->rc == MPI_SUCCESS)
        again->rc = rc;
    again->count = 0;
}

static void again_add(struct again *again, const struct aps_vector *vector)
{
    size_t begin = 0, length;

    for (; aps_redo_next(vector->state, vector->n, &begin, &length);
         begin += length) {
        again->vectors[again->count++] = (struct aps_vector){
            .in = aps_memory_at(vector->memory, vector->in, begin),
            .out = aps_memory_at(vector->memory, vector->out, begin),
            .n = length,
            .memory = vector->memory,
            .number = vector->number,
            .first = vector->first + begin,
        };
        /* Ranks may have the vector in different memories: all ranks flush
         * together. */
        if (again->count == APS_VECTORS_MAX)
            again_flush(again);
    }
}

static void reduction_zero(const struct aps_vector *vector)
{
    static const float zeros[1024];
    const size_t most = sizeof zeros / sizeof *zeros;

    for (size_t begin = 0; begin < vector->n; begin += most)
        vector->memory->copy_in(
            aps_memory_at(vector->memory, vector->out, begin), zeros,
            vector->n - begin < most ? vector->n - begin : most);
}

/* COLLECTIVE over vcomm. Reduces again the pieces that overflowed. All ranks
 * have read the same records, so they have the same pieces, often none. Returns
 * an MPI error code. */
static int reduction_redo(struct aps_reductions *reductions,
                          const struct aps_plan *plan, int count,
                          const struct aps_vector vectors[],
                          struct aps_cost *cost)
{
    struct again again = {
        .reductions = reductions,
        .plan = *plan,
        .rc = MPI_SUCCESS,
    };

    again.plan.scale = (struct aps_scale){.kind = APS_SCALE_APS};
    for (int i = 0; i < count; i++)
        again_add(&again, &vectors[i]);
    again_flush(&again);
    /* The log shows the predicted exponent. In FP32 nothing would have been
     * sent again. */
    cost->wire_bytes += again.cost.wire_bytes;
    cost->device_bytes += again.cost.device_bytes;
    cost->streamed_bytes += again.cost.streamed_bytes;
    cost->redone += again.cost.redone;
    return again.rc;
}

/* on_overflow: zero. INF and NaN of the program stay as they are. */
static void reduction_zero_overflowed(const struct aps_plan *plan, int count,
                                      const struct aps_vector vectors[])
{
    if (aps_scale_on_overflow(&plan->scale) != APS_OVERFLOW_ZERO)
        return;
    for (int i = 0; i < count; i++)
        if (vectors[i].state->record.over &&
            !vectors[i].state->record.nonfinite)
            reduction_zero(&vectors[i]);
}

/* Counts vectors that overflowed. A layer set to zeros that has an INF or a NaN
 * of the program was not changed, and is not counted. */
static void reduction_count_overflowed(const struct aps_plan *plan, int count,
                                       const struct aps_vector vectors[],
                                       struct aps_cost *cost)
{
    const enum aps_overflow on_overflow = aps_scale_on_overflow(&plan->scale);

    for (int i = 0; i < count; i++) {
        const struct aps_scale_record *record = &vectors[i].state->record;

        cost->overflowed[on_overflow] +=
            record->over &&
            (on_overflow != APS_OVERFLOW_ZERO || !record->nonfinite);
    }
}

int aps_reductions_run(struct aps_reductions *reductions,
                       const struct aps_plan *plan, int count,
                       struct aps_vector vectors[], struct aps_cost *cost)
{
    const struct prepared *prepared;
    size_t n = 0;
    struct aps_wire wire;
    int rc;

    for (int i = 0; i < count; i++)
        n += vectors[i].n;
    prepared = reduction_find(reductions, plan, n);
    if (!prepared || !prepared->algorithm)
        return MPI_ERR_INTERN; /* preparation is missing on all ranks */
    aps_wire_of_plan(plan, reductions->vcomm->number, &wire);
    for (int i = 0; i < count && plan->format.wide; i++)
        vectors[i].memory = &aps_memory_doubles;
    wire.memory =
        count == 1 || plan->format.wide ? vectors[0].memory : &aps_memory_host;
    wire.fp64 = aps_element_is_wide(vectors[0].memory->element);
    wire.streams = aps_cache_passed(n * sizeof(float));
    rc = prepared->algorithm->ops->run(prepared->algorithm, plan, &wire, count,
                                       vectors, cost);
    if (rc != MPI_SUCCESS || !wire.records)
        return rc;
    rc = reduction_redo(reductions, plan, count, vectors, cost);
    if (rc != MPI_SUCCESS)
        return rc;
    reduction_zero_overflowed(plan, count, vectors);
    reduction_count_overflowed(plan, count, vectors, cost);
    return rc;
}

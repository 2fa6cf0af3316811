/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/reduction.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "progress/agree.h"
#include "device/device.h"
#include "reduce/direct.h"
#include "reduce/allgather_sum.h"
#include "reduce/hierarchical.h"
#include "native/keyval.h"
#include "reduce/master.h"
#include "reduce/ring.h"
#include "progress/wait.h"

/* MPICH has about 2000 context ids, for the program first of all: so many
 * communicators may have resources at a time in a process, each with one, two
 * more a kind of groups and the like. */
#define RESOURCES_MAX 256
static atomic_int resources_alive;

/* Of them, those whose communicators MPI is still making. */
static atomic_int begun;

/* A policy that reduces in more ways than this is turned away. */
#define PREPARED_MAX 32

/* A reduction, ready for one kind of groups. */
struct prepared {
    enum aps_reduce_kind reduce;
    enum aps_group_kind group;
    int group_size;
    void *object;    /* NULL: it could not be made */
    char cause[256]; /* then why */
};

struct aps_comm_resources {
    MPI_Comm comm;     /* internal, all ranks of the program's communicator */
    MPI_Request begun; /* it is being made */
    int ranks;
    int test_nodes;
    bool test_cyclic;
    enum aps_devices devices; /* when the last prepared was made */
    struct prepared prepared[PREPARED_MAX];
    int prepared_count;
};

/*
 * One reduction: make what it needs once, then run. `create` returns NULL with
 * a cause, or with "" on the ranks that have nothing to say; it may fail on
 * some ranks only. The object is destroyed locally.
 */
struct reduction {
    bool grouped; /* by the plan's groups */
    void *(*create)(const struct aps_comm_resources *resources,
                    const struct aps_grouping *grouping, char *cause,
                    size_t size);
    void (*destroy)(void *object);
    int (*run)(void *object, const struct aps_plan *plan,
               const struct aps_wire *wire, const float *in, float *out,
               size_t n, struct aps_cost *cost);
};

static void *reduction_create_direct(const struct aps_comm_resources *resources,
                                     const struct aps_grouping *grouping,
                                     char *cause, size_t size)
{
    (void)grouping;
    snprintf(cause, size, "out of memory for reduce: direct");
    return aps_direct_create_alone(resources->comm, resources->devices);
}

static void reduction_destroy_direct(void *object)
{
    aps_direct_destroy(object);
}

static int reduction_run_direct(void *object, const struct aps_plan *plan,
                                const struct aps_wire *wire, const float *in,
                                float *out, size_t n, struct aps_cost *cost)
{
    (void)plan;
    return aps_direct_run(object, wire, in, out, n, cost);
}

static void *reduction_create_ring(const struct aps_comm_resources *resources,
                                   const struct aps_grouping *grouping,
                                   char *cause, size_t size)
{
    (void)grouping;
    snprintf(cause, size, "out of memory for reduce: ring");
    return aps_ring_create_alone(resources->comm);
}

static void reduction_destroy_ring(void *object)
{
    aps_ring_destroy(object);
}

static int reduction_run_ring(void *object, const struct aps_plan *plan,
                              const struct aps_wire *wire, const float *in,
                              float *out, size_t n, struct aps_cost *cost)
{
    (void)plan;
    return aps_ring_run(object, wire, in, out, n, cost);
}

static void *reduction_create_gather(const struct aps_comm_resources *resources,
                                     const struct aps_grouping *grouping,
                                     char *cause, size_t size)
{
    (void)grouping;
    snprintf(cause, size, "out of memory for reduce: gather");
    return aps_allgather_sum_create(resources->comm);
}

static void reduction_destroy_gather(void *object)
{
    aps_allgather_sum_destroy(object);
}

static int reduction_run_gather(void *object, const struct aps_plan *plan,
                                const struct aps_wire *wire, const float *in,
                                float *out, size_t n, struct aps_cost *cost)
{
    (void)plan;
    return aps_allgather_sum_run(object, wire, in, out, n, cost);
}

static void *reduction_create_master(const struct aps_comm_resources *resources,
                                     const struct aps_grouping *grouping,
                                     char *cause, size_t size)
{
    struct aps_grouping anywhere = *grouping;
    struct aps_master *master = NULL;

    anywhere.across_nodes = true;
    if (aps_master_create(resources->comm, &anywhere, &master, cause, size) < 0)
        return NULL;
    return master;
}

static void reduction_destroy_master(void *object)
{
    aps_master_destroy(object);
}

static int reduction_run_master(void *object, const struct aps_plan *plan,
                                const struct aps_wire *wire, const float *in,
                                float *out, size_t n, struct aps_cost *cost)
{
    (void)plan;
    return aps_master_run(object, wire, in, out, n, cost);
}

static void *
reduction_create_hierarchical(const struct aps_comm_resources *resources,
                              const struct aps_grouping *grouping, char *cause,
                              size_t size)
{
    struct aps_hierarchical *hierarchical = NULL;

    if (aps_hierarchical_create(resources->comm, grouping, resources->devices,
                                &hierarchical, cause, size) < 0)
        return NULL;
    return hierarchical;
}

static void reduction_destroy_hierarchical(void *object)
{
    aps_hierarchical_destroy(object);
}

static int reduction_run_hierarchical(void *object, const struct aps_plan *plan,
                                      const struct aps_wire *wire,
                                      const float *in, float *out, size_t n,
                                      struct aps_cost *cost)
{
    return aps_hierarchical_run(object, wire, plan->node == APS_NODE_FP32, in,
                                out, n, cost);
}

static const struct reduction reductions[] = {
    [APS_REDUCE_DIRECT] = {false, reduction_create_direct,
                           reduction_destroy_direct, reduction_run_direct},
    [APS_REDUCE_HIERARCHICAL] = {true, reduction_create_hierarchical,
                                 reduction_destroy_hierarchical,
                                 reduction_run_hierarchical},
    [APS_REDUCE_RING] = {false, reduction_create_ring, reduction_destroy_ring,
                         reduction_run_ring},
    [APS_REDUCE_MASTER] = {true, reduction_create_master,
                           reduction_destroy_master, reduction_run_master},
    [APS_REDUCE_GATHER] = {false, reduction_create_gather,
                           reduction_destroy_gather, reduction_run_gather},
};

static struct prepared *
reduction_find_prepared(struct aps_comm_resources *resources,
                        const struct aps_plan *plan)
{
    for (int i = 0; i < resources->prepared_count; i++) {
        struct prepared *prepared = &resources->prepared[i];

        if (prepared->reduce == plan->reduce &&
            (!reductions[plan->reduce].grouped ||
             (prepared->group == plan->group &&
              (plan->group != APS_GROUP_NUMBER ||
               prepared->group_size == plan->group_size))))
            return prepared;
    }
    return NULL;
}

/* COLLECTIVE over comm. */
static enum aps_devices reduction_agree_devices(MPI_Comm comm)
{
    if (!aps_agree_all(comm, aps_device_is_expected()))
        return APS_DEVICES_NONE;
    return aps_agree_all(comm, aps_device_mpi_is_aware())
               ? APS_DEVICES_AWARE
               : APS_DEVICES_EXPECTED;
}

/* COLLECTIVE. */
static struct prepared *
reduction_make_prepared(struct aps_comm_resources *resources,
                        const struct aps_plan *plan)
{
    const struct reduction *reduction = &reductions[plan->reduce];
    const struct aps_grouping grouping = {
        .kind = plan->group,
        .number = plan->group_size,
        .test_nodes = resources->test_nodes,
        .test_cyclic = resources->test_cyclic,
    };
    struct prepared *prepared =
        &resources->prepared[resources->prepared_count++];

    prepared->reduce = plan->reduce;
    prepared->group = plan->group;
    prepared->group_size = plan->group_size;
    /* Making it blocks, and drives nothing meanwhile: let all come first. */
    resources->devices = reduction_agree_devices(resources->comm);
    prepared->object = reduction->create(resources, &grouping, prepared->cause,
                                         sizeof prepared->cause);
    if (aps_agree_all(resources->comm, prepared->object != NULL))
        return prepared;
    if (prepared->object) {
        reduction->destroy(prepared->object);
        prepared->object = NULL;
        prepared->cause[0] = '\0';
    }
    aps_agree_cause(resources->comm, prepared->cause, sizeof prepared->cause);
    return prepared;
}

/* Its communicator is there. */
static void reduction_equip(struct aps_comm_resources *resources)
{
    PMPI_Comm_set_errhandler(resources->comm, MPI_ERRORS_RETURN);
    PMPI_Comm_size(resources->comm, &resources->ranks);
}

int aps_comm_resources_create(MPI_Comm comm, int test_nodes, bool test_cyclic,
                              struct aps_comm_resources **resources)
{
    struct aps_comm_resources *new = calloc(1, sizeof *new);
    MPI_Errhandler theirs = aps_errhandler_push(comm);
    bool split = false;
    int rank;

    PMPI_Comm_rank(comm, &rank);
    /* A split, not a dup: a dup would call the program's own attribute copy
     * functions. */
    if (aps_agree_all(comm, new != NULL &&atomic_load(&resources_alive) <
                                       RESOURCES_MAX)) {
        split = PMPI_Comm_split(comm, 0, rank, &new->comm) == MPI_SUCCESS;
        if (!aps_agree_all(comm, split) && split) {
            PMPI_Comm_free(&new->comm);
            split = false;
        }
    }
    aps_errhandler_pop(comm, theirs);
    if (!split) {
        free(new);
        return -1;
    }
    atomic_fetch_add(&resources_alive, 1);
    new->begun = MPI_REQUEST_NULL;
    new->test_nodes = test_nodes;
    new->test_cyclic = test_cyclic;
    reduction_equip(new);
    *resources = new;
    return 0;
}

int aps_comm_resources_begin(MPI_Comm comm, int test_nodes, bool test_cyclic,
                             struct aps_comm_resources **resources)
{
    struct aps_comm_resources *new = calloc(1, sizeof *new);
    int rc;

    if (!new)
        return MPI_ERR_NO_MEM;
    new->test_nodes = test_nodes;
    new->test_cyclic = test_cyclic;
    aps_keyval_hide(true);
    rc = PMPI_Comm_idup(comm, &new->comm, &new->begun);
    aps_keyval_hide(false);
    if (rc != MPI_SUCCESS) {
        free(new);
        return rc;
    }
    atomic_fetch_add(&resources_alive, 1);
    atomic_fetch_add(&begun, 1);
    *resources = new;
    return MPI_SUCCESS;
}

bool aps_comm_resources_any_begun(void)
{
    return atomic_load(&begun) > 0;
}

int aps_comm_resources_complete(struct aps_comm_resources *resources)
{
    int rc =
        aps_wait_requests_telling(1, &resources->begun, aps_agree_tell_missing);

    atomic_fetch_sub(&begun, 1);
    if (rc == MPI_SUCCESS)
        reduction_equip(resources);
    else
        resources->comm = MPI_COMM_NULL;
    return rc;
}

void aps_comm_resources_destroy(struct aps_comm_resources *resources)
{
    if (!resources)
        return;
    for (int i = 0; i < resources->prepared_count; i++)
        if (resources->prepared[i].object)
            reductions[resources->prepared[i].reduce].destroy(
                resources->prepared[i].object);
    if (resources->comm != MPI_COMM_NULL)
        PMPI_Comm_free(&resources->comm);
    atomic_fetch_sub(&resources_alive, 1);
    free(resources);
}

MPI_Comm aps_comm_resources_comm(const struct aps_comm_resources *resources)
{
    return resources->comm;
}

int aps_comm_resources_prepare(struct aps_comm_resources *resources,
                               const struct aps_plan *plan, char *cause,
                               size_t size)
{
    const struct prepared *prepared = reduction_find_prepared(resources, plan);

    if (!prepared && resources->prepared_count == PREPARED_MAX) {
        snprintf(cause, size, "more than %d kinds of reductions and groups",
                 PREPARED_MAX);
        return -1;
    }
    if (!prepared)
        prepared = reduction_make_prepared(resources, plan);
    if (prepared->object)
        return 0;
    snprintf(cause, size, "%s", prepared->cause);
    return -1;
}

bool aps_comm_resources_prepares_deferred(struct aps_comm_resources *resources,
                                          const struct aps_plan *plan)
{
    /* Groups get communicators, and MPI splits none without blocking. */
    return !reductions[plan->reduce].grouped ||
           reduction_find_prepared(resources, plan) != NULL;
}

int aps_comm_resources_reduce(struct aps_comm_resources *resources,
                              const struct aps_plan *plan,
                              const struct aps_memory *memory, const float *in,
                              float *out, size_t n, struct aps_cost *cost)
{
    struct aps_wire wire = {
        .memory = memory,
        .scale = plan->scale,
        .fixed = plan->fixed,
        .accumulate = plan->accumulate,
    };

    aps_codec_init(&plan->format, &wire.codec);
    return reductions[plan->reduce].run(
        reduction_find_prepared(resources, plan)->object, plan, &wire, in, out,
        n, cost);
}

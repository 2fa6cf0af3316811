/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "comm/resources.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "native/keyval.h"
#include "progress/agree.h"
#include "progress/wait.h"
#include "topo/topology.h"

/* MPICH has about 2000 context ids, for the program first of all: so many
 * communicators may have resources at a time in a process. */
#define RESOURCES_MAX 256
static atomic_int resources_alive;

/* Of them, those whose communicators MPI is still making. */
static atomic_int begun;

struct aps_comm_resources {
    MPI_Comm comm;          /* ours, all ranks of the program's communicator */
    MPI_Request begun;      /* it is being made */
    struct aps_vcomm vcomm; /* on it */
    int *nodes;             /* vcomm.nodes; NULL: not known yet, or never */
    struct aps_reductions *reductions;
};

/* Local, before anybody counts on them. */
static struct aps_comm_resources *resources_allocate(int test_nodes,
                                                     bool test_cyclic)
{
    struct aps_comm_resources *new = calloc(1, sizeof *new);

    if (!new)
        return NULL;
    new->comm = MPI_COMM_NULL;
    new->begun = MPI_REQUEST_NULL;
    new->reductions =
        aps_reductions_create(&new->vcomm, test_nodes, test_cyclic);
    if (new->reductions)
        return new;
    free(new);
    return NULL;
}

static void resources_free(struct aps_comm_resources *resources)
{
    if (!resources)
        return;
    aps_reductions_destroy(resources->reductions);
    free(resources->nodes);
    free(resources);
}

/* Its communicator is there. */
static void resources_equip(struct aps_comm_resources *resources)
{
    PMPI_Comm_set_errhandler(resources->comm, MPI_ERRORS_RETURN);
    resources->vcomm = aps_vcomm_all(resources->comm, 0);
}

int aps_comm_resources_create(MPI_Comm comm, int test_nodes, bool test_cyclic,
                              struct aps_comm_resources **resources)
{
    struct aps_comm_resources *new =
        resources_allocate(test_nodes, test_cyclic);
    MPI_Errhandler theirs = aps_errhandler_push(comm);
    bool split = false;
    int rank;

    PMPI_Comm_rank(comm, &rank);
    /* A split, not a dup: a dup would call the program's own attribute copy
     * functions. */
    if (aps_agree_comm_all(comm, new != NULL &&atomic_load(&resources_alive) <
                                            RESOURCES_MAX)) {
        split = PMPI_Comm_split(comm, 0, rank, &new->comm) == MPI_SUCCESS;
        if (!aps_agree_comm_all(comm, split) && split) {
            PMPI_Comm_free(&new->comm);
            split = false;
        }
    }
    aps_errhandler_pop(comm, theirs);
    if (!split) {
        resources_free(new);
        return -1;
    }
    atomic_fetch_add(&resources_alive, 1);
    resources_equip(new);
    *resources = new;
    return 0;
}

int aps_comm_resources_begin(MPI_Comm comm, int test_nodes, bool test_cyclic,
                             struct aps_comm_resources **resources)
{
    struct aps_comm_resources *new =
        resources_allocate(test_nodes, test_cyclic);
    int rc;

    if (!new)
        return MPI_ERR_NO_MEM;
    aps_keyval_hide(true);
    rc = PMPI_Comm_idup(comm, &new->comm, &new->begun);
    aps_keyval_hide(false);
    if (rc != MPI_SUCCESS) {
        resources_free(new);
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
        resources_equip(resources);
    else
        resources->comm = MPI_COMM_NULL;
    return rc;
}

void aps_comm_resources_destroy(struct aps_comm_resources *resources)
{
    if (!resources)
        return;
    if (resources->comm != MPI_COMM_NULL)
        PMPI_Comm_free(&resources->comm);
    atomic_fetch_sub(&resources_alive, 1);
    resources_free(resources);
}

MPI_Comm aps_comm_resources_comm(const struct aps_comm_resources *resources)
{
    return resources->comm;
}

const struct aps_vcomm *
aps_comm_resources_vcomm(const struct aps_comm_resources *resources)
{
    return &resources->vcomm;
}

/* COLLECTIVE, and blocking. 0 or -1 on all ranks. */
static int resources_find_nodes(struct aps_comm_resources *resources)
{
    int *nodes =
        malloc((size_t)resources->vcomm.size * sizeof *resources->nodes);

    if (aps_agree_all(&resources->vcomm, nodes != NULL) &&
        aps_agree_all(&resources->vcomm,
                      aps_topology_nodes(resources->comm, nodes) ==
                          MPI_SUCCESS)) {
        resources->nodes = nodes;
        resources->vcomm.nodes = nodes;
        return 0;
    }
    free(nodes);
    return -1;
}

int aps_comm_resources_prepare(struct aps_comm_resources *resources,
                               const struct aps_plan *plan, char *cause,
                               size_t size)
{
    if (aps_reductions_need_nodes(plan) && !resources->vcomm.nodes &&
        resources_find_nodes(resources) < 0) {
        snprintf(cause, size, "the nodes of the ranks cannot be found out");
        return -1;
    }
    return aps_reductions_prepare(resources->reductions, plan, cause, size);
}

int aps_comm_resources_reduce(struct aps_comm_resources *resources,
                              const struct aps_plan *plan,
                              const struct aps_memory *memory, const float *in,
                              float *out, size_t n, struct aps_cost *cost)
{
    return aps_reductions_run(resources->reductions, plan, memory, in, out, n,
                              cost);
}

bool aps_comm_resources_prepares_deferred(struct aps_comm_resources *resources,
                                          const struct aps_plan *plan)
{
    /* To find out nodes blocks. */
    return !aps_reductions_need_nodes(plan) || resources->vcomm.nodes ||
           aps_reductions_are_prepared(resources->reductions, plan);
}

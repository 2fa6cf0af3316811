/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "world/hidden_comm.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/message.h"
#include "codec/workers.h"
#include "world/binding.h"
#include "world/nodes.h"
#include "native/error_text.h"
#include "message/agree.h"

static struct aps_hidden_comm *_Atomic world_of_job;

void aps_hidden_comm_set_job(struct aps_hidden_comm *world)
{
    atomic_store(&world_of_job, world);
}

struct aps_hidden_comm *aps_hidden_comm_of_job(void)
{
    return atomic_load_explicit(&world_of_job, memory_order_acquire);
}

/* Least value of MPI_TAG_UB that MPI allows. */
#define LEAST_TAG_UB 32767

/* Returns MPI's greatest tag, which is equal on all ranks. MPI promises the
 * attribute on MPI_COMM_WORLD alone, and Open MPI has it nowhere else. In the
 * sessions model MPI_COMM_WORLD does not exist. */
static int world_greatest_tag(const struct aps_hidden_comm *world)
{
    int *greatest = NULL, found = 0, initialized = 0;

    if (PMPI_Comm_get_attr(world->comm, MPI_TAG_UB, &greatest, &found) ==
            MPI_SUCCESS &&
        found)
        return *greatest;
    if (PMPI_Initialized(&initialized) == MPI_SUCCESS && initialized &&
        PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &greatest, &found) ==
            MPI_SUCCESS &&
        found)
        return *greatest;
    return LEAST_TAG_UB;
}

static void world_count_blocks(struct aps_hidden_comm *world)
{
    const int blocks =
        (world_greatest_tag(world) / APS_VCOMM_TAGS - 1) / world->vcomm.size;

    world->blocks =
        blocks < APS_HIDDEN_COMM_BLOCKS ? blocks : APS_HIDDEN_COMM_BLOCKS;
}

int aps_hidden_comm_tag(const struct aps_hidden_comm *world, int owner,
                        int number)
{
    return (1 + owner * world->blocks + number) * APS_VCOMM_TAGS;
}

/* COLLECTIVE over comm. Makes the hidden communicator, its group, and the array
 * of its nodes. Returns false, perhaps on this rank alone, if MPI lacks a
 * communicator or this rank lacks memory. */
static bool world_split(struct aps_hidden_comm *world, MPI_Comm comm, int rank)
{
    /* PMPI_Comm_dup would call the program's own attribute copy functions. */
    if (PMPI_Comm_split(comm, 0, rank, &world->comm) != MPI_SUCCESS)
        return false;
    PMPI_Comm_set_errhandler(world->comm, MPI_ERRORS_RETURN);
    world->vcomm = aps_vcomm_all(world->comm, 0);
    world_count_blocks(world);
    world->nodes = malloc((size_t)world->vcomm.size * sizeof *world->nodes);
    return world->nodes &&
           PMPI_Comm_group(world->comm, &world->group) == MPI_SUCCESS;
}

/* Prints a line on some ranks of a large job, because any one of them may be
 * missing (message/agree.h). */
static void world_tell_missing(void)
{
    int rank;

    if (PMPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS &&
        aps_agree_rank_reports(rank))
        aps_message(
            rank, "waits in MPI_Init for ranks of the job that do not preload "
                  "the library, or have APSMPI_WORLD=off; preload it on all "
                  "ranks, or set APSMPI_WORLD=off on all ranks that have it if "
                  "others are to run without it");
}

static void world_tell_failure(int rank, int rc)
{
    char text[MPI_MAX_ERROR_STRING];

    if (rc > 0)
        aps_message(rank, "MPI failed where the ranks agree on the policy: %s",
                    aps_error_text(rc, text));
}

/* COLLECTIVE over world->comm. Sets the number of threads that share long
 * vectors, as the ranks' policy says. Only the whole job knows which ranks have
 * the same binding. */
static void world_set_threads(const struct aps_hidden_comm *world,
                              bool whole_job)
{
    int threads;

    if (world->agreed.outcome != APS_AGREED_POLICY)
        return;
    threads = aps_policy_threads(aps_job()->policy);
    if (threads != APS_THREADS_AUTO)
        aps_workers_set(threads);
    else if (whole_job)
        aps_workers_set(
            aps_binding_threads(world->comm, world->nodes[world->vcomm.rank]));
}

int aps_hidden_comm_create(MPI_Comm comm, bool whole_job,
                           struct aps_hidden_comm **world)
{
    struct aps_hidden_comm *new = calloc(1, sizeof *new);
    bool good = new != NULL;
    int rank, rc;

    rc = aps_agree_comm_all(
        comm, &good, whole_job ? world_tell_missing : aps_agree_report_missing);
    if (!good) {
        free(new);
        return rc == MPI_SUCCESS ? -1 : rc;
    }
    atomic_store(&new->holders, 1);
    new->comm = MPI_COMM_NULL;
    new->group = MPI_GROUP_NULL;
    pthread_mutex_init(&new->lock, NULL);
    PMPI_Comm_rank(comm, &rank);
    /* If a rank cannot find its node, aps_nodes_find fails on all ranks. */
    good = world_split(new, comm, rank);
    rc = aps_agree_comm_all(comm, &good, NULL);
    good = good && aps_nodes_find(new->comm, new->nodes) == MPI_SUCCESS;
    if (rc == MPI_SUCCESS)
        rc = -1;
    if (good) {
        new->vcomm.nodes = new->nodes;
        rc = aps_handshake(aps_job(), &new->vcomm, whole_job, &new->agreed);
    }
    if (rc != MPI_SUCCESS) {
        world_tell_failure(rank, rc);
        aps_hidden_comm_release(new);
        return rc;
    }
    world_set_threads(new, whole_job);
    *world = new;
    return MPI_SUCCESS;
}

void aps_hidden_comm_ref(struct aps_hidden_comm *world)
{
    atomic_fetch_add(&world->holders, 1);
}

void aps_hidden_comm_release(struct aps_hidden_comm *world)
{
    if (!world || atomic_fetch_sub(&world->holders, 1) > 1)
        return;
    if (world->forget)
        world->forget(world);
    if (world->group != MPI_GROUP_NULL)
        PMPI_Group_free(&world->group);
    if (world->comm != MPI_COMM_NULL && !world->kept)
        PMPI_Comm_free(&world->comm);
    pthread_mutex_destroy(&world->lock);
    free(world->nodes);
    free(world);
}

int *aps_hidden_comm_ranks(const struct aps_hidden_comm *world, MPI_Comm comm,
                           int size, bool *no_memory)
{
    int *places = malloc((size_t)size * sizeof *places);
    int *ranks = malloc((size_t)size * sizeof *ranks);
    MPI_Group group;
    bool inside = false;

    /* If MPI fails on this rank, the ranks of `comm` may still be in the
     * world. */
    *no_memory =
        !places || !ranks || PMPI_Comm_group(comm, &group) != MPI_SUCCESS;
    if (*no_memory)
        goto free_places;
    for (int i = 0; i < size; i++)
        places[i] = i;
    inside = PMPI_Group_translate_ranks(group, size, places, world->group,
                                        ranks) == MPI_SUCCESS;
    *no_memory = !inside;
    for (int i = 0; i < size && inside; i++)
        inside = ranks[i] != MPI_UNDEFINED;
    PMPI_Group_free(&group);

free_places:
    free(places);
    if (!inside) {
        free(ranks);
        ranks = NULL;
    }
    return ranks;
}

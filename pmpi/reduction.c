/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduction.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "agree.h"
#include "direct.h"
#include "hierarchical.h"

/* Elements that `direct` moves at a time: its scratch is three times their
 * encoded size. */
#define DIRECT_CHUNK (512 * 1024)

/* MPICH has about 2000 context ids, for the program first of all: so many teams
 * may live at a time in a process, each with two or three of them. */
#define TEAMS_MAX 256
static atomic_int teams;

/* A policy that groups in more ways than this is turned away. */
#define GROUPINGS_MAX 16

struct grouping {
    enum aps_group_kind kind;
    int size;
    struct aps_hierarchical *hierarchical; /* NULL: it could not be made */
    char cause[256];                       /* then why */
};

struct aps_team {
    MPI_Comm comm; /* internal, all ranks of the program's communicator */
    int test_nodes;
    bool test_cyclic;
    struct aps_direct *direct;
    bool direct_failed;
    struct grouping groupings[GROUPINGS_MAX];
    int grouping_count;
};

/* One way to reduce: make what it needs once, then run. */
struct reduction {
    int (*prepare)(struct aps_team *team, const struct aps_plan *plan,
                   char *cause, size_t size);
    int (*run)(struct aps_team *team, const struct aps_plan *plan,
               const struct aps_wire *wire, const float *in, float *out,
               size_t n, struct aps_cost *cost);
};

static int prepare_direct(struct aps_team *team, const struct aps_plan *plan,
                          char *cause, size_t size)
{
    (void)plan;
    if (team->direct)
        return 0;
    if (!team->direct_failed) {
        team->direct = aps_direct_create(team->comm, DIRECT_CHUNK);
        if (aps_agree_all(team->comm, team->direct != NULL))
            return 0;
        aps_direct_destroy(team->direct);
        team->direct = NULL;
        team->direct_failed = true;
    }
    snprintf(cause, size, "out of memory for reduce: direct");
    return -1;
}

static int run_direct(struct aps_team *team, const struct aps_plan *plan,
                      const struct aps_wire *wire, const float *in, float *out,
                      size_t n, struct aps_cost *cost)
{
    (void)plan;
    return aps_direct_run(team->direct, wire, in, out, n, cost);
}

static struct grouping *find_grouping(struct aps_team *team,
                                      const struct aps_plan *plan)
{
    for (int i = 0; i < team->grouping_count; i++) {
        struct grouping *grouping = &team->groupings[i];

        if (grouping->kind == plan->group &&
            (plan->group != APS_GROUP_NUMBER ||
             grouping->size == plan->group_size))
            return grouping;
    }
    return NULL;
}

static int prepare_hierarchical(struct aps_team *team,
                                const struct aps_plan *plan, char *cause,
                                size_t size)
{
    struct grouping *grouping = find_grouping(team, plan);
    struct aps_hierarchical_config config = {
        .group = plan->group,
        .group_size = plan->group_size,
        .test_nodes = team->test_nodes,
        .test_cyclic = team->test_cyclic,
    };

    if (!grouping && team->grouping_count == GROUPINGS_MAX) {
        snprintf(cause, size, "more than %d kinds of groups", GROUPINGS_MAX);
        return -1;
    }
    if (!grouping) {
        grouping = &team->groupings[team->grouping_count++];
        grouping->kind = plan->group;
        grouping->size = plan->group_size;
        if (aps_hierarchical_create(team->comm, &config,
                                    &grouping->hierarchical, grouping->cause,
                                    sizeof grouping->cause) < 0) {
            grouping->hierarchical = NULL;
            aps_agree_cause(team->comm, grouping->cause,
                            sizeof grouping->cause);
        }
    }
    if (grouping->hierarchical)
        return 0;
    snprintf(cause, size, "%s", grouping->cause);
    return -1;
}

static int run_hierarchical(struct aps_team *team, const struct aps_plan *plan,
                            const struct aps_wire *wire, const float *in,
                            float *out, size_t n, struct aps_cost *cost)
{
    struct grouping *grouping = find_grouping(team, plan);

    return aps_hierarchical_run(grouping->hierarchical, wire,
                                plan->node == APS_NODE_FP32, in, out, n,
                                cost);
}

static const struct reduction reductions[] = {
    [APS_REDUCE_DIRECT] = {prepare_direct, run_direct},
    [APS_REDUCE_HIERARCHICAL] = {prepare_hierarchical, run_hierarchical},
};

int aps_team_create(MPI_Comm comm, int test_nodes, bool test_cyclic,
                    struct aps_team **team)
{
    struct aps_team *new = calloc(1, sizeof *new);
    MPI_Errhandler theirs = aps_agree_quietly(comm);
    bool split = false;
    int rank;

    PMPI_Comm_rank(comm, &rank);
    /* A split, not a dup: a dup would call the program's own attribute copy
     * functions. */
    if (aps_agree_all(comm, new != NULL && atomic_load(&teams) < TEAMS_MAX)) {
        split = PMPI_Comm_split(comm, 0, rank, &new->comm) == MPI_SUCCESS;
        if (!aps_agree_all(comm, split) && split) {
            PMPI_Comm_free(&new->comm);
            split = false;
        }
    }
    aps_agree_restore(comm, theirs);
    if (!split) {
        free(new);
        return -1;
    }
    atomic_fetch_add(&teams, 1);
    PMPI_Comm_set_errhandler(new->comm, MPI_ERRORS_RETURN);
    new->test_nodes = test_nodes;
    new->test_cyclic = test_cyclic;
    *team = new;
    return 0;
}

void aps_team_destroy(struct aps_team *team)
{
    if (!team)
        return;
    for (int i = 0; i < team->grouping_count; i++)
        aps_hierarchical_destroy(team->groupings[i].hierarchical);
    aps_direct_destroy(team->direct);
    PMPI_Comm_free(&team->comm);
    atomic_fetch_sub(&teams, 1);
    free(team);
}

MPI_Comm aps_team_comm(const struct aps_team *team)
{
    return team->comm;
}

int aps_team_prepare(struct aps_team *team, const struct aps_plan *plan,
                     char *cause, size_t size)
{
    return reductions[plan->reduce].prepare(team, plan, cause, size);
}

int aps_team_reduce(struct aps_team *team, const struct aps_plan *plan,
                    const struct aps_memory *memory, const float *in,
                    float *out, size_t n, struct aps_cost *cost)
{
    struct aps_wire wire = {
        .memory = memory,
        .scale = plan->scale,
        .fixed = plan->fixed,
        .round_sums = plan->accumulate == APS_ACCUMULATE_FORMAT,
    };

    aps_codec_init(&plan->format, &wire.codec);
    return reductions[plan->reduce].run(team, plan, &wire, in, out, n, cost);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "plans.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "number/parse.h"
#include "pmpi/world/nodes.h"

static struct aps_plan plan_of(enum aps_reduce_kind reduce,
                               enum aps_accumulate_kind accumulate)
{
    struct aps_plan plan = {
        .rewrite = true,
        .scale = {APS_SCALE_APS},
        .reduce = reduce,
        .group = APS_GROUP_NODE,
        .accumulate = accumulate,
    };
    struct aps_error error;

    if (aps_format_parse("e5m2", &plan.format, &error) < 0)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    plan.sums = plan.format;
    return plan;
}

struct aps_plan plan_direct(void)
{
    return plan_of(APS_REDUCE_DIRECT, APS_ACCUMULATE_FP32);
}

struct aps_plan plan_hierarchical(void)
{
    return plan_of(APS_REDUCE_HIERARCHICAL, APS_ACCUMULATE_FP32);
}

struct aps_plan plan_ring(enum aps_accumulate_kind accumulate)
{
    return plan_of(APS_REDUCE_RING, accumulate);
}

struct aps_plan plan_master(int group_size)
{
    struct aps_plan plan = plan_of(APS_REDUCE_MASTER, APS_ACCUMULATE_FORMAT);

    plan.group = APS_GROUP_NUMBER;
    plan.group_size = group_size;
    return plan;
}

const char *plan_name(const struct aps_plan *plan, char *buffer, size_t size)
{
    if (plan->reduce == APS_REDUCE_MASTER)
        snprintf(buffer, size, "master %d", plan->group_size);
    else if (plan->reduce == APS_REDUCE_RING)
        snprintf(buffer, size, "ring %s",
                 aps_accumulate_name(plan->accumulate));
    else
        snprintf(buffer, size, "%s", aps_reduce_name(plan->reduce));
    return buffer;
}

/* Resources of this rank's reductions. */
struct world {
    MPI_Comm comm;
    struct aps_vcomm vcomm;
    int nodes[];
};
static struct world *world;

struct aps_reductions *plan_begin(void)
{
    struct aps_reductions *reductions = NULL;
    int size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    world = malloc(sizeof *world + (size_t)size * sizeof *world->nodes);
    if (world && PMPI_Comm_dup(MPI_COMM_WORLD, &world->comm) == MPI_SUCCESS) {
        world->vcomm = aps_vcomm_all(world->comm, 0);
        if (aps_nodes_find(world->comm, world->nodes) == MPI_SUCCESS) {
            world->vcomm.nodes = world->nodes;
            reductions = aps_reductions_create(&world->vcomm, 0, false);
        }
    }
    if (!reductions)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    return reductions;
}

const struct aps_vcomm *plan_vcomm(void)
{
    return &world->vcomm;
}

void plan_end(struct aps_reductions *reductions)
{
    aps_reductions_destroy(reductions);
    PMPI_Comm_free(&world->comm);
    free(world);
}

void plan_prepare(struct aps_reductions *reductions,
                  const struct aps_plan *plan)
{
    char name[64], cause[256] = "";

    if (aps_reductions_prepare(reductions, plan, SIZE_MAX, cause,
                               sizeof cause) == 0)
        return;
    if (cause[0] != '\0')
        fprintf(stderr, "%s: %s\n", plan_name(plan, name, sizeof name), cause);
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

void plan_reduce(struct aps_reductions *reductions, const struct aps_plan *plan,
                 const float *in, float *out, size_t n)
{
    struct aps_vector layer = {
        .in = in, .out = out, .n = n, .memory = &aps_memory_host};
    struct aps_cost cost = {0};
    char name[64];
    int rc = aps_reductions_run(reductions, plan, 1, &layer, &cost);

    model_settle();
    if (rc == MPI_SUCCESS)
        return;
    fprintf(stderr, "%s: MPI error %d\n", plan_name(plan, name, sizeof name),
            rc);
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

void gradients_read(const char *path, int rank, float *x, size_t n)
{
    const size_t values = n < GRADIENTS_VALUES ? n : GRADIENTS_VALUES;
    const long place =
        rank % GRADIENTS_RANKS * (long)(GRADIENTS_VALUES * sizeof *x);
    FILE *file = fopen(path, "rb");

    if (!file || fseek(file, place, SEEK_SET) != 0 ||
        fread(x, sizeof *x, values, file) != values) {
        perror(path);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    fclose(file);
    for (size_t i = values; i < n; i++)
        x[i] = x[i - values];
}

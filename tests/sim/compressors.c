/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulated time of a step's sums:
 *
 *     compressors GRADIENTS [--ports GBIT] [--model] POLICY...
 *
 * Each policy has one rule and a layer table, whose layers are reduced together, like
 * fused nonblocking calls. Prints a table as comments, and as TAP that all ranks hold
 * the same bits. With --model nothing is computed, and arrays share memory: then only
 * the times are meaningful. With --ports messages use the network of ports.h.
 */
#include "config.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "layer/group_exchanges.h"
#include "compressed/table.h"
#include "model.h"
#include "mpitap.h"
#include "plans.h"
#include "ports.h"
#include "message/wait.h"
#include "cut/exchange.h"

struct step {
    struct aps_policy *policy;
    const struct aps_layers *table;
    struct aps_reductions *reductions;
    struct aps_exchange exchange;
    struct aps_compressed_ranks ranks;
    struct aps_group_exchanges *by_group; /* state for groups */
    int outcome;
    float *in, *out;       /* layers, one after the other */
    float *error, *delta;  /* layers, one after the other */
    float *kept, *scratch; /* for layers that are reduced together */
    unsigned char *messages;
    size_t total;      /* floats of all layers */
    size_t wire_bytes; /* bytes sent by this rank */
};

/* Some layers of a step: those that the compressor takes, or the others. */
struct batch {
    bool taken;
    size_t next; /* layer */
    size_t place;
    int count;
    struct aps_plan plan;
    struct aps_matrix matrix[APS_VECTORS_MAX];
    size_t number[APS_VECTORS_MAX], begin[APS_VECTORS_MAX];
};

static double native; /* seconds */

/* --- memory --------------------------------------------------------------- */

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);

    if (!memory)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

/* Returns zeros, which use no memory until they are written. */
static void *zeros(size_t bytes)
{
    void *memory = mmap(NULL, bytes > 0 ? bytes : 1, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

/* COLLECTIVE. If nothing is computed, the messages of all ranks are the same,
 * and share memory: ranks are threads of one process. */
static unsigned char *message_memory(size_t bytes)
{
    void *memory = NULL;

    if (model_computes || mpitap_rank() == 0)
        memory = zeros(bytes);
    if (!model_computes)
        PMPI_Bcast(&memory, sizeof memory, MPI_BYTE, 0, MPI_COMM_WORLD);
    return memory;
}

static size_t line(size_t floats)
{
    return (floats + 15) / 16 * 16;
}

/* --- layers --------------------------------------------------------------- */

/* Finds the next layers that the compressor takes, or that it does not; false:
 * there are none. */
static bool next_batch(const struct step *step, struct batch *batch)
{
    struct aps_plan plan;

    batch->count = 0;
    while (batch->next < step->table->count && batch->count < APS_VECTORS_MAX) {
        const size_t layer = batch->next++, begin = batch->place;

        batch->place += step->table->list[layer].count;
        aps_policy_layer_plan(step->policy, 0, layer, &plan);
        if (aps_plan_compresses(&plan) != batch->taken)
            continue;
        batch->number[batch->count] = layer;
        batch->begin[batch->count] = begin;
        batch->matrix[batch->count] = plan.matrix;
        batch->matrix[batch->count++].count = step->table->list[layer].count;
        batch->plan = plan;
    }
    return batch->count > 0;
}

/* COLLECTIVE. */
static int reduce_left(struct step *step, const struct batch *batch,
                       struct aps_cost *cost)
{
    struct aps_plan plan = batch->plan;
    struct aps_vector vectors[APS_VECTORS_MAX];

    plan.compressor = (struct aps_compressor){0};
    plan.feedback = false;
    for (int i = 0; i < batch->count; i++)
        vectors[i] = (struct aps_vector){.in = step->in + batch->begin[i],
                                         .out = step->out + batch->begin[i],
                                         .n = batch->matrix[i].count,
                                         .memory = &aps_memory_host,
                                         .number = batch->number[i]};
    return aps_reductions_run(step->reductions, &plan, batch->count, vectors,
                              cost);
}

/* COLLECTIVE. */
static int reduce_taken(struct step *step, const struct batch *batch,
                        struct aps_cost *cost)
{
    const struct aps_plan *plan = &batch->plan;
    const struct aps_compressed_ops *ops = aps_compressed_ops_of(plan);
    const struct aps_compressed_ranks *ranks = &step->ranks;
    struct aps_compressed_env site = {.reductions = step->reductions,
                                      .vcomm = plan_vcomm(),
                                      .plan = plan,
                                      .exchange = &step->exchange,
                                      .messages = step->messages};
    struct aps_compressed layers[APS_VECTORS_MAX];
    float *kept = step->kept, *scratch = step->scratch;

    if (step->by_group) {
        site.groups = step->by_group->groups;
        site.group = &step->by_group->group;
        site.peers = &step->by_group->peers;
    }
    for (int i = 0; i < batch->count; i++) {
        const struct aps_matrix *matrix = &batch->matrix[i];
        const size_t begin = batch->begin[i];
        const size_t keeps = ops->kept ? ops->kept(plan, matrix, ranks) : 0;

        layers[i] = (struct aps_compressed){
            .in = step->in + begin,
            .out = step->out + begin,
            .matrix = *matrix,
            .error = plan->feedback ? step->error + begin : NULL,
            .delta = plan->feedback ? step->delta + begin : NULL,
            .kept = keeps > 0 ? kept : NULL,
            .place = (long)batch->number[i],
            .number = batch->number[i],
            .scratch = scratch};
        kept += line(keeps);
        scratch += line(aps_compressed_scratch(ops, plan, matrix, ranks));
    }
    return ops->run(&site, batch->count, layers, cost);
}

/* COLLECTIVE. Reduces all layers. */
static void reduce(struct step *step)
{
    struct aps_cost cost = {0};
    int rc = MPI_SUCCESS;

    for (int taken = 0; taken < 2; taken++) {
        struct batch batch = {.taken = taken};

        while (rc == MPI_SUCCESS && next_batch(step, &batch))
            rc = batch.taken ? reduce_taken(step, &batch, &cost)
                             : reduce_left(step, &batch, &cost);
    }
    model_settle();
    if (rc != MPI_SUCCESS) {
        fprintf(stderr, "rank %d: MPI error %d\n", mpitap_rank(), rc);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    step->wire_bytes = (size_t)cost.wire_bytes;
}

/* --- rows ----------------------------------------------------------------- */

/* Returns the file's name without directory and suffix. */
static const char *row_name(const char *path, char *name, size_t size)
{
    const char *base = strrchr(path, '/');

    snprintf(name, size, "%s", base ? base + 1 : path);
    if (strrchr(name, '.'))
        *strrchr(name, '.') = '\0';
    return name;
}

static void show(const char *name, double seconds, size_t wire_bytes)
{
    if (mpitap_rank() != 0)
        return;
    printf("# %-20s %10.3f ms  %6.2f  %10.3f MB\n", name, seconds * 1e3,
           native / seconds, (double)wire_bytes * 1e-6);
    fflush(stdout);
}

/* COLLECTIVE. Prepares the reductions, and groups for the compressor. */
static void prepare_groups(struct step *step)
{
    struct aps_plan plan;
    const struct aps_groups *groups;
    char cause[256] = "";

    aps_policy_layer_plan(step->policy, 0, 0, &plan);
    if (aps_reductions_prepare(step->reductions, &plan, step->total, cause,
                               sizeof cause) < 0) {
        fprintf(stderr, "%s\n", cause);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    step->ranks.all = plan_vcomm()->size;
    if (!aps_plan_is_compressed(&plan) ||
        !aps_compressed_ops_of(&plan)->grouped)
        return;
    groups = aps_reductions_groups(step->reductions, &plan);
    step->ranks.groups = groups->groups;
    step->ranks.smallest = groups->smallest;
    step->ranks.largest = groups->largest;
    if (!aps_group_exchanges_equip(&step->by_group, groups, &step->outcome))
        PMPI_Abort(MPI_COMM_WORLD, 1);
}

/* Allocates the memory of the batches, for the largest one. */
static void prepare(struct step *step)
{
    const struct aps_compressed_ranks *ranks = &step->ranks;
    size_t kept = 0, scratch = 0, messages = 0;
    struct batch batch = {.taken = true};

    while (next_batch(step, &batch)) {
        const struct aps_compressed_ops *ops =
            aps_compressed_ops_of(&batch.plan);
        size_t keeps = 0, needs = 0, bytes = 0;

        for (int i = 0; i < batch.count; i++) {
            const struct aps_matrix *matrix = &batch.matrix[i];

            needs +=
                line(aps_compressed_scratch(ops, &batch.plan, matrix, ranks));
            if (ops->kept)
                keeps += line(ops->kept(&batch.plan, matrix, ranks));
            if (ops->message)
                bytes += ops->message(&batch.plan, matrix, ranks);
        }
        kept = keeps > kept ? keeps : kept;
        scratch = needs > scratch ? needs : scratch;
        messages = bytes > messages ? bytes : messages;
    }
    step->kept = zeros(kept * sizeof(float));
    step->scratch = zeros(scratch * sizeof(float));
    step->messages = message_memory(messages * (size_t)ranks->all);
}

static void read_policy(struct step *step, const char *path)
{
    struct aps_policy_source source = {0};
    struct aps_errors errors = {0};

    if (aps_policy_source_read(path, &source, &errors) < 0 ||
        aps_policy_parse(&source, &step->policy, &errors) < 0) {
        fprintf(stderr, "%s: not a policy\n", path);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    aps_policy_source_clear(&source);
    step->table = aps_policy_layers(step->policy);
    for (size_t i = 0; i < step->table->count; i++)
        step->total += step->table->list[i].count;
}

/* COLLECTIVE. Returns the seconds from the start of the last rank to the end of
 * the last rank. `natively`: number of floats that MPI sums; 0: the library
 * reduces all layers. */
static double time_once(struct step *step, size_t natively)
{
    double seconds, longest;

    PMPI_Barrier(MPI_COMM_WORLD);
    seconds = -MPI_Wtime();
    if (natively > 0 && ports_used())
        ports_ring(step->in, step->out, natively);
    else if (natively > 0)
        PMPI_Allreduce(step->in, step->out, (int)natively, MPI_FLOAT, MPI_SUM,
                       MPI_COMM_WORLD);
    else
        reduce(step);
    seconds += MPI_Wtime();
    PMPI_Allreduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest;
}

/* COLLECTIVE. Native MPI's sums take no time here, but they are computed, in
 * memory of their own. The time of many values is extrapolated from the times
 * of a 32nd and a 16th of them. */
static double time_native(struct step *step)
{
    const size_t ranks = (size_t)mpitap_size();
    const size_t part = step->total / 32 / ranks * ranks;
    double few, more;

    if (model_computes)
        return time_once(step, step->total);
    few = time_once(step, part);
    more = time_once(step, 2 * part);
    return few + (more - few) * ((double)step->total / (double)part - 1);
}

/* COLLECTIVE. */
static void measure(const char *gradients, const char *path)
{
    struct step step = {.reductions = plan_begin()};
    char name[64];
    size_t bytes;
    double seconds;

    read_policy(&step, path);
    bytes = step.total * sizeof(float);
    step.in = allocate(bytes);
    step.out = allocate(bytes);
    step.error = allocate(bytes);
    step.delta = allocate(bytes);
    if (model_computes) {
        gradients_read(gradients, mpitap_rank(), step.in, step.total);
        memset(step.error, 0, bytes);
    }
    if (aps_exchange_init(&step.exchange, plan_vcomm(), APS_TAG_CONTRIBUTION,
                          &step.outcome) < 0)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    prepare_groups(&step);
    prepare(&step);
    if (native == 0) {
        native = time_native(&step);
        if (mpitap_rank() == 0)
            printf("# %zu values; native over ours, MB that rank 0 sends\n",
                   step.total);
        show("native FP32, a ring", native, 0);
    }
    seconds = time_once(&step, 0);
    row_name(path, name, sizeof name);
    ok_all(!model_computes || same_on_all(step.out, bytes),
           "%s: the same bits on all ranks", name);
    show(name, seconds, step.wire_bytes);
    aps_exchange_clear(&step.exchange);
    aps_group_exchanges_clear(&step.by_group);
    free(step.in);
    free(step.out);
    free(step.error);
    free(step.delta);
    aps_policy_destroy(step.policy);
    plan_end(step.reductions);
}

int main(int argc, char **argv)
{
    int status, first = 2;
    double gbit = 0;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    if (argc > 3 && strcmp(argv[2], "--ports") == 0) {
        gbit = atof(argv[3]);
        first = 4;
    }
    model_computes = argc <= first || strcmp(argv[first], "--model") != 0;
    first += model_computes ? 0 : 1;
    if (argc <= first)
        PMPI_Abort(MPI_COMM_WORLD, 2);
    if (gbit > 0)
        ports_begin(gbit);
    for (int i = first; i < argc; i++)
        measure(argv[1], argv[i]);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "layer/compressions.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bucket.h"
#include "layer/group_exchanges.h"
#include "layer/scratch_pool.h"
#include "compressed/table.h"
#include "cut/exchange.h"
#include "job/job.h"

#define BUCKET_BITS 8

/* Maximum number of layers keyed by count. A program without steps whose counts
 * vary from call to call would add records without end, so all are dropped at
 * this number, on all ranks at the same call. Without steps a record holds only
 * a number of calls, since other state needs steps. */
#define MEMORIES_MAX 4096

/* Record of a layer. */
struct memory {
    struct memory *next; /* in its bucket */
    struct aps_layer_key key;
    struct aps_plan plan; /* plan of its last call */
    uint64_t calls;       /* number of calls so far */
    float *error;         /* [key.count]: error memory; NULL: no feedback */
    float *kept;          /* [kept_floats]: state of the compressor; or NULL */
    size_t kept_floats;
};

struct aps_compressions {
    struct memory *buckets[1 << BUCKET_BITS];
    int count;
    long generation;                  /* generation of all records */
    long drops;                       /* number of MPI_Pcontrol(4) before all
                                         records */
    struct aps_scratch_array *spares; /* arrays for new error memories */
    float *scratch;
    size_t scratch_floats;
    struct aps_exchange
        exchange; /* exchange of compressors with messages of their own */
    struct aps_group_exchanges *by_group; /* exchanges of compressors that use
                                             groups */
    int outcome;                          /* MPI error code of all their
                                             messages */
};

/* The layers of one call. */
struct run {
    const struct aps_layer_site *site;
    const struct aps_plan *plan;
    struct aps_compressed_ranks ranks;
    const struct aps_groups *groups;      /* NULL: the compressor needs none */
    struct aps_group_exchanges *by_group; /* exchanges of `groups`, or NULL */
    int count;
    const struct aps_layer_key *keys;
    struct aps_vector *vectors;
    struct memory *memories[APS_VECTORS_MAX];
    struct aps_scratch_array *spares[APS_VECTORS_MAX]; /* NULL: no feedback */
    struct aps_compressed layers[APS_VECTORS_MAX];
    unsigned char *messages;
};

/* --- records of layers ---------------------------------------------------- */

/* Present bytes of all communicators; the counters hold their maximum. */
static atomic_ullong compressions_bytes;

static void compressions_count(size_t floats)
{
    const unsigned long long bytes = floats * sizeof(float);
    const unsigned long long now =
        atomic_fetch_add(&compressions_bytes, bytes) + bytes;

    aps_count_max(&aps_counters.remembered, now);
}

/* Frees memory[floats]. NULL is allowed. */
static void compressions_forget(float *memory, size_t floats)
{
    if (memory)
        atomic_fetch_sub(&compressions_bytes, floats * sizeof *memory);
    free(memory);
}

static void compressions_free(struct memory *memory)
{
    if (!memory)
        return;
    compressions_forget(memory->error, memory->key.count);
    compressions_forget(memory->kept, memory->kept_floats);
    free(memory);
}

static void compressions_clear(struct aps_compressions *compressions)
{
    for (int i = 0; i < 1 << BUCKET_BITS; i++) {
        while (compressions->buckets[i]) {
            struct memory *memory = compressions->buckets[i];

            compressions->buckets[i] = memory->next;
            compressions_free(memory);
        }
    }
    compressions->count = 0;
    aps_scratch_pool_clear(&compressions->spares);
}

void aps_compressions_destroy(struct aps_compressions *compressions)
{
    if (!compressions)
        return;
    compressions_clear(compressions);
    aps_exchange_clear(&compressions->exchange);
    aps_group_exchanges_clear(&compressions->by_group);
    free(compressions->scratch);
    free(compressions);
}

/* Returns the place of the pointer to the layer's record, or the place to
 * insert it. */
static struct memory **compressions_find(struct aps_compressions *compressions,
                                         const struct aps_layer_key *key)
{
    const size_t bucket = aps_bucket(aps_layer_key_hash(key), BUCKET_BITS);
    struct memory **link = &compressions->buckets[bucket];

    while (*link && !aps_layer_key_same(&(*link)->key, key))
        link = &(*link)->next;
    return link;
}

/* Returns zeros[floats], or NULL if memory is missing. The system provides
 * pages of calloc when they are written. */
static float *compressions_zeros(size_t floats)
{
    float *zeros = calloc(floats, sizeof *zeros);

    if (zeros)
        compressions_count(floats);
    return zeros;
}

/* True if the compressor cannot use the state that the layer's last call has
 * left. */
static bool compressions_is_new(const struct memory *memory,
                                const struct aps_plan *plan, size_t floats)
{
    const struct aps_compressed_ops *before =
        aps_compressed_ops_of(&memory->plan);

    return memory->plan.compressor.kind != plan->compressor.kind ||
           memory->kept_floats != floats ||
           (before->give_back &&
            strcmp(memory->plan.format.name, plan->format.name) != 0);
}

/* Makes the compressor's state for the plan, from that of the last call if
 * possible. Returns false if memory is missing. */
static bool compressions_change(const struct run *run, struct memory *memory)
{
    const struct aps_plan *plan = run->plan;
    const struct aps_compressed_ops *ops = aps_compressed_ops_of(plan);
    const struct aps_compressed_ops *before =
        aps_compressed_ops_of(&memory->plan);
    const struct aps_matrix *matrix = &memory->key.matrix;
    const size_t floats = ops->kept ? ops->kept(plan, matrix, &run->ranks) : 0;
    float *kept = NULL;

    if (!compressions_is_new(memory, plan, floats))
        return true;
    if (floats > 0)
        kept = compressions_zeros(floats);
    if (floats > 0 && !kept)
        return false;
    if (memory->kept && memory->error && before->give_back)
        before->give_back(&memory->plan, matrix, run->ranks.all,
                          run->site->vcomm->rank, memory->kept, memory->error);
    if (kept && memory->kept && ops->carry_on &&
        memory->plan.compressor.kind == plan->compressor.kind)
        ops->carry_on(&memory->plan.compressor, memory->kept, plan, matrix,
                      kept);
    compressions_forget(memory->kept, memory->kept_floats);
    memory->kept = kept;
    memory->kept_floats = floats;
    return true;
}

/* Returns the record of a layer under the plan, or NULL if memory is missing.
 * If another rule keeps less state, or a different kind, the layer keeps its
 * error memory, and the compressor starts again unless it can carry on. */
static struct memory *compressions_get(const struct run *run,
                                       const struct aps_layer_key *key)
{
    const struct aps_plan *plan = run->plan;
    struct memory **link =
        compressions_find(run->site->kept->compressions, key);
    struct memory *memory = *link;

    if (!memory) {
        memory = calloc(1, sizeof *memory);
        if (!memory)
            return NULL;
        memory->key = *key;
        memory->plan = *plan;
        *link = memory;
        run->site->kept->compressions->count++;
    }
    if (plan->feedback && !memory->error) {
        memory->error = compressions_zeros(key->count);
        if (!memory->error)
            return NULL;
    }
    if (!plan->feedback) {
        compressions_forget(memory->error, key->count);
        memory->error = NULL;
    }
    if (!compressions_change(run, memory))
        return NULL;
    memory->plan = *plan;
    return memory;
}

/* Rounds a number of floats up to whole cache lines. Scratch has the
 * compressor's floats, and room for a copy of the layer, which is used, and
 * takes memory, only if the values are not in host memory. */
static size_t compressions_line(size_t floats)
{
    return (floats + 15) / 16 * 16;
}

static size_t compressions_scratch(const struct run *run, int i)
{
    const struct aps_compressed_ops *ops = aps_compressed_ops_of(run->plan);
    const struct aps_matrix *matrix = &run->keys[i].matrix;

    return compressions_line(matrix->count) +
           compressions_line(
               aps_compressed_scratch(ops, run->plan, matrix, &run->ranks));
}

/* Returns the floats of scratch for the messages of all ranks. */
static size_t compressions_messages(const struct run *run)
{
    const struct aps_compressed_ops *ops = aps_compressed_ops_of(run->plan);
    size_t bytes = 0;

    for (int i = 0; i < run->count && ops->message; i++)
        bytes += ops->message(run->plan, &run->keys[i].matrix, &run->ranks);
    /* The messages may have any number of bytes. */
    return compressions_line(
        (size_t)run->site->vcomm->size * bytes / sizeof(float) + 1);
}

/* Makes the exchange for the messages of compressors. Returns NULL if memory is
 * missing. */
static struct aps_compressions *compressions_create(const struct run *run)
{
    struct aps_compressions *compressions = calloc(1, sizeof *compressions);

    if (compressions &&
        aps_exchange_init(&compressions->exchange, run->site->vcomm,
                          APS_TAG_CONTRIBUTION, &compressions->outcome) == 0)
        return compressions;
    free(compressions);
    return NULL;
}

/* Finds the groups that the compressor uses, and their numbers of ranks. */
static void compressions_find_groups(struct run *run)
{
    run->ranks.all = run->site->vcomm->size;
    if (!aps_compressed_ops_of(run->plan)->grouped)
        return;
    run->groups = aps_reductions_groups(run->site->reductions, run->plan);
    run->ranks.groups = run->groups->groups;
    run->ranks.smallest = run->groups->smallest;
    run->ranks.largest = run->groups->largest;
}

/* Local. Makes records and scratch. Returns false if memory is missing. */
static bool compressions_equip(struct run *run)
{
    struct aps_compressions *compressions = run->site->kept->compressions;
    size_t floats = compressions_messages(run);

    if (!compressions)
        compressions = run->site->kept->compressions = compressions_create(run);
    if (!compressions)
        return false;
    if (compressions->generation != run->keys[0].generation ||
        compressions->drops != run->keys[0].drops ||
        (run->keys[0].layer < 0 &&
         compressions->count + run->count > MEMORIES_MAX))
        compressions_clear(compressions);
    compressions->generation = run->keys[0].generation;
    compressions->drops = run->keys[0].drops;
    if (run->groups) {
        run->by_group = aps_group_exchanges_equip(
            &compressions->by_group, run->groups, &compressions->outcome);
        if (!run->by_group)
            return false;
    }
    for (int i = 0; i < run->count; i++) {
        floats += compressions_scratch(run, i);
        run->memories[i] = compressions_get(run, &run->keys[i]);
        run->spares[i] = NULL;
        if (run->plan->feedback)
            run->spares[i] = aps_scratch_pool_take(&compressions->spares,
                                                   run->keys[i].count);
        if (!run->memories[i] || (run->plan->feedback && !run->spares[i]))
            return false;
    }
    if (floats > compressions->scratch_floats) {
        free(compressions->scratch);
        /* aligned_alloc needs a multiple of 64 bytes: `floats` are whole cache
         * lines. */
        compressions->scratch =
            aligned_alloc(64, floats * sizeof *compressions->scratch);
        compressions->scratch_floats = compressions->scratch ? floats : 0;
    }
    return compressions->scratch != NULL;
}

/* --- a call --------------------------------------------------------------- */

static void compressions_present(struct run *run)
{
    float *scratch = run->site->kept->compressions->scratch;

    for (int i = 0; i < run->count; i++) {
        const struct aps_vector *vector = &run->vectors[i];
        const struct memory *memory = run->memories[i];
        const float *in = vector->in;
        float *out = vector->out;

        if (vector->memory != &aps_memory_host) {
            vector->memory->copy_out(scratch, vector->in, vector->n);
            in = out = scratch;
        }
        run->layers[i] = (struct aps_compressed){
            .in = in,
            .out = out,
            .matrix = run->keys[i].matrix,
            .error = memory->error,
            .delta = run->spares[i] ? run->spares[i]->floats : NULL,
            .kept = memory->kept,
            .calls = memory->calls,
            .place = run->keys[i].layer,
            .number = vector->number,
            .scratch = scratch + compressions_line(vector->n),
        };
        scratch += compressions_scratch(run, i);
    }
    run->messages = (unsigned char *)scratch;
}

/* Returns the square of the norm of x[n], or of x[n] + y[n]. */
static double compressions_square(const float *x, const float *y, size_t n)
{
    double square = 0;

    for (size_t i = 0; i < n; i++) {
        const double sum = y ? (double)x[i] + (double)y[i] : (double)x[i];

        square += sum * sum;
    }
    return square;
}

/* Returns the norm over all layers of the call's inputs with their error
 * memory, or of the new error memory. NaN: a layer has no feedback, or was
 * reduced in FP32. */
static double compressions_norm(const struct run *run, bool given)
{
    double square = 0;

    for (int i = 0; i < run->count; i++) {
        const struct aps_compressed *layer = &run->layers[i];
        const float *error = run->memories[i]->error;

        if (!error || layer->fp32_fallback)
            return NAN;
        square +=
            compressions_square(given ? layer->in : error, given ? error : NULL,
                                layer->matrix.count);
    }
    return sqrt(square);
}

/* The layer takes the array with its new error memory, and leaves its old
 * one. */
static void compressions_remember(struct memory *memory,
                                  struct aps_scratch_array *spare)
{
    float *error = memory->error;

    memory->error = spare->floats;
    spare->floats = error;
}

static void compressions_settle(struct run *run)
{
    for (int i = 0; i < run->count; i++) {
        const struct aps_vector *vector = &run->vectors[i];

        if (run->spares[i]) {
            if (!run->layers[i].fp32_fallback)
                compressions_remember(run->memories[i], run->spares[i]);
            run->spares[i]->in_use = false;
        }
        run->memories[i]->calls++;
        if (vector->memory != &aps_memory_host)
            vector->memory->copy_in(vector->out, run->layers[i].out, vector->n);
    }
}

/* Returns the bytes in FP32: the values to their owners, and the sums back. */
static unsigned long long compressions_fp32(const struct run *run)
{
    const size_t ranks = (size_t)run->site->vcomm->size;
    unsigned long long bytes = 0;

    for (int i = 0; i < run->count; i++)
        bytes += 2 * sizeof(float) * run->vectors[i].n * (ranks - 1) / ranks;
    return bytes;
}

int aps_compressions_run(const struct aps_layer_site *site,
                         const struct aps_plan *plan, int count,
                         const struct aps_layer_key keys[],
                         struct aps_vector vectors[], struct aps_cost *cost)
{
    struct run run = {
        .site = site,
        .plan = plan,
        .count = count,
        .keys = keys,
        .vectors = vectors,
    };
    struct aps_compressed_env env = {
        .reductions = site->reductions,
        .vcomm = site->vcomm,
        .plan = plan,
    };
    const unsigned long long before = cost->fp32_bytes;
    double given = NAN;
    int rc;

    compressions_find_groups(&run);
    if (!compressions_equip(&run))
        return MPI_ERR_NO_MEM;
    compressions_present(&run);
    env.exchange = &site->kept->compressions->exchange;
    env.groups = run.groups;
    if (run.by_group) {
        env.group = &run.by_group->group;
        env.peers = &run.by_group->peers;
    }
    env.messages = run.messages;
    site->kept->compressions->outcome = MPI_SUCCESS;
    if (cost->sampled)
        given = compressions_norm(&run, true);
    rc = aps_compressed_ops_of(plan)->run(&env, count, run.layers, cost);
    if (rc != MPI_SUCCESS)
        return rc;
    compressions_settle(&run);
    if (cost->sampled && given > 0)
        cost->residual = compressions_norm(&run, false) / given;
    cost->fp32_bytes = before + compressions_fp32(&run);
    if (plan->compressor.kind != APS_COMPRESSOR_NONE)
        cost->compressed += (unsigned long long)count;
    return MPI_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated job of aps_policy.h: finds a layer's plan, its groups and the
 * state of its scale, and plays its reduction (offline/play.h). */
#include "config.h"

#include "offline/layer_plan.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fpenv.h"
#include "block/plan_wire.h"
#include "layer/scale_states.h"
#include "number/check.h"
#include "offline/play.h"
#include "offline/play_hierarchical.h"
#include "offline/play_ring.h"
#include "steps/sample_budget.h"

/* Calls that are numbered together. */
struct simulation_calls {
    long layer; /* -1 without steps */
    size_t size;
    long number; /* the next one */
};

struct aps_simulation {
    const struct aps_policy *policy;
    int nodes, per_node, ranks;
    struct aps_scale_states states;
    struct simulation_calls *calls;
    size_t numbered; /* length of `calls` */
};

/* The first communicator that rank 0 of a job numbers is MPI_COMM_WORLD
 * (comm/resources.c). */
#define WORLD_NUMBER 0

static const char who[] = "aps_simulation_allreduce";

int aps_simulation_create(const struct aps_policy *policy, int nodes,
                          int ranks_per_node,
                          struct aps_simulation **simulation,
                          struct aps_error *error)
{
    struct aps_simulation *made;

    if (!policy)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "aps_simulation_create: policy is NULL");
    if (nodes < 1 || ranks_per_node < 1 || nodes > INT_MAX / ranks_per_node)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "aps_simulation_create: there are %d nodes of %d "
                             "ranks; both must be at least 1",
                             nodes, ranks_per_node);
    made = calloc(1, sizeof *made);
    if (!made)
        return aps_error_set(error, ENOMEM, NULL, 0, 0, "out of memory");
    made->policy = policy;
    made->nodes = nodes;
    made->per_node = ranks_per_node;
    made->ranks = nodes * ranks_per_node;
    *simulation = made;
    return 0;
}

void aps_simulation_destroy(struct aps_simulation *simulation)
{
    if (!simulation)
        return;
    aps_scale_states_clear(&simulation->states);
    free(simulation->calls);
    free(simulation);
}

/* Returns the number of earlier calls of the layer, and counts this one.
 * Without steps, calls are numbered by classes of their sizes, as in steps.c.
 * Returns -1 if memory is missing. */
static long simulation_number(struct aps_simulation *simulation,
                              const struct aps_plan_key *key)
{
    const size_t size =
        key->layer < 0 ? aps_sample_budget_class(key->count) : key->count;
    struct simulation_calls *calls = simulation->calls;

    for (size_t i = 0; i < simulation->numbered; i++)
        if (calls[i].layer == key->layer && calls[i].size == size)
            return calls[i].number++;
    calls = realloc(calls, (simulation->numbered + 1) * sizeof *calls);
    if (!calls)
        return -1;
    calls[simulation->numbered++] =
        (struct simulation_calls){key->layer, size, 1};
    simulation->calls = calls;
    return 0;
}

/* --- plans that cannot be played --------------------------------------------- */

/* Returns what of a plan the simulation does not play, or NULL. */
static const char *simulation_lacks(const struct aps_plan *plan)
{
    if (!plan->rewrite && plan->rule < 0)
        return "leaves the layer to MPI, whose order of additions is its own: "
               "it is shorter than min_count, or no rule is for it";
    if (!plan->rewrite)
        return "leaves the layer to MPI, whose order of additions is its own: "
               "its rule says fp32; e8m23 is the library's reduction in FP32";
    if (plan->auto_format)
        return "chooses the format while a program runs";
    if (plan->compressor.kind != APS_COMPRESSOR_NONE)
        return "compresses the layer; use aps_layer_compressor_create, or "
               "Compressor";
    if (plan->feedback)
        return "has feedback; use aps_layer_compressor_create, or Compressor";
    if (plan->reduce == APS_REDUCE_AUTO)
        return "measures which reduction is the fastest; name one";
    if ((plan->reduce == APS_REDUCE_HIERARCHICAL ||
         plan->reduce == APS_REDUCE_MASTER) &&
        plan->group != APS_GROUP_NODE && plan->group != APS_GROUP_NUMBER)
        return "groups ranks by hardware; use group: node or a number";
    return NULL;
}

/* --- groups ------------------------------------------------------------------ */

/* Returns the groups of a plan, as group/topology.c finds them, or NULL if memory
 * is missing. The caller frees them. */
static struct aps_play_groups *
simulation_group(const struct aps_simulation *simulation,
                 const struct aps_plan *plan)
{
    const size_t ranks = (size_t)simulation->ranks;
    const bool anywhere =
        plan->group == APS_GROUP_NUMBER && plan->reduce == APS_REDUCE_MASTER;
    const int together = anywhere ? simulation->ranks : simulation->per_node;
    const int most =
        plan->group == APS_GROUP_NUMBER && plan->group_size < together
            ? plan->group_size
            : together;
    struct aps_play_groups *groups =
        calloc(1, sizeof *groups + 4 * ranks * sizeof(int));

    if (!groups)
        return NULL;
    groups->group = (int *)(void *)(groups + 1);
    groups->place = groups->group + ranks;
    groups->size = groups->place + ranks;
    groups->first = groups->size + ranks;
    for (int r = 0; r < simulation->ranks; r++) {
        if (r % together % most == 0)
            groups->first[groups->groups++] = r;
        groups->group[r] = groups->groups - 1;
        groups->place[r] = groups->size[groups->groups - 1]++;
    }
    groups->smallest = groups->largest = groups->size[0];
    for (int g = 1; g < groups->groups; g++) {
        if (groups->size[g] < groups->smallest)
            groups->smallest = groups->size[g];
        if (groups->size[g] > groups->largest)
            groups->largest = groups->size[g];
    }
    return groups;
}

/* --- a reduction ------------------------------------------------------------- */

static void simulation_run(struct aps_play *play)
{
    static void (*const algorithms[APS_REDUCE_KINDS])(struct aps_play *) = {
        [APS_REDUCE_DIRECT] = aps_play_direct,
        [APS_REDUCE_HIERARCHICAL] = aps_play_hierarchical,
        [APS_REDUCE_RING] = aps_play_ring,
        [APS_REDUCE_MASTER] = aps_play_master,
        [APS_REDUCE_GATHER] = aps_play_gather,
    };

    if (play->ranks == 1) { /* MPI copies the values */
        memcpy(play->vectors[0].out, play->vectors[0].in,
               play->vectors[0].n * sizeof(float));
        return;
    }
    aps_wire_of_plan(play->plan, WORLD_NUMBER, &play->wire);
    algorithms[play->plan->reduce](play);
}

/* Reduces again, scaled by APS, the pieces in which a value overflowed. */
static void simulation_redo(struct aps_play *play)
{
    const struct aps_vector all = play->vectors[0];
    struct aps_plan plan = *play->plan;
    const struct aps_plan *before = play->plan;
    size_t begin = 0, length;

    plan.scale = (struct aps_scale){.kind = APS_SCALE_APS};
    play->plan = &plan;
    for (; aps_redo_next(all.state, all.n, &begin, &length); begin += length) {
        struct aps_vector saved;

        for (int r = 0; r < play->ranks; r++) {
            struct aps_vector *vector = &play->vectors[r];

            saved = *vector;
            *vector = (struct aps_vector){
                .in = (const float *)saved.in + begin,
                .out = (float *)saved.out + begin,
                .n = length,
                .memory = saved.memory,
                .number = saved.number,
                .first = saved.first + begin,
            };
        }
        simulation_run(play);
        for (int r = 0; r < play->ranks; r++) {
            struct aps_vector *vector = &play->vectors[r];

            *vector = (struct aps_vector){
                .in = (const float *)vector->in - begin,
                .out = all.out,
                .n = all.n,
                .memory = all.memory,
                .number = all.number,
                .first = all.first,
                .state = all.state,
            };
        }
    }
    play->plan = before;
}

/* Gets the state of the layer's scale, and the exponents of the call. Returns
 * NULL if memory is missing. */
static struct aps_scale_state *
simulation_predict(struct aps_simulation *simulation, struct aps_play *play,
                   const struct aps_layer_key *key)
{
    const struct aps_scale *scale = &play->plan->scale;
    const struct aps_format *format = aps_scale_state_format(play->plan);
    struct aps_scale_state *state;
    struct aps_scale_prediction prediction;
    enum aps_scale_question question;
    double least;

    aps_scale_states_make_room(&simulation->states, scale, 1, key);
    state = aps_scale_states_get(&simulation->states, scale, key);
    if (!state)
        return NULL;
    (void)aps_scale_state_begin(state, key, format, play->ranks, &least);
    question = aps_scale_question(scale, state->memory);
    if (question != APS_QUESTION_NONE) {
        struct aps_scale_moments sum = {0};

        for (int r = 0; r < play->ranks; r++) {
            const struct aps_scale_moments own = aps_scale_moments_of(
                play->vectors[r].in, play->vectors[r].n, question);

            aps_scale_moments_add(&sum, &own);
        }
        aps_scale_learn(scale, state->memory, format, play->ranks, &sum);
    }
    prediction = aps_scale_state_predict(state, play->plan, play->ranks);
    for (int r = 0; r < play->ranks; r++) {
        play->vectors[r].exponent = prediction.exponent;
        play->vectors[r].sum_exponent = prediction.sum_exponent;
    }
    return state;
}

/* Reduces with a scale that keeps a state. */
static int simulation_run_scaled(struct aps_simulation *simulation,
                                 struct aps_play *play,
                                 const struct aps_layer_key *key)
{
    const struct aps_scale *scale = &play->plan->scale;
    const enum aps_overflow on_overflow = aps_scale_on_overflow(scale);
    struct aps_vector *first = &play->vectors[0];
    struct aps_scale_call call = {
        .redo = on_overflow == APS_OVERFLOW_REDO,
        .pieces = calloc(1, aps_redo_bytes(first->n)),
    };
    struct aps_scale_state *state = simulation_predict(simulation, play, key);
    double least;

    if (!state || !call.pieces) {
        free(call.pieces);
        return -1;
    }
    for (int r = 0; r < play->ranks; r++)
        play->vectors[r].state = &call;
    simulation_run(play);
    simulation_redo(play);
    if (on_overflow == APS_OVERFLOW_ZERO && call.record.over &&
        !call.record.nonfinite)
        memset(first->out, 0, first->n * sizeof(float));
    (void)aps_scale_state_end(state, aps_scale_state_format(play->plan),
                              play->ranks, &call.record, &least);
    free(call.pieces);
    return 0;
}

/* True if one group keeps its sums in FP32, so that nothing is rounded. */
static bool simulation_is_exact(const struct aps_play *play)
{
    return play->plan->reduce == APS_REDUCE_HIERARCHICAL &&
           play->plan->node == APS_NODE_FP32 && play->groups->groups == 1;
}

static int simulation_play(struct aps_simulation *simulation,
                           const struct aps_layer_plan *layer,
                           const float *const x[], float *out)
{
    const struct aps_layer_key key = {
        .layer = layer->key.layer,
        .count = layer->key.count,
        .element = layer->key.element,
        .rule = layer->plan.rule,
        .epoch = layer->key.epoch,
        .step = layer->key.step,
        .number = layer->key.step,
    };
    struct aps_play_groups *groups = simulation_group(simulation, &layer->plan);
    struct aps_play *play = calloc(1, sizeof *play);
    const bool grouped = layer->plan.reduce == APS_REDUCE_HIERARCHICAL ||
                         layer->plan.reduce == APS_REDUCE_MASTER;
    struct aps_vector *vectors =
        calloc((size_t)simulation->ranks, sizeof *vectors);
    int result = -1;

    if (!groups || !play || !vectors)
        goto free_play;
    for (int r = 0; r < simulation->ranks; r++)
        vectors[r] = (struct aps_vector){.in = x[r],
                                         .out = out,
                                         .n = key.count,
                                         .memory = &aps_memory_host,
                                         .number = aps_layer_key_number(&key)};
    *play = (struct aps_play){
        .plan = &layer->plan,
        .ranks = simulation->ranks,
        .groups = grouped ? groups : NULL,
        .vectors = vectors,
    };
    if (aps_scale_state_bytes(&layer->plan.scale) > 0 &&
        !simulation_is_exact(play)) {
        result = simulation_run_scaled(simulation, play, &key);
    } else {
        simulation_run(play);
        result = 0;
    }
    if (play->failed)
        result = -1;

free_play:
    free(vectors);
    free(play);
    free(groups);
    return result;
}

int aps_simulation_allreduce(struct aps_simulation *simulation,
                             const struct aps_layer_request *request,
                             const float *const x[], float *out,
                             struct aps_error *error)
{
    struct aps_layer_request numbered;
    struct aps_layer_plan layer;
    const char *lacks;
    fenv_t saved;
    int result;

    if (!simulation || !request || !x || !out)
        return aps_error_set(error, EINVAL, NULL, 0, 0, "%s: %s is NULL", who,
                             !simulation ? "simulation"
                             : !request  ? "request"
                             : !x        ? "x"
                                         : "out");
    for (int r = 0; r < simulation->ranks; r++)
        if (!x[r])
            return aps_error_set(error, EINVAL, NULL, 0, 0, "%s: x[%d] is NULL",
                                 who, r);
    numbered = *request;
    if (request->step == -1)
        numbered.step = 0;
    if (aps_layer_plan_find(who, simulation->policy, &numbered,
                            simulation->ranks, &layer, error) < 0)
        return -1;
    lacks = simulation_lacks(&layer.plan);
    if (lacks)
        return aps_error_set(error, ENOTSUP, NULL, 0, 0,
                             "%s: the policy %s (%zu elements)", who, lacks,
                             layer.key.count);
    if (request->step == -1)
        layer.key.step = simulation_number(simulation, &layer.key);
    aps_fpenv_enter(&saved);
    result =
        layer.key.step < 0 ? -1 : simulation_play(simulation, &layer, x, out);
    aps_fpenv_leave(&saved);
    if (result < 0)
        return aps_error_set(error, ENOMEM, NULL, 0, 0, "%s: out of memory",
                             who);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* States of scales, of layers and of rules, over epochs and desyncs. */
#include "config.h"

#include "layer/scale_states.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "layer/layer.h"
#include "number/parse.h"
#include "scale/history.h"
#include "tests/tap/tap.h"

#define RANKS 4
#define START 6 /* log2 of the first scale */

static struct aps_scale_states states;
static struct aps_format format;

static struct aps_scale backoff(enum aps_scale_scope scope, int window)
{
    return (struct aps_scale){APS_SCALE_BACKOFF,
                              {[APS_BACKOFF_START] = 1 << START,
                               [APS_BACKOFF_MAX] = 1 << START,
                               [APS_BACKOFF_MIN] = 1,
                               [APS_BACKOFF_FACTOR] = 2,
                               [APS_BACKOFF_WINDOW] = window,
                               [APS_BACKOFF_SCOPE] = scope}};
}

/* Makes one call. Returns the exponent that it uses. */
static int call(const struct aps_scale *scale,
                const struct aps_layer_key *layer_key,
                const struct aps_scale_record *record)
{
    struct aps_scale_state *state;
    double least;
    int exponent;

    aps_scale_states_make_room(&states, scale, 1, layer_key);
    state = aps_scale_states_get(&states, scale, layer_key);
    if (!state)
        bail_out("out of memory");
    (void)aps_scale_state_begin(state, layer_key, &format, RANKS, &least);
    exponent = aps_scale_predict(scale, state->memory, &format, RANKS).exponent;
    (void)aps_scale_state_end(state, &format, RANKS, record, &least);
    return exponent;
}

static const struct aps_scale_record well = {.in_max = 1, .sum_max = 4};
static const struct aps_scale_record over = {
    .in_max = 1, .sum_max = 4, .over = true};

static struct aps_layer_key key_of(long layer, int rule, long epoch, long step)
{
    return (struct aps_layer_key){.layer = layer,
                                  .count = 100,
                                  .rule = rule,
                                  .epoch = epoch,
                                  .step = step};
}

/* Returns the number of states. */
static int held(void)
{
    int number = 0;

    for (int i = 0; i < APS_SCALE_STATE_BUCKETS; i++)
        for (const struct aps_scale_state *state = states.buckets[i]; state;
             state = state->next)
            number++;
    return number;
}

static void test_layers(void)
{
    const struct aps_scale scale = backoff(APS_SCOPE_LAYER, 100);
    const struct aps_scale other = backoff(APS_SCOPE_LAYER, 101);
    struct aps_layer_key layer_key = key_of(0, 0, 0, 0);
    struct aps_layer_key counted = key_of(-1, 0, 0, 0);

    ok(call(&scale, &layer_key, &over) == START &&
           call(&scale, &layer_key, &over) == START - 1 &&
           call(&scale, &layer_key, &well) == START - 2,
       "a layer's state learns with every call");
    layer_key = key_of(1, 0, 0, 0);
    ok(call(&scale, &layer_key, &well) == START, "another layer has another");
    ok(call(&scale, &counted, &over) == START,
       "... and so have layers of no step");
    counted.count = 101;
    ok(call(&scale, &counted, &well) == START, "... of other counts");
    counted.element = APS_ELEMENT_BF16;
    ok(call(&scale, &counted, &well) == START, "... or types");
    layer_key = key_of(0, 1, 1, 7);
    ok(call(&scale, &layer_key, &well) == START - 2,
       "a layer's state is kept when another rule takes over");
    ok(call(&other, &layer_key, &well) == START,
       "... but not by another scale");
    ok(call(&scale, &layer_key, &over) == START && held() == 5,
       "... which leaves nothing behind");
    layer_key.generation = 1;
    ok(call(&scale, &layer_key, &well) == START && held() == 5,
       "a desync drops it");
    aps_scale_states_clear(&states);
    ok(held() == 0 && states.count == 0, "all are dropped");
}

static void test_model(void)
{
    const struct aps_scale scale = backoff(APS_SCOPE_MODEL, 100);
    const struct aps_scale other = backoff(APS_SCOPE_MODEL, 101);
    struct aps_layer_key a = key_of(0, 0, 0, 0), b = key_of(1, 0, 0, 0);

    ok(call(&scale, &a, &over) == START && call(&scale, &b, &over) == START &&
           states.count == 1,
       "a rule's state learns nothing within a step");
    a.step = b.step = 1;
    ok(call(&scale, &a, &well) == START - 1 &&
           call(&scale, &b, &well) == START - 1,
       "... and one thing of a step");

    /* In the same step another rule has another state. */
    b.rule = 1;
    ok(call(&scale, &b, &well) == START && states.count == 2,
       "another rule in the same step has a state of its own");
    a.step = b.step = 2;
    ok(call(&scale, &a, &over) == START - 1 && call(&scale, &b, &well) == START,
       "... and keeps it");
    a = key_of(0, 2, 1, 0);
    ok(call(&scale, &a, &well) == START - 2,
       "a rule that takes over goes on with the state, and what it was about "
       "to "
       "learn");
    a = key_of(0, 0, 1, 1);
    ok(call(&scale, &a, &well) == START - 2, "... as a copy");
    a = key_of(0, 3, 2, 0);
    ok(call(&other, &a, &well) == START, "... not by another scale");
    a = key_of(0, 4, 2, 0);
    a.generation = 1;
    ok(call(&scale, &a, &well) == START, "... and not after a desync");
    aps_scale_states_clear(&states);
}

/* Calls without a layer, while no step is known. */
static void test_sizes(void)
{
    const struct aps_scale scale = backoff(APS_SCOPE_MODEL, 100);
    struct aps_layer layer = {.key.layer = -1, .count = 100, .turn = LONG_MIN};
    const struct aps_layer_key first = aps_layer_key_of(&layer);
    struct aps_layer_key next;

    layer.number++;
    layer.turn++;
    next = aps_layer_key_of(&layer);
    ok(call(&scale, &first, &over) == START &&
           call(&scale, &next, &well) == START - 1,
       "a rule's state learns from calls that are alone");
    ok(aps_layer_key_number(&first) != aps_layer_key_number(&next),
       "... which have random bits of their own");
    aps_scale_states_clear(&states);
}

/* Tests formats that are chosen while the program runs. */
static void test_choices(void)
{
    const struct aps_scale layers = backoff(APS_SCOPE_LAYER, 100);
    const struct aps_scale model = backoff(APS_SCOPE_MODEL, 100);
    struct aps_layer_key layer_key = key_of(0, 0, 0, 0);

    layer_key.choice = 1;
    ok(call(&layers, &layer_key, &over) == START &&
           call(&layers, &layer_key, &well) == START - 1,
       "a format's state goes on");
    layer_key.choice = 2;
    ok(call(&layers, &layer_key, &well) == START,
       "a layer's state begins again with another format");
    layer_key.choice = 1;
    ok(call(&layers, &layer_key, &well) == START, "... and with the first one");
    aps_scale_states_clear(&states);
    ok(call(&model, &layer_key, &over) == START, "a rule has a state a format");
    layer_key.step = 1;
    ok(call(&model, &layer_key, &well) == START - 1, "... which goes on");
    layer_key.choice = 2;
    layer_key.step = 2;
    ok(call(&model, &layer_key, &well) == START,
       "... and another format none yet");
    layer_key.choice = 1;
    layer_key.step = 3;
    ok(call(&model, &layer_key, &well) == START - 1,
       "... while the first one keeps its own");
    aps_scale_states_clear(&states);
}

static void test_follows(void)
{
    const struct aps_plan layer = {.scale = backoff(APS_SCOPE_LAYER, 100)};
    const struct aps_plan model = {.scale = backoff(APS_SCOPE_MODEL, 100)};
    const struct aps_layer_key a = key_of(0, 0, 0, 0);
    const struct aps_layer_key b = key_of(1, 0, 0, 0);
    const struct aps_plan compressed = {
        .compressor = {.kind = APS_COMPRESSOR_POWERSGD}};
    const struct aps_layer_key next = key_of(0, 1, 0, 1);
    struct aps_layer_key after = b;

    ok(!aps_layer_key_depends(&layer, &a, &b) &&
           aps_layer_key_depends(&layer, &a, &next),
       "a call follows those of its layer");
    ok(!aps_layer_key_depends(&model, &a, &b) &&
           aps_layer_key_depends(&model, &b, &next),
       "... or those of earlier steps, of whatever rule");
    after.generation = 1;
    ok(!aps_layer_key_depends(&compressed, &a, &b) &&
           aps_layer_key_depends(&compressed, &a, &next) &&
           aps_layer_key_depends(&compressed, &a, &after),
       "by a compressor, those of its layer, and all before a desync");
}

static void test_compressor_follows(void)
{
    const struct aps_plan plan = {.compressor = {APS_COMPRESSOR_TOPK, {0.5}}};
    const struct aps_layer_key a = key_of(0, 0, 0, 0);
    struct aps_layer_key b = key_of(1, 0, 0, 0);

    ok(aps_layer_key_depends(&plan, &a, &a) &&
           !aps_layer_key_depends(&plan, &a, &b),
       "a compressed call follows those of its layer");
    b.drops = 1;
    ok(aps_layer_key_depends(&plan, &a, &b),
       "... and those before MPI_Pcontrol(4), which drops what they left");
    b.drops = 0;
    b.generation = 1;
    ok(aps_layer_key_depends(&plan, &a, &b), "... or before a desync");
}

static void test_most(void)
{
    const struct aps_scale scale = backoff(APS_SCOPE_LAYER, 100);
    struct aps_layer_key layer_key = key_of(-1, 0, 0, 0);

    for (int i = 0; i < APS_SCALE_STATES_MAX; i++) {
        layer_key.count = (size_t)i;
        (void)call(&scale, &layer_key, &over);
    }
    ok(call(&scale, &layer_key, &over) == START - 1 &&
           states.count == APS_SCALE_STATES_MAX,
       "APS_SCALE_STATES_MAX sizes have a state");
    layer_key.layer = 0;
    ok(call(&scale, &layer_key, &over) == START &&
           states.count == APS_SCALE_STATES_MAX,
       "... and any number of layers");
    layer_key.layer = -1;
    layer_key.count = APS_SCALE_STATES_MAX;
    ok(call(&scale, &layer_key, &over) == START && states.count == 1,
       "one size more, and all are dropped");
    layer_key.count = 0;
    ok(call(&scale, &layer_key, &over) == START, "... the first one, too");
    aps_scale_states_clear(&states);
}

int main(void)
{
    if (aps_format_parse("e5m2", &format, NULL) < 0)
        bail_out("no e5m2");
    test_layers();
    test_model();
    test_sizes();
    test_choices();
    test_follows();
    test_compressor_follows();
    test_most();
    return done_testing();
}

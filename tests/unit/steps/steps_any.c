/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps whose calls come in any order. */
#include "config.h"

#include "steps/steps.h"

#include <stdlib.h>

#include "tests/tap/tap.h"
#include "tests/unit/steps/step_trace.h"

/* --- orders --------------------------------------------------------------- */

/* Returns a number below `n`, the same sequence in every run. */
static unsigned draw(unsigned *state, unsigned n)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 16) % n;
}

static void shuffle(struct pattern *step, unsigned *state)
{
    for (long i = step->length - 1; i > 0; i--) {
        const long j = (long)draw(state, (unsigned)i + 1);
        const size_t count = step->counts[i];

        step->counts[i] = step->counts[j];
        step->counts[j] = count;
    }
}

static void shuffled_rounds(struct trace *trace, struct pattern *step, long n,
                            unsigned *state)
{
    for (long i = 0; i < n; i++) {
        shuffle(step, state);
        trace_rounds(trace, step, 1);
    }
}

/* --- found ---------------------------------------------------------------- */

static void test_found(void)
{
    static const struct aps_policy_steps config = {.kind = APS_STEPS_AUTO};
    long slow = 0, lost = 0, wrong = 0, late = 0;

    for (unsigned seed = 0; seed < 200; seed++) {
        struct pattern step = {3, {4096, 2048, 1536}};
        unsigned state = seed;
        struct trace trace;

        trace_begin(&trace, &config, NULL);
        shuffled_rounds(&trace, &step, 40, &state);
        slow += trace.last_inactive > 48;
        lost += trace.desyncs;
        wrong += trace.wrong;
        late += trace.last.step != 39;
        if (!aps_steps_are_any(trace.steps))
            diag("seed %u: order found", seed);
        aps_steps_destroy(trace.steps);
    }
    ok(wrong == 0 && late == 0, "auto: three layers in any order");
    /* By chance three steps that follow each other may have one order. */
    ok(slow <= 40 && lost <= 80,
       "auto: known after 48 calls, unless three steps had one order (%ld of "
       "200 "
       "runs, %ld desyncs)",
       slow, lost);
}

static void test_networks(void)
{
    static const struct aps_policy_steps config = {.kind = APS_STEPS_AUTO};
    static struct pattern step;
    struct trace trace;
    unsigned state = 1;

    pattern_resnet50(&step, 1024);
    trace_begin(&trace, &config, NULL);
    shuffled_rounds(&trace, &step, 20, &state);
    ok(trace.active >= 12 * step.length && trace.wrong == 0,
       "auto: ResNet-50 in any order (%ld of %ld calls, %ld desyncs)",
       trace.active, trace.calls, trace.desyncs);
    ok(aps_steps_layer_count(trace.steps, 0) == 2359296 &&
           trace.last.step == 19,
       "... its layers by size, its steps counted");
    aps_steps_destroy(trace.steps);

    /* Frameworks mostly swap neighbours. */
    pattern_resnet50(&step, 1024);
    trace_begin(&trace, &config, NULL);
    for (long round = 0; round < 20; round++) {
        const long i = (long)draw(&state, (unsigned)step.length - 1);
        const size_t count = step.counts[i];

        trace_rounds(&trace, &step, 1);
        step.counts[i] = step.counts[i + 1];
        step.counts[i + 1] = count;
    }
    ok(trace.wrong == 0 && trace.active >= 12 * step.length,
       "auto: neighbours that swap (%ld of %ld calls, %ld desyncs)",
       trace.active, trace.calls, trace.desyncs);
    aps_steps_destroy(trace.steps);
}

static void test_between(void)
{
    static const struct aps_policy_steps config = {.kind = APS_STEPS_AUTO};
    struct pattern step = {4, {10, 20, 20, 40}};
    struct trace trace;
    unsigned state = 7;

    trace_begin(&trace, &config, NULL);
    shuffled_rounds(&trace, &step, 20, &state);
    trace.desyncs = 0;
    for (int i = 0; i < 5; i++) {
        trace_call(&trace, 99);
        ok(trace.last.outside, "auto: a call of another size between steps");
        shuffled_rounds(&trace, &step, 3, &state);
    }
    ok(trace.desyncs == 0 && trace.last.active && trace.last.step == 34,
       "... loses no step (%ld desyncs, step %ld)", trace.desyncs,
       trace.last.step);
    trace_call(&trace, 10);
    trace_call(&trace, 10);
    ok(trace.last.desync && trace.last.expected == 0,
       "auto: a layer twice in a step is a desync");
    shuffled_rounds(&trace, &step, 3, &state);
    ok(trace.last.active, "... after which the step is found again");
    aps_steps_destroy(trace.steps);
}

/* --- stated --------------------------------------------------------------- */

static void test_stated(void)
{
    static const struct aps_policy_steps configs[] = {
        {.kind = APS_STEPS_AUTO, .any = true},
        {.kind = APS_STEPS_CALLS, .calls = 3, .any = true},
    };

    for (int c = 0; c < 2; c++) {
        const long rounds = c == 0 ? 2 : 1; /* until the step is known */
        struct pattern step = {3, {4096, 2048, 1536}};
        struct trace trace;
        unsigned state = 3;
        bool passes = true, by_layer = true;

        trace_begin(&trace, &configs[c], NULL);
        for (long round = 0; round < 40; round++) {
            shuffle(&step, &state);
            for (long i = 0; i < 3; i++) {
                aps_steps_advance(trace.steps, step.counts[i], false,
                                  &trace.last);
                passes &= !trace.last.desync;
                if (round < rounds)
                    passes &= !trace.last.active;
                else
                    by_layer &=
                        trace.last.layer >= 0 && trace.last.ends == (i == 2) &&
                        trace.last.step == round &&
                        aps_steps_layer_count(trace.steps, trace.last.layer) ==
                            step.counts[i];
            }
        }
        ok(passes, "any: passes until the step is known");
        ok(by_layer, "any: then by layer, and steps end with the last one");
        aps_steps_advance(trace.steps, 77, false, &trace.last);
        ok(trace.last.active && trace.last.layer == -1 && !trace.last.desync,
           "any: a call of another size is active without a layer");
        aps_steps_destroy(trace.steps);
    }
}

/* Buffers that are fused as tensors come. */
static void test_fused(void)
{
    static const struct aps_policy_steps config = {.kind = APS_STEPS_AUTO,
                                                   .any = true};
    struct aps_steps *steps = aps_steps_create(&config, NULL, 0);
    struct aps_step_position position;
    bool passes = true, by_size = true;

    for (size_t i = 0; steps && i < 4096; i++) {
        aps_steps_advance(steps, 1000 + i * i % 9973, false, &position);
        if (i < 1024)
            passes &= !position.active && !position.desync;
        else
            by_size &= position.active && position.any && position.layer == -1;
    }
    ok(steps && passes && by_size,
       "any: calls that repeat no step are active in the end");
    aps_steps_destroy(steps);
}

static void test_one_order(void)
{
    static const struct aps_policy_steps config = {.kind = APS_STEPS_AUTO,
                                                   .any = true};
    const struct pattern step = {4, {10, 40, 20, 40}};
    struct trace trace;
    long layer;
    size_t count;

    trace_begin(&trace, &config, NULL);
    trace_rounds(&trace, &step, 10);
    aps_steps_segment(trace.steps, &trace.last, 0, 40, &layer, &count);
    ok(trace.last.ends && layer == 1 && count == 40,
       "any: layers have the order of their sizes, though the calls have one");
    aps_steps_destroy(trace.steps);
}

/* --- tables --------------------------------------------------------------- */

static void test_table(void)
{
    static struct aps_layer_row rows[] = {
        {.name = "a", .count = 50}, {.name = "b", .count = 5},
        {.name = "c", .count = 20}, {.name = "d", .count = 50},
        {.name = "e", .count = 30},
    };
    static const struct aps_layers table = {.count = 5, .list = rows};
    static const struct aps_policy_steps config = {
        .kind = APS_STEPS_TABLE, .any = true, .backward = true};
    /* Layer b has fewer elements than min_count, and no calls. Sizes, and the
     * layers and steps expected; -1: by size. */
    static const struct {
        size_t count;
        long layer, step;
        bool ends;
    } calls[] = {
        {30, 4, 0, false},   {50, 0, 0, false}, {20, 2, 0, false},
        {50, 3, 0, true},    {50, 0, 1, false}, {80, -1, 1, false},
        {50, 3, 1, false},   {20, 2, 1, false}, {30, 4, 1, true},
        {20, 2, 2, false},   {30, 4, 2, false}, {20, 2, 3, false},
        {999, -1, 3, false}, {50, 0, 3, false}, {30, 4, 3, false},
        {50, 3, 3, true},
    };
    struct aps_steps *steps = aps_steps_create(&config, &table, 10);
    struct aps_step_position position;

    for (size_t i = 0; steps && i < sizeof calls / sizeof *calls; i++) {
        long layer;
        size_t count;

        aps_steps_advance(steps, calls[i].count, false, &position);
        aps_steps_segment(steps, &position, 0, calls[i].count, &layer, &count);
        if (!ok(position.active && !position.desync && position.segments == 1 &&
                    layer == calls[i].layer && position.step == calls[i].step &&
                    position.ends == calls[i].ends && count == calls[i].count,
                "table: call %zu of %zu elements", i, calls[i].count))
            diag("layer %ld, step %ld, ends %d", layer, position.step,
                 position.ends);
    }
    aps_steps_destroy(steps);
}

/* Returns how many generations end when a call is missing in a step of 100, 50 and
 * `count`. */
static long broken(size_t count)
{
    static const struct aps_policy_steps config = {
        .kind = APS_STEPS_CALLS, .calls = 3, .any = true};
    struct pattern step = {3, {100, 50, count}};
    struct trace trace;
    long before;

    trace_begin(&trace, &config, NULL);
    trace_rounds(&trace, &step, 3);
    before = trace.last.generation;
    trace_call(&trace, 100);
    trace_call(&trace, 50);
    trace_rounds(&trace, &step, 3);
    ok(trace.desyncs == 0 && trace.last.active && trace.last.layer >= 0,
       "any: a broken step is found again, without a desync");
    aps_steps_destroy(trace.steps);
    return trace.last.generation - before;
}

/* Sizes of no layer, before any layer has come and then. */
static void test_sizes(void)
{
    static struct aps_layer_row rows[] = {{.name = "a", .count = 50}};
    static const struct aps_layers table = {.count = 1, .list = rows};
    static const struct aps_policy_steps config = {.kind = APS_STEPS_TABLE,
                                                   .any = true};
    struct aps_steps *steps = aps_steps_create(&config, &table, 10);
    struct aps_step_position position;
    bool alone = steps;

    for (long i = 0; alone && i < 5; i++) {
        aps_steps_advance(steps, 80, false, &position);
        alone &= position.active && position.alone && position.number == i;
    }
    ok(alone, "any: calls of no layer are alone while no step is known");
    for (int i = 0; alone && i < 3; i++)
        aps_steps_advance(steps, 50, false, &position);
    aps_steps_advance(steps, 80, false, &position);
    ok(position.layer == -1 && !position.alone && position.step == 3 &&
           position.number == 5,
       "... then they are part of the step, and keep their numbers");
    aps_steps_destroy(steps);
}

/* Long steps, 16 rounds of which the history may not hold. */
static void test_long(long length)
{
    static const struct aps_policy_steps config = {.kind = APS_STEPS_AUTO,
                                                   .any = true};
    static struct pattern step;
    struct trace trace;
    unsigned state = 1;

    step.length = length - 1;
    for (long i = 0; i < step.length; i++)
        step.counts[i] = (size_t)(1000 + i);
    trace_begin(&trace, &config, NULL);
    for (int round = 0; round < 25; round++) {
        if (round == 3) /* breaks the step */
            trace_call(&trace, 1000);
        shuffled_rounds(&trace, &step, 1, &state);
        trace_call(&trace, 1);
    }
    ok(trace.last.active && trace.last.layer >= 0 &&
           aps_steps_layers(trace.steps) == length,
       "any: a step of %ld calls is found again", length);
    aps_steps_destroy(trace.steps);
}

int main(void)
{
    test_found();
    test_networks();
    test_between();
    test_stated();
    test_fused();
    test_one_order();
    test_table();
    ok(broken(20) == 0, "any: ... whose layers differ in their sizes");
    ok(broken(50) == 1, "any: ... or end their generation, if two are equal");
    test_sizes();
    test_long(1000);
    test_long(2000);
    test_long(PATTERN_MAX + 1);
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps that the policy or a layer table gives, and epochs. */
#include "config.h"

#include "steps/steps.h"

#include <stdint.h>

#include "tests/tap/tap.h"
#include "tests/unit/steps/step_trace.h"

/* --- without steps, stated steps ----------------------------------------- */

static void test_none(void)
{
    const struct aps_policy_steps config = {.kind = APS_STEPS_NONE};
    struct trace trace;
    bool numbered = true;
    size_t count;
    long layer;

    trace_begin(&trace, &config, NULL);
    for (long i = 0; i < 1000; i++) {
        aps_steps_advance(trace.steps, i % 2 ? 5000 : 7000, false, &trace.last);
        numbered &= trace.last.active && !trace.last.desync &&
                    trace.last.layer == -1 && trace.last.segments == 1 &&
                    trace.last.step == i / 2;
    }
    ok(numbered, "none: every call is active, numbered among its count's");
    aps_steps_segment(trace.steps, &trace.last, 0, 5000, &layer, &count);
    ok(layer == -1 && count == 5000, "none: one segment, no layer");
    ok(aps_steps_layers(trace.steps) == 0, "none: no layers known");
    aps_steps_destroy(trace.steps);
    aps_steps_destroy(NULL);
}

static void test_calls(void)
{
    const struct pattern step = {5, {10, 20, 30, 30, 50}};
    const struct aps_policy_steps backward = {
        .kind = APS_STEPS_CALLS, .calls = 5, .per_epoch = 3, .backward = true};
    struct trace trace;
    size_t count;
    long layer, before;

    trace_begin_calls(&trace, 5);
    ok(aps_steps_layers(trace.steps) == 5, "calls: known from the start");
    trace_expect(&trace, 5, 0);
    trace_rounds(&trace, &step, 100);
    ok(trace.active == 500 && trace.wrong == 0 && trace.misplaced == 0,
       "calls: active from the first call on, in place");

    /* An unrelated call between two steps. */
    trace_call(&trace, 99);
    ok(!trace.last.active && trace.last.desync && trace.last.step == 100,
       "calls: a call between two steps is a desync");
    ok(trace.last.generation == 1,
       "calls: with which another generation begins");
    trace_rounds(&trace, &step, 1);
    ok(trace.desyncs == 1 && trace.active == 500,
       "calls: passes through until the step was seen");
    trace_expect(&trace, 5, 101);
    trace_rounds(&trace, &step, 100);
    ok(trace.active == 1000 && trace.misplaced == 0 && trace.wrong == 0,
       "calls: then active again; the step that passed is counted");

    /* An unrelated call inside a step, and a missing call. */
    trace_call(&trace, 10);
    trace_call(&trace, 20);
    trace_call(&trace, 99);
    trace_call(&trace, 30);
    trace_call(&trace, 30);
    trace_call(&trace, 50);
    trace_rounds(&trace, &step, 1);
    before = trace.active;
    trace_expect(&trace, 5, 203);
    trace_rounds(&trace, &step, 10);
    ok(trace.active == before + 50 && trace.misplaced == 0,
       "calls: a call too many inside a step costs two steps, both counted");
    trace_call(&trace, 10);
    trace_call(&trace, 20);
    trace_call(&trace, 30);
    trace_call(&trace, 50);
    trace_rounds(&trace, &step, 1);
    before = trace.active;
    trace_expect(&trace, 5, 215);
    trace_rounds(&trace, &step, 10);
    ok(trace.active == before + 50 && trace.misplaced == 0,
       "calls: a missing call, likewise");
    ok(trace.desyncs == 3 && trace.wrong == 0, "calls: three desyncs");
    aps_steps_destroy(trace.steps);

    trace_begin(&trace, &backward, NULL);
    trace_rounds(&trace, &step, 4);
    aps_steps_advance(trace.steps, 10, false, &trace.last);
    aps_steps_segment(trace.steps, &trace.last, 0, 10, &layer, &count);
    ok(trace.last.layer == 0 && layer == 4 && count == 10,
       "calls: backward order counts layers from the end");
    ok(trace.last.step == 4 && trace.last.epoch == 1,
       "calls: three steps an epoch: step 4 is in epoch 1");
    aps_steps_destroy(trace.steps);
}

/* Calls before the first step spoil the record of the first round. */
static void test_calls_prologue(void)
{
    const struct pattern step = {5, {10, 20, 30, 30, 50}};
    struct trace trace;

    trace_begin_calls(&trace, 5);
    trace_call(&trace, 7);
    trace_call(&trace, 8);
    trace_call(&trace, 9);
    trace_expect(&trace, 5, 0);
    trace_rounds(&trace, &step, 100);
    ok(trace.desyncs == 1 && trace.wrong == 0, "prologue: one desync");
    ok(trace.last_inactive - trace.origin < 10,
       "prologue: found after two steps");
    ok(trace.last.active && trace.last.layer == 4,
       "prologue: the step begins where it does");
    ok(trace.last.step == 99, "prologue: steps are counted from its end");
    aps_steps_destroy(trace.steps);
}

static void test_calls_wrong(void)
{
    const struct pattern step = {5, {10, 20, 30, 40, 50}};
    struct trace trace;

    trace_begin_calls(&trace, 4);
    trace_rounds(&trace, &step, 200);
    ok(trace.desyncs == 1 && trace.active == 4 && trace.wrong == 0,
       "calls: a wrong length is dropped after the first round");
    aps_steps_destroy(trace.steps);

    trace_begin_calls(&trace, 10);
    trace_expect(&trace, 10, 0);
    trace_rounds(&trace, &step, 200);
    ok(trace.active == 1000 && trace.misplaced == 0,
       "calls: a multiple of the step is as good");
    aps_steps_destroy(trace.steps);
}

static void test_calls_refused(void)
{
    const struct aps_policy_steps config = {.kind = APS_STEPS_CALLS,
                                            .calls = INT64_MAX - 1};

    ok(!aps_steps_create(&config, NULL, 0),
       "calls: more than memory holds are refused");
}

/* --- epochs -------------------------------------------------------------- */

static void test_epochs(void)
{
    const struct aps_policy_steps config = {.kind = APS_STEPS_AUTO,
                                            .per_epoch = 10};
    static struct pattern step;
    struct trace trace;
    bool right = true;

    pattern_resnet50(&step, 1);
    trace_begin(&trace, &config, NULL);
    for (long i = 0; i < 50 * step.length; i++) {
        trace_call(&trace, step.counts[i % step.length]);
        if (trace.last.active && i >= 3 * step.length)
            right &= trace.last.step == i / step.length &&
                     trace.last.epoch == i / step.length / 10;
    }
    ok(right && trace.last.epoch == 4,
       "epochs: steps count on while the step is searched for");
    /* Every fifth step is disturbed. */
    for (long i = 0; i < 100; i++) {
        trace_rounds(&trace, &step, 1);
        if (i % 5 == 0)
            trace_call(&trace, 4321);
    }
    trace_rounds(&trace, &step, 1);
    ok(trace.last.step == 150 && trace.last.epoch == 15,
       "epochs: and through disturbances (step %ld)", trace.last.step);
    aps_steps_destroy(trace.steps);
}

/* --- layer tables -------------------------------------------------------- */

static struct aps_layer_row table_layers[] = {
    {.name = "a", .count = 9},  {.name = "b", .count = 1},
    {.name = "c", .count = 5},  {.name = "d", .count = 5},
    {.name = "e", .count = 20},
};
static const struct aps_layers table = {.count = 5, .list = table_layers};

static void end_rows(void)
{
    for (size_t i = 0; i < table.count; i++)
        table_layers[i].end = table.count;
}

/* Calls between two steps, like those of an evaluation. */
static void test_outside(void)
{
    static const struct aps_policy_steps config = {.kind = APS_STEPS_TABLE};
    struct trace trace;
    bool right = true;

    trace_begin(&trace, &config, &table);
    trace_call(&trace, 40);
    for (long i = 0; i < 20; i++) {
        const struct aps_step_position before = trace.last;

        for (size_t k = 0; k < 300; k++) {
            trace_call(&trace, 5000 + k % 3);
            right &= trace.last.outside && !trace.last.active;
        }
        trace_call(&trace, 40);
        right &= trace.last.active && !trace.last.outside &&
                 trace.last.step == i + 1 &&
                 trace.last.generation == before.generation;
    }
    ok(right && trace.desyncs == 0,
       "table: calls between steps are outside of them (%ld desyncs)",
       trace.desyncs);
    for (size_t k = 0; k < 100000 && trace.desyncs == 0; k++)
        trace_call(&trace, 5000 + k % 7);
    ok(trace.desyncs == 1, "... but not for ever");
    aps_steps_destroy(trace.steps);
}

struct said {
    size_t count;
    bool active;
    bool desync;
    long segments;
    long layer; /* layer of segment 0, forward */
    long step;
};

static void check_table(const char *name, bool backward, size_t min_count,
                        const struct said *said, size_t n)
{
    const struct aps_policy_steps config = {
        .kind = APS_STEPS_TABLE, .per_epoch = 2, .backward = backward};
    struct aps_steps *steps = aps_steps_create(&config, &table, min_count);
    struct aps_step_position position;
    size_t bad = n;

    for (size_t i = 0; i < n && bad == n; i++) {
        size_t count, sum = 0;
        long layer, first = -1;

        aps_steps_advance(steps, said[i].count, false, &position);
        if (position.active != said[i].active ||
            position.desync != said[i].desync)
            bad = i;
        if (!position.active)
            continue;
        for (long k = 0; k < position.segments; k++) {
            aps_steps_segment(steps, &position, k, said[i].count, &layer,
                              &count);
            if (k == 0)
                first = layer;
            if (layer != first + (backward ? -k : k) || layer < 0 ||
                layer > 4 || count != table_layers[layer].count)
                bad = i;
            sum += count;
        }
        if (sum != said[i].count || position.segments != said[i].segments ||
            first != said[i].layer || position.step != said[i].step ||
            position.epoch != said[i].step / 2)
            bad = i;
    }
    if (!ok(bad == n, "table: %s", name))
        diag("call %zu: active %d desync %d segments %ld layer %ld step %ld",
             bad, position.active, position.desync, position.segments,
             position.layer, position.step);
    aps_steps_destroy(steps);
}

static void test_table(void)
{
    static const struct said single[] = {
        {9, true, false, 1, 0, 0},  {1, true, false, 1, 1, 0},
        {5, true, false, 1, 2, 0},  {5, true, false, 1, 3, 0},
        {20, true, false, 1, 4, 0}, {9, true, false, 1, 0, 1},
        {1, true, false, 1, 1, 1},
    };
    static const struct said fused[] = {
        {10, true, false, 2, 0, 0}, {30, true, false, 3, 2, 0},
        {15, true, false, 3, 0, 1}, {25, true, false, 2, 3, 1},
        {9, true, false, 1, 0, 2},  {31, true, false, 4, 1, 2},
    };
    static const struct said model[] = {
        {40, true, false, 5, 0, 0},
        {40, true, false, 5, 0, 1},
        {40, true, false, 5, 0, 2},
    };
    static const struct said backward[] = {
        {20, true, false, 1, 4, 0}, {10, true, false, 2, 3, 0},
        {10, true, false, 2, 1, 0}, {30, true, false, 3, 4, 1},
        {10, true, false, 2, 1, 1}, {40, true, false, 5, 4, 2},
    };
    /* min_count 6: of the layers 9 1 5 5 20 only the ends have own calls */
    static const struct said unseen[] = {
        {9, true, false, 1, 0, 0},  {20, true, false, 1, 4, 0},
        {9, true, false, 1, 0, 1},  {10, true, false, 2, 2, 1},
        {20, true, false, 1, 4, 1},
    };
    static const struct said unseen_first[] = {
        {20, true, false, 1, 4, 0},
        {9, true, false, 1, 0, 0},
        {20, true, false, 1, 4, 1},
    };
    static const struct said unseen_broken[] = {
        {9, true, false, 1, 0, 0},  {17, false, true, 0, 0, 0},
        {9, false, false, 0, 0, 0}, {20, false, false, 0, 0, 0},
        {9, true, false, 1, 0, 2},
    };
    static const struct said broken[] = {
        {10, true, false, 2, 0, 0},
        {7, false, true, 0, 0, 0}, /* inside a step: it counts */
        {5, false, false, 0, 0, 0},
        {25, false, false, 0, 0, 0},
        {10, false, false, 0, 0, 0},
        {30, false, false, 0, 0, 0},
        {40, true, false, 5, 0, 2},
        {41, false, false, 0, 0, 0}, /* between steps: outside */
        {41, false, false, 0, 0, 0},
        {40, true, false, 5, 0, 3},
        {9, true, false, 1, 0, 4},
        {9, false, true, 0, 0, 0}, /* begins again with this very call */
        {31, false, false, 0, 0, 0},
        {40, true, false, 5, 0, 6},
    };
    static const struct said wrong[] = {
        {41, false, true, 0, 0, 0}, /* the table is wrong, or the order */
        {40, false, false, 0, 0, 0},
        {40, true, false, 5, 0, 1},
    };

    check_table("one call a layer", false, 0, single, 7);
    check_table("fused as it comes", false, 0, fused, 6);
    check_table("the whole model in one call", false, 0, model, 3);
    check_table("last layer first", true, 0, backward, 6);
    check_table("calls that do not tile", false, 0, broken, 14);
    check_table("a first call that does not tile", false, 0, wrong, 3);
    check_table("small layers in calls of their own, which are not seen", false,
                6, unseen, 5);
    check_table("small layers first, not seen", true, 6, unseen_first, 3);
    check_table("small layers seen when they are fused", false, 6, fused, 6);
    check_table("a stranger where small layers are not seen", false, 6,
                unseen_broken, 5);
}

/* The first step has another order. */
static void test_first(void)
{
    static long order[] = {4, 2, 3, 0, 1}; /* 20 5 5 9 1 */
    static const struct aps_layers first = {
        .count = 5, .list = table_layers, .first = order};
    static const struct aps_policy_steps config = {.kind = APS_STEPS_TABLE};
    static const struct {
        size_t count;
        long segments, layers[3], step;
    } calls[] = {
        {30, 3, {4, 2, 3}, 0}, {10, 2, {0, 1}, 0}, {15, 3, {0, 1, 2}, 1},
        {25, 2, {3, 4}, 1},    {9, 1, {0}, 2},
    };
    struct aps_steps *steps = aps_steps_create(&config, &first, 0);
    struct aps_step_position position;

    for (size_t i = 0; steps && i < sizeof calls / sizeof *calls; i++) {
        bool right;

        aps_steps_advance(steps, calls[i].count, false, &position);
        right = position.active && position.segments == calls[i].segments &&
                position.step == calls[i].step;
        for (long k = 0; right && k < position.segments; k++) {
            long layer;
            size_t count;

            aps_steps_segment(steps, &position, k, calls[i].count, &layer,
                              &count);
            right = layer == calls[i].layers[k] &&
                    count == table_layers[layer].count;
        }
        ok(right, "first: call %zu carries the layers of its step", i);
    }
    aps_steps_destroy(steps);

    /* Calls before the first step end its own order. */
    steps = aps_steps_create(&config, &first, 0);
    aps_steps_advance(steps, 7, false, &position);
    ok(position.desync, "first: another call comes before");
    aps_steps_advance(steps, 40, false, &position);
    aps_steps_advance(steps, 9, false, &position);
    ok(position.active && position.layer == 0 && !position.first,
       "... after which the order is that of later steps");
    aps_steps_destroy(steps);
}

/* Three networks alternately: a and b, c and d, e. */
static void test_networks(void)
{
    static const struct {
        size_t count;
        long layer, step;
        bool ends;
    } forward[] =
        {
            {9, 0, 0, false}, {1, 1, 0, true},  {9, 0, 1, false},
            {1, 1, 1, true},  {5, 2, 2, false}, {5, 3, 2, true},
            {10, 2, 3, true}, {20, 4, 4, true}, {20, 4, 5, true},
            {10, 0, 6, true}, {5, 2, 7, false}, {5, 3, 7, true},
        },
      backward[] = {
          {1, 1, 0, false}, {9, 0, 0, true},  {5, 3, 1, false}, {5, 2, 1, true},
          {20, 4, 2, true}, {1, 1, 3, false}, {9, 0, 3, true},
      };
    static const size_t ends[] = {2, 2, 4, 4, 5}, begins[] = {0, 0, 2, 2, 4};
    struct aps_layer_row rows[5];
    const struct aps_layers networks = {.count = 5, .list = rows};

    for (size_t i = 0; i < 5; i++) {
        rows[i] = table_layers[i];
        rows[i].begin = begins[i];
        rows[i].end = ends[i];
    }
    for (int order = 0; order < 2; order++) {
        const struct aps_policy_steps config = {.kind = APS_STEPS_TABLE,
                                                .backward = order == 1};
        struct aps_steps *steps = aps_steps_create(&config, &networks, 0);
        const size_t calls = order ? 7 : 12;
        struct aps_step_position position;

        for (size_t i = 0; steps && i < calls; i++) {
            const size_t count = order ? backward[i].count : forward[i].count;
            const long wanted = order ? backward[i].layer : forward[i].layer;
            long layer;
            size_t part;

            aps_steps_advance(steps, count, false, &position);
            aps_steps_segment(steps, &position, 0, count, &layer, &part);
            if (!ok(position.active && layer == wanted &&
                        position.step ==
                            (order ? backward[i].step : forward[i].step) &&
                        position.ends ==
                            (order ? backward[i].ends : forward[i].ends),
                    "networks: call %zu, %s", i,
                    order ? "last layer first" : "first layer first"))
                diag("active %d layer %ld step %ld ends %d", position.active,
                     layer, position.step, position.ends);
        }
        aps_steps_advance(steps, 7, false, &position);
        ok(position.outside, "networks: a call between two steps");
        aps_steps_destroy(steps);
    }
}

/* Separately numbered calls do not change the numbers of calls of a class. */
static void test_apart(void)
{
    const struct aps_policy_steps none = {.kind = APS_STEPS_NONE};
    struct aps_steps *steps = aps_steps_create(&none, NULL, 1);
    struct aps_step_position position;
    bool good = steps;

    for (long i = 0; good && i < 10; i++) {
        for (int times = 0; times < i % 3; times++)
            aps_steps_advance(steps, 1000, true, &position);
        aps_steps_advance(steps, 1000, false, &position);
        good &= position.active && position.number == i && position.layer == -1;
    }
    ok(good, "none: calls that are numbered apart change no other's number");
    if (steps)
        aps_steps_advance(steps, 1000, true, &position);
    ok(steps && position.active && position.number == 9,
       "none: ... and are numbered themselves");
    aps_steps_destroy(steps);
}

int main(void)
{
    end_rows();
    test_none();
    test_apart();
    test_calls();
    test_calls_prologue();
    test_calls_wrong();
    test_calls_refused();
    test_epochs();
    test_table();
    test_first();
    test_networks();
    test_outside();
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "steps/steps.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steps/period.h"
#include "tests/tap/tap.h"

#define PATTERN_MAX 2048

struct pattern {
    long length;
    size_t counts[PATTERN_MAX];
};

static void add(struct pattern *pattern, size_t count)
{
    if (pattern->length == PATTERN_MAX)
        bail_out("a pattern of more than %d calls", PATTERN_MAX);
    pattern->counts[pattern->length++] = count;
}

static void turn_round(struct pattern *pattern)
{
    for (long i = 0, j = pattern->length - 1; i < j; i++, j--) {
        size_t count = pattern->counts[i];

        pattern->counts[i] = pattern->counts[j];
        pattern->counts[j] = count;
    }
}

/* A sequence of calls, and what was said of it. */
struct trace {
    struct aps_steps *steps;
    long calls;
    long active;
    long desyncs;
    long wrong;         /* active, and the count is not the signature's */
    long misplaced;     /* active, and not where expect() says */
    long last_inactive; /* index of the call */
    struct aps_step_position last;
    /* expect(): from call `origin` on, call i is layer (i - origin) % length
     * of step first_step + (i - origin) / length. */
    long origin;
    long length;
    long first_step;
};

static void begin(struct trace *trace, const struct aps_policy_steps *config,
                  const struct aps_layers *layers)
{
    *trace = (struct trace){.last_inactive = -1};
    trace->steps = aps_steps_create(config, layers, 0);
    if (!trace->steps)
        bail_out("out of memory");
}

static void begin_auto(struct trace *trace)
{
    static const struct aps_policy_steps config = {.kind = APS_STEPS_AUTO};

    begin(trace, &config, NULL);
}

static void begin_calls(struct trace *trace, long calls)
{
    const struct aps_policy_steps config = {.kind = APS_STEPS_CALLS,
                                            .calls = calls};

    begin(trace, &config, NULL);
}

static void expect(struct trace *trace, long length, long first_step)
{
    trace->origin = trace->calls;
    trace->length = length;
    trace->first_step = first_step;
    trace->misplaced = 0;
}

static void call(struct trace *trace, size_t count)
{
    struct aps_step_position *last = &trace->last;
    long since = trace->calls - trace->origin;
    size_t segment;
    long layer;

    aps_steps_advance(trace->steps, count, last);
    trace->desyncs += last->desync;
    if (last->active) {
        trace->active++;
        aps_steps_segment(trace->steps, last, 0, count, &layer, &segment);
        trace->wrong += last->desync || last->segments != 1 ||
                        segment != count || last->layer < 0 ||
                        last->layer >= aps_steps_layers(trace->steps) ||
                        aps_steps_signature(trace->steps, last->layer) != count;
        trace->misplaced +=
            trace->length > 0 &&
            (last->layer != since % trace->length ||
             last->step != trace->first_step + since / trace->length);
    } else {
        trace->last_inactive = trace->calls;
    }
    trace->calls++;
}

static void rounds(struct trace *trace, const struct pattern *pattern, long n)
{
    for (long round = 0; round < n; round++)
        for (long i = 0; i < pattern->length; i++)
            call(trace, pattern->counts[i]);
}

/* --- patterns ------------------------------------------------------------ */

static void make_mlp(struct pattern *pattern, long blocks, bool first_layer)
{
    pattern->length = 0;
    if (first_layer) {
        add(pattern, 784 * 1024);
        add(pattern, 1024);
    }
    for (long i = 0; i < blocks; i++) {
        add(pattern, 1024 * 1024);
        add(pattern, 1024);
    }
    add(pattern, 10 * 1024);
}

static void make_transformer(struct pattern *pattern, long blocks)
{
    static const size_t d = 768;
    const size_t block[12] = {d, d, 3 * d * d, 3 * d, d * d,     d,
                              d, d, 4 * d * d, 4 * d, 4 * d * d, d};

    pattern->length = 0;
    add(pattern, 50257 * d);
    add(pattern, 1024 * d);
    for (long i = 0; i < blocks; i++)
        for (long k = 0; k < 12; k++)
            add(pattern, block[k]);
    add(pattern, d);
    add(pattern, d);
}

/* Blocks of separate query, key, value and output: repetitions nest. */
static void make_nested(struct pattern *pattern, long blocks)
{
    pattern->length = 0;
    add(pattern, 32000 * 4096);
    for (long i = 0; i < blocks; i++) {
        for (long k = 0; k < 4; k++)
            add(pattern, 4096 * 4096);
        for (long k = 0; k < 3; k++)
            add(pattern, 4096 * 11008);
        add(pattern, 4096);
        add(pattern, 4096);
    }
    add(pattern, 4096);
    add(pattern, 32000 * 4096);
}

static void read_resnet50(struct pattern *pattern, size_t min_count)
{
    const char *top = getenv("top_srcdir");
    char path[4096], line[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/config/layers/resnet50-layers.csv",
             top ? top : ".");
    file = fopen(path, "r");
    if (!file)
        bail_out("cannot open %s", path);
    pattern->length = 0;
    while (fgets(line, sizeof line, file)) {
        size_t count;

        if (sscanf(line, "%*d,%*[^,],%zu", &count) == 1 && count >= min_count)
            add(pattern, count);
    }
    fclose(file);
}

/* --- without steps, stated steps ----------------------------------------- */

static void test_none(void)
{
    const struct aps_policy_steps config = {.kind = APS_STEPS_NONE};
    struct trace trace;
    bool numbered = true;
    size_t count;
    long layer;

    begin(&trace, &config, NULL);
    for (long i = 0; i < 1000; i++) {
        aps_steps_advance(trace.steps, i % 2 ? 5000 : 7000, &trace.last);
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

    begin_calls(&trace, 5);
    ok(aps_steps_layers(trace.steps) == 5, "calls: known from the start");
    expect(&trace, 5, 0);
    rounds(&trace, &step, 100);
    ok(trace.active == 500 && trace.wrong == 0 && trace.misplaced == 0,
       "calls: active from the first call on, in place");

    /* A stranger between two steps. */
    call(&trace, 99);
    ok(!trace.last.active && trace.last.desync && trace.last.step == 100,
       "calls: a call between two steps is a desync");
    rounds(&trace, &step, 1);
    ok(trace.desyncs == 1 && trace.active == 500,
       "calls: passes through until the step was seen");
    expect(&trace, 5, 101);
    rounds(&trace, &step, 100);
    ok(trace.active == 1000 && trace.misplaced == 0 && trace.wrong == 0,
       "calls: then active again; the step that passed is counted");

    /* A stranger inside a step, and a call left out. */
    call(&trace, 10);
    call(&trace, 20);
    call(&trace, 99);
    call(&trace, 30);
    call(&trace, 30);
    call(&trace, 50);
    rounds(&trace, &step, 1);
    before = trace.active;
    expect(&trace, 5, 203);
    rounds(&trace, &step, 10);
    ok(trace.active == before + 50 && trace.misplaced == 0,
       "calls: a call too many inside a step costs two steps, both counted");
    call(&trace, 10);
    call(&trace, 20);
    call(&trace, 30);
    call(&trace, 50);
    rounds(&trace, &step, 1);
    before = trace.active;
    expect(&trace, 5, 215);
    rounds(&trace, &step, 10);
    ok(trace.active == before + 50 && trace.misplaced == 0,
       "calls: a call left out, likewise");
    ok(trace.desyncs == 3 && trace.wrong == 0, "calls: three desyncs");
    aps_steps_destroy(trace.steps);

    begin(&trace, &backward, NULL);
    rounds(&trace, &step, 4);
    aps_steps_advance(trace.steps, 10, &trace.last);
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

    begin_calls(&trace, 5);
    call(&trace, 7);
    call(&trace, 8);
    call(&trace, 9);
    expect(&trace, 5, 0);
    rounds(&trace, &step, 100);
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

    begin_calls(&trace, 4);
    rounds(&trace, &step, 200);
    ok(trace.desyncs == 1 && trace.active == 4 && trace.wrong == 0,
       "calls: a length that is none is left after the first round");
    aps_steps_destroy(trace.steps);

    begin_calls(&trace, 10);
    expect(&trace, 10, 0);
    rounds(&trace, &step, 200);
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

/* --- detection ----------------------------------------------------------- */

static void test_detection(void)
{
    const struct pattern step = {4, {10, 20, 30, 20}};
    struct trace trace;

    begin_auto(&trace);
    ok(aps_steps_layers(trace.steps) == 0, "auto: nothing known");
    expect(&trace, 4, 0);
    rounds(&trace, &step, 3);
    ok(trace.active == 0 && trace.desyncs == 0,
       "auto: passes while the pattern is seen and repeated twice");
    ok(aps_steps_layers(trace.steps) == 4, "auto: then the step is known");
    rounds(&trace, &step, 97);
    ok(trace.active == 97 * 4 && trace.wrong == 0,
       "auto: active from the fourth step on");
    ok(trace.misplaced == 0, "auto: layers and steps count from the start");
    aps_steps_destroy(trace.steps);

    begin_auto(&trace);
    call(&trace, 1);
    call(&trace, 2);
    call(&trace, 3);
    expect(&trace, 4, 0);
    rounds(&trace, &step, 200);
    ok(trace.active == 197 * 4 && trace.misplaced == 0 && trace.wrong == 0,
       "auto: calls before the first step shift nothing");
    aps_steps_destroy(trace.steps);

    begin_auto(&trace);
    expect(&trace, 1, 0);
    for (int i = 0; i < 100; i++)
        call(&trace, 25000000);
    ok(trace.active == 97 && trace.misplaced == 0,
       "auto: a step of one call, the whole model");
    aps_steps_destroy(trace.steps);

    begin_auto(&trace);
    for (size_t i = 0; i < 20000; i++)
        call(&trace, 1000 + i);
    ok(trace.active == 0 && trace.desyncs == 0,
       "auto: calls that never repeat pass for ever");
    for (int i = 0; i < 40; i++)
        call(&trace, 0);
    ok(trace.wrong == 0, "auto: empty calls do no harm");
    aps_steps_destroy(trace.steps);
}

/* The longest period, and one beyond it. */
static void test_longest(void)
{
    for (long extra = 0; extra < 2; extra++) {
        struct trace trace;

        begin_auto(&trace);
        for (long i = 0; i < 5 * (APS_PERIOD_MAX + extra); i++)
            call(&trace, 1000 + (size_t)(i % (APS_PERIOD_MAX + extra)));
        ok(trace.active == (extra ? 0 : 2 * APS_PERIOD_MAX) && trace.wrong == 0,
           "auto: a step of %ld calls is %s", APS_PERIOD_MAX + extra,
           extra ? "too long" : "found");
        aps_steps_destroy(trace.steps);
    }
}

/* The step is found in the end, in place, and kept. */
static void check_settles(const char *name, const struct pattern *pattern)
{
    const long steps = 40;
    struct trace trace;
    long locked;

    begin_auto(&trace);
    rounds(&trace, pattern, 5);
    locked = trace.last_inactive + 1;
    diag("%s: step of %ld calls known for good from call %ld on (%.2f steps), "
         "%ld desyncs before",
         name, pattern->length, locked,
         (double)locked / (double)pattern->length, trace.desyncs);
    ok(locked <= 4 * pattern->length && trace.wrong == 0,
       "%s: found within four steps", name);
    expect(&trace, pattern->length, 5);
    rounds(&trace, pattern, steps);
    ok(trace.last_inactive + 1 == locked && trace.wrong == 0 &&
           trace.misplaced == 0 &&
           aps_steps_layers(trace.steps) == pattern->length,
       "%s: then never lost, layers and steps right", name);
    aps_steps_destroy(trace.steps);
}

static void test_networks(void)
{
    static struct pattern pattern;
    char name[64];

    for (long blocks = 3; blocks <= 6; blocks++) {
        for (int first = 0; first < 2; first++) {
            make_mlp(&pattern, blocks, first);
            snprintf(name, sizeof name, "mlp, %s%ld equal blocks",
                     first ? "a first layer and " : "", blocks);
            check_settles(name, &pattern);
            turn_round(&pattern);
            strcat(name, ", backward");
            check_settles(name, &pattern);
        }
    }
    for (size_t min_count = 1; min_count <= 1024; min_count += 1023) {
        read_resnet50(&pattern, min_count);
        if (min_count == 1)
            ok(pattern.length == 161, "resnet-50 has 161 tensors");
        snprintf(name, sizeof name, "resnet-50 from %zu elements", min_count);
        check_settles(name, &pattern);
        turn_round(&pattern);
        strcat(name, ", backward");
        check_settles(name, &pattern);
    }
    static const long depths[] = {2, 6, 12, 24, 48, 96};
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        make_transformer(&pattern, depths[i]);
        snprintf(name, sizeof name, "transformer, %ld blocks of 12", depths[i]);
        check_settles(name, &pattern);
        turn_round(&pattern);
        strcat(name, ", backward");
        check_settles(name, &pattern);
        make_nested(&pattern, depths[i]);
        snprintf(name, sizeof name, "nested, %ld blocks", depths[i]);
        check_settles(name, &pattern);
        turn_round(&pattern);
        strcat(name, ", backward");
        check_settles(name, &pattern);
    }
}

/* Blocks from the very first call on, more than are taken for blocks: the step
 * is mistaken for ever, but what is said of a count is never wrong. */
static void test_limit(void)
{
    struct trace trace;

    begin_auto(&trace);
    for (int step = 0; step < 100; step++) {
        for (int i = 0; i < APS_PERIOD_ROUNDS_WHOLE; i++)
            call(&trace, 1000);
        call(&trace, 2000);
    }
    ok(trace.wrong == 0, "auto: a step mistaken for its blocks predicts right");
    aps_steps_destroy(trace.steps);
}

/* --- interruptions ------------------------------------------------------- */

enum evaluation { DIFFERENT, EQUAL, MANY_EQUAL };

static void check_evaluation(const char *name, const struct pattern *step,
                             long steps, enum evaluation kind)
{
    const long evaluation = kind == DIFFERENT ? 7 : kind == EQUAL ? 5 : 100;
    struct trace trace;
    long active_in_evaluation = 0;
    bool relocked = true;

    begin_auto(&trace);
    for (long epoch = 0; epoch < 6; epoch++) {
        expect(&trace, step->length, epoch * steps);
        rounds(&trace, step, steps);
        if (epoch > 0)
            relocked &= trace.misplaced == 0 &&
                        trace.last_inactive == trace.origin + step->length - 1;
        for (long i = 0; i < evaluation; i++) {
            call(&trace, kind == DIFFERENT ? 5000 + (size_t)i : 5001);
            active_in_evaluation += trace.last.active;
        }
    }
    ok(trace.wrong == 0 && active_in_evaluation == 0,
       "%s, evaluation of %ld %s calls: passes", name, evaluation,
       kind == DIFFERENT ? "different" : "equal");
    ok(relocked, "%s: training is known again after one step, in step", name);
    aps_steps_destroy(trace.steps);
}

static void test_evaluation(void)
{
    static struct pattern step;

    read_resnet50(&step, 1);
    check_evaluation("resnet-50", &step, 20, DIFFERENT);
    check_evaluation("resnet-50", &step, 20, EQUAL);
    check_evaluation("resnet-50", &step, 20, MANY_EQUAL);
    make_mlp(&step, 3, true);
    check_evaluation("mlp", &step, 30, DIFFERENT);
    check_evaluation("mlp", &step, 30, EQUAL);
    check_evaluation("mlp", &step, 30, MANY_EQUAL);
    make_transformer(&step, 12);
    check_evaluation("transformer", &step, 25, DIFFERENT);
}

/* Interrupted before it is trusted: a longer stretch brings it back. */
static void test_early_evaluation(void)
{
    static struct pattern step;
    struct trace trace;

    make_mlp(&step, 3, true);
    begin_auto(&trace);
    rounds(&trace, &step, 8);
    call(&trace, 5000);
    expect(&trace, step.length, 8);
    rounds(&trace, &step, 100);
    ok(trace.last_inactive - trace.origin <= 9 * step.length,
       "an early interruption: known again after as many steps as before");
    ok(trace.misplaced == 0 && trace.wrong == 0, "and in place");
    aps_steps_destroy(trace.steps);

    /* Always early: an epoch is a step then. */
    begin_auto(&trace);
    for (int epoch = 0; epoch < 20; epoch++) {
        rounds(&trace, &step, 8);
        call(&trace, 5000);
    }
    ok(trace.last_inactive < 4 * (8 * step.length + 1) && trace.wrong == 0,
       "epochs of eight steps are taken for steps");
    aps_steps_destroy(trace.steps);
}

/* Layers are frozen or added: another step, for good. */
static void test_phases(void)
{
    static struct pattern first, second;
    struct trace trace;

    make_transformer(&first, 12);
    make_transformer(&second, 6);
    begin_auto(&trace);
    rounds(&trace, &first, 140);
    ok(trace.desyncs < 3 && trace.last.step == 139, "phases: the first");
    rounds(&trace, &second, 100);
    ok(aps_steps_layers(trace.steps) == second.length && trace.last.active &&
           trace.wrong == 0,
       "phases: a shorter step follows");
    diag("phases: known %ld steps after the change",
         (trace.last_inactive - 140 * first.length) / second.length + 1);
    rounds(&trace, &second, 100);
    rounds(&trace, &first, 50);
    ok(aps_steps_layers(trace.steps) == first.length && trace.last.active &&
           trace.wrong == 0,
       "phases: a longer step follows");
    ok(trace.calls - trace.last_inactive > 40 * first.length,
       "phases: soon known");
    aps_steps_destroy(trace.steps);
}

/* --- epochs -------------------------------------------------------------- */

static void test_epochs(void)
{
    const struct aps_policy_steps config = {.kind = APS_STEPS_AUTO,
                                            .per_epoch = 10};
    static struct pattern step;
    struct trace trace;
    bool right = true;

    read_resnet50(&step, 1);
    begin(&trace, &config, NULL);
    for (long i = 0; i < 50 * step.length; i++) {
        call(&trace, step.counts[i % step.length]);
        if (trace.last.active && i >= 3 * step.length)
            right &= trace.last.step == i / step.length &&
                     trace.last.epoch == i / step.length / 10;
    }
    ok(right && trace.last.epoch == 4,
       "epochs: steps count on while the step is searched for");
    /* Every fifth step is disturbed. */
    for (long i = 0; i < 100; i++) {
        rounds(&trace, &step, 1);
        if (i % 5 == 0)
            call(&trace, 4321);
    }
    rounds(&trace, &step, 1);
    ok(trace.last.step == 150 && trace.last.epoch == 15,
       "epochs: and through disturbances (step %ld)", trace.last.step);
    aps_steps_destroy(trace.steps);
}

/* --- layer tables -------------------------------------------------------- */

static struct aps_layer table_layers[] = {
    {"a", 9}, {"b", 1}, {"c", 5}, {"d", 5}, {"e", 20}};
static const struct aps_layers table = {5, table_layers, NULL};

struct said {
    size_t count;
    bool active;
    bool desync;
    long segments;
    long layer; /* of segment 0, forward */
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

        aps_steps_advance(steps, said[i].count, &position);
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
        {41, false, true, 0, 0, 0}, /* between steps */
        {40, false, false, 0, 0, 0},
        {9, true, false, 1, 0, 4},
        {9, false, true, 0, 0, 0}, /* begins anew with this very call */
        {31, false, false, 0, 0, 0},
        {40, true, false, 5, 0, 6},
    };

    check_table("one call a layer", false, 0, single, 7);
    check_table("fused as it comes", false, 0, fused, 6);
    check_table("the whole model in one call", false, 0, model, 3);
    check_table("last layer first", true, 0, backward, 6);
    check_table("calls that do not tile", false, 0, broken, 13);
    check_table("small layers in calls of their own, which are not seen", false,
                6, unseen, 5);
    check_table("small layers first, not seen", true, 6, unseen_first, 3);
    check_table("small layers seen when they are fused", false, 6, fused, 6);
    check_table("a stranger where small layers are not seen", false, 6,
                unseen_broken, 5);
}

/* --- any pattern --------------------------------------------------------- */

static uint64_t random_state = 0x2545F4914F6CDD1D;

static uint32_t next_random(uint32_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 33) % below;
}

static long shortest_period(const struct pattern *pattern)
{
    for (long p = 1; p < pattern->length; p++) {
        bool periodic = pattern->length % p == 0;

        for (long i = p; i < pattern->length && periodic; i++)
            periodic = pattern->counts[i] == pattern->counts[i - p];
        if (periodic)
            return p;
    }
    return pattern->length;
}

static void test_random_patterns(void)
{
    static struct pattern pattern;
    long late = 0, lost = 0, wrong = 0, misplaced = 0, latest = 0;
    const long trials = 3000;

    for (long trial = 0; trial < trials; trial++) {
        uint32_t letters = 1 + next_random(4);
        long length = 1 + next_random(40);
        struct trace trace;
        long p, settled;

        pattern.length = 0;
        for (long i = 0; i < length; i++)
            add(&pattern, 1024 + next_random(letters));
        p = pattern.length = shortest_period(&pattern);
        begin_auto(&trace);
        rounds(&trace, &pattern, 10);
        settled = trace.last_inactive;
        if (settled / p > latest)
            latest = settled / p;
        late += settled >= 4 * p;
        expect(&trace, p, 10);
        rounds(&trace, &pattern, 200);
        lost += trace.last_inactive != settled;
        misplaced += trace.misplaced > 0;
        wrong += trace.wrong > 0;
        aps_steps_destroy(trace.steps);
    }
    ok(wrong == 0, "%ld random patterns: an active call has the right count",
       trials);
    ok(lost == 0, "random patterns: once known, never lost (%ld lost)", lost);
    ok(late == 0, "random patterns: known after four steps (%ld late)", late);
    ok(misplaced == 0, "random patterns: the right step and layer (%ld not)",
       misplaced);
    diag("random patterns: known after %ld steps at the latest", latest + 1);
}

/* Random phases of random patterns: nothing is ever promised wrongly. */
static void test_random_walks(void)
{
    static struct pattern pattern;
    long wrong = 0, active = 0, calls = 0, lost = 0;

    for (long trial = 0; trial < 60; trial++) {
        struct trace trace;
        long stated = next_random(4) == 0 ? 1 + (long)next_random(20) : 0;

        if (stated)
            begin_calls(&trace, stated);
        else
            begin_auto(&trace);
        for (int phase = 0; phase < 20; phase++) {
            long length = 1 + next_random(30);

            pattern.length = 0;
            for (long i = 0; i < length; i++)
                add(&pattern, 1024 + next_random(3));
            rounds(&trace, &pattern, 1 + next_random(60));
        }
        /* At the end one step stays, whatever was before. */
        if (!stated) {
            for (long i = 0; i < 25000; i++)
                call(&trace, i % 50 == 0 ? 9000 : 8000);
            lost += !trace.last.active;
        }
        wrong += trace.wrong;
        active += trace.active;
        calls += trace.calls;
        aps_steps_destroy(trace.steps);
    }
    ok(wrong == 0, "random phases: %ld of %ld calls active, none wrong", active,
       calls);
    ok(lost == 0, "random phases: the last step is found (%ld not)", lost);
}

int main(void)
{
    test_none();
    test_calls();
    test_calls_prologue();
    test_calls_wrong();
    test_calls_refused();
    test_detection();
    test_longest();
    test_networks();
    test_limit();
    test_evaluation();
    test_early_evaluation();
    test_phases();
    test_epochs();
    test_table();
    test_random_patterns();
    test_random_walks();
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps that the library finds in the sequence of counts. */
#include "config.h"

#include "steps/steps.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steps/period.h"
#include "tests/tap/tap.h"
#include "tests/unit/steps/step_trace.h"

/* --- detection ----------------------------------------------------------- */

static void test_detection(void)
{
    const struct pattern step = {4, {10, 20, 30, 20}};
    struct trace trace;

    trace_begin_auto(&trace);
    ok(aps_steps_layers(trace.steps) == 0, "auto: nothing known");
    trace_expect(&trace, 4, 0);
    trace_rounds(&trace, &step, 3);
    ok(trace.active == 0 && trace.desyncs == 0,
       "auto: passes while the pattern is seen and repeated twice");
    ok(aps_steps_layers(trace.steps) == 4, "auto: then the step is known");
    trace_rounds(&trace, &step, 97);
    ok(trace.active == 97 * 4 && trace.wrong == 0,
       "auto: active from the fourth step on");
    ok(trace.misplaced == 0, "auto: layers and steps count from the start");
    aps_steps_destroy(trace.steps);

    trace_begin_auto(&trace);
    trace_call(&trace, 1);
    trace_call(&trace, 2);
    trace_call(&trace, 3);
    trace_expect(&trace, 4, 0);
    trace_rounds(&trace, &step, 200);
    ok(trace.active == 197 * 4 && trace.misplaced == 0 && trace.wrong == 0,
       "auto: calls before the first step shift nothing");
    aps_steps_destroy(trace.steps);

    trace_begin_auto(&trace);
    trace_expect(&trace, 1, 0);
    for (int i = 0; i < 100; i++)
        trace_call(&trace, 25000000);
    ok(trace.active == 97 && trace.misplaced == 0,
       "auto: a step of one call, the whole model");
    aps_steps_destroy(trace.steps);

    trace_begin_auto(&trace);
    for (size_t i = 0; i < 20000; i++)
        trace_call(&trace, 1000 + i);
    ok(trace.active == 0 && trace.desyncs == 0,
       "auto: calls that never repeat pass for ever");
    for (int i = 0; i < 40; i++)
        trace_call(&trace, 0);
    ok(trace.wrong == 0, "auto: empty calls do no harm");
    aps_steps_destroy(trace.steps);
}

/* The longest period, and one beyond it. */
static void test_longest(void)
{
    for (long extra = 0; extra < 2; extra++) {
        struct trace trace;

        trace_begin_auto(&trace);
        for (long i = 0; i < 5 * (APS_PERIOD_MAX + extra); i++)
            trace_call(&trace, 1000 + (size_t)(i % (APS_PERIOD_MAX + extra)));
        ok(trace.active == (extra ? 0 : 2 * APS_PERIOD_MAX) && trace.wrong == 0,
           "auto: a step of %ld calls is %s", APS_PERIOD_MAX + extra,
           extra ? "too long" : "found");
        aps_steps_destroy(trace.steps);
    }
}

/* The library finds the step in the end, with its begin, and keeps it. */
static void check_settles(const char *name, const struct pattern *pattern)
{
    const long steps = 40;
    struct trace trace;
    long locked;

    trace_begin_auto(&trace);
    trace_rounds(&trace, pattern, 5);
    locked = trace.last_inactive + 1;
    diag("%s: step of %ld calls known for good from call %ld on (%.2f steps), "
         "%ld desyncs before",
         name, pattern->length, locked,
         (double)locked / (double)pattern->length, trace.desyncs);
    ok(locked <= 4 * pattern->length && trace.wrong == 0,
       "%s: found within four steps", name);
    trace_expect(&trace, pattern->length, 5);
    trace_rounds(&trace, pattern, steps);
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
            pattern_mlp(&pattern, blocks, first);
            snprintf(name, sizeof name, "mlp, %s%ld equal blocks",
                     first ? "a first layer and " : "", blocks);
            check_settles(name, &pattern);
            pattern_reverse(&pattern);
            strcat(name, ", backward");
            check_settles(name, &pattern);
        }
    }
    for (size_t min_count = 1; min_count <= 1024; min_count += 1023) {
        pattern_resnet50(&pattern, min_count);
        if (min_count == 1)
            ok(pattern.length == 161, "resnet-50 has 161 tensors");
        snprintf(name, sizeof name, "resnet-50 from %zu elements", min_count);
        check_settles(name, &pattern);
        pattern_reverse(&pattern);
        strcat(name, ", backward");
        check_settles(name, &pattern);
    }
    static const long depths[] = {2, 6, 12, 24, 48, 96};
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        pattern_transformer(&pattern, depths[i]);
        snprintf(name, sizeof name, "transformer, %ld blocks of 12", depths[i]);
        check_settles(name, &pattern);
        pattern_reverse(&pattern);
        strcat(name, ", backward");
        check_settles(name, &pattern);
        pattern_nested(&pattern, depths[i]);
        snprintf(name, sizeof name, "nested, %ld blocks", depths[i]);
        check_settles(name, &pattern);
        pattern_reverse(&pattern);
        strcat(name, ", backward");
        check_settles(name, &pattern);
    }
}

/* Blocks from the first call on, more than the library takes for blocks: the
 * step stays wrong, but the results for a count are never wrong. */
static void test_limit(void)
{
    struct trace trace;

    trace_begin_auto(&trace);
    for (int step = 0; step < 100; step++) {
        for (int i = 0; i < APS_PERIOD_ROUNDS_WHOLE; i++)
            trace_call(&trace, 1000);
        trace_call(&trace, 2000);
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
    long active_in_evaluation = 0, desyncs = 0;
    bool relocked = true;

    trace_begin_auto(&trace);
    for (long epoch = 0; epoch < 6; epoch++) {
        trace_expect(&trace, step->length, epoch * steps);
        trace_rounds(&trace, step, steps);
        if (epoch > 0)
            relocked &= trace.misplaced == 0 && trace.desyncs == desyncs &&
                        trace.last_inactive == trace.origin - 1;
        desyncs = trace.desyncs;
        for (long i = 0; i < evaluation; i++) {
            trace_call(&trace, kind == DIFFERENT ? 5000 + (size_t)i : 5001);
            active_in_evaluation += trace.last.active || !trace.last.outside;
        }
    }
    ok(trace.wrong == 0 && active_in_evaluation == 0,
       "%s, evaluation of %ld %s calls: passes", name, evaluation,
       kind == DIFFERENT ? "different" : "equal");
    ok(relocked, "%s: training goes on in step at once, and is never lost",
       name);
    aps_steps_destroy(trace.steps);
}

static void test_evaluation(void)
{
    static struct pattern step;

    pattern_resnet50(&step, 1);
    check_evaluation("resnet-50", &step, 20, DIFFERENT);
    check_evaluation("resnet-50", &step, 20, EQUAL);
    check_evaluation("resnet-50", &step, 20, MANY_EQUAL);
    pattern_mlp(&step, 3, true);
    check_evaluation("mlp", &step, 30, DIFFERENT);
    check_evaluation("mlp", &step, 30, EQUAL);
    check_evaluation("mlp", &step, 30, MANY_EQUAL);
    pattern_transformer(&step, 12);
    check_evaluation("transformer", &step, 25, DIFFERENT);
}

/* Interrupted before the library trusts the step: a longer stretch finds it again. */
static void test_early_evaluation(void)
{
    static struct pattern step;
    struct trace trace;

    pattern_mlp(&step, 3, true);
    trace_begin_auto(&trace);
    trace_rounds(&trace, &step, 8);
    trace_call(&trace, 5000);
    trace_expect(&trace, step.length, 8);
    trace_rounds(&trace, &step, 100);
    ok(trace.last_inactive - trace.origin <= 9 * step.length,
       "an early interruption: known again after as many steps as before");
    ok(trace.misplaced == 0 && trace.wrong == 0, "and in place");
    aps_steps_destroy(trace.steps);

    /* Always early: an epoch becomes a step then. */
    trace_begin_auto(&trace);
    for (int epoch = 0; epoch < 20; epoch++) {
        trace_rounds(&trace, &step, 8);
        trace_call(&trace, 5000);
    }
    ok(trace.last_inactive < 4 * (8 * step.length + 1) && trace.wrong == 0,
       "epochs of eight steps become steps");
    aps_steps_destroy(trace.steps);
}

/* Layers are frozen or added: a permanent change of the step. */
static void test_phases(void)
{
    static struct pattern first, second;
    struct trace trace;

    pattern_transformer(&first, 12);
    pattern_transformer(&second, 6);
    trace_begin_auto(&trace);
    trace_rounds(&trace, &first, 140);
    ok(trace.desyncs < 3 && trace.last.step == 139, "phases: the first");
    trace_rounds(&trace, &second, 100);
    ok(aps_steps_layers(trace.steps) == second.length && trace.last.active &&
           trace.wrong == 0,
       "phases: a shorter step follows");
    diag("phases: known %ld steps after the change",
         (trace.last_inactive - 140 * first.length) / second.length + 1);
    trace_rounds(&trace, &second, 100);
    trace_rounds(&trace, &first, 50);
    ok(aps_steps_layers(trace.steps) == first.length && trace.last.active &&
           trace.wrong == 0,
       "phases: a longer step follows");
    ok(trace.calls - trace.last_inactive > 40 * first.length,
       "phases: soon known");
    aps_steps_destroy(trace.steps);
}

/* Calls between two steps that are another step themselves. */
static void test_other_step(void)
{
    const struct pattern first = {3, {10, 20, 30}};
    const struct pattern second = {4, {11, 21, 31, 41}};
    const struct pattern both = {4, {10, 20, 30, 7}};
    struct trace trace;
    long desyncs;

    trace_begin_auto(&trace);
    trace_rounds(&trace, &first, 140);
    desyncs = trace.desyncs;
    trace_expect(&trace, 4, 140);
    trace_rounds(&trace, &second, 60);
    ok(trace.wrong == 0 && trace.misplaced == 0 && trace.last.active &&
           aps_steps_layers(trace.steps) == 4 && trace.desyncs == desyncs + 1,
       "another step, of other calls: found, and lost once");
    diag("another step: known after %ld of them",
         (trace.last_inactive - trace.origin) / second.length + 1);
    aps_steps_destroy(trace.steps);

    trace_begin_auto(&trace);
    trace_rounds(&trace, &first, 140);
    trace_rounds(&trace, &both, 60);
    ok(trace.wrong == 0 && trace.last.active &&
           aps_steps_layers(trace.steps) == 4,
       "a call more in each step: part of it by now");
    diag("a call more: known after %ld steps",
         (trace.last_inactive - 140 * 3) / 4 + 1);
    aps_steps_destroy(trace.steps);
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

static int compare_counts(const void *a, const void *b)
{
    const size_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* True if the pattern may as well be a shorter step whose order changes: parts
 * of equal length have the same counts. */
static bool is_step_in_any_order(const struct pattern *pattern)
{
    for (long p = 1; p < pattern->length; p++) {
        struct pattern parts = *pattern;
        bool same = pattern->length % p == 0;

        for (long i = 0; i < pattern->length && same; i += p) {
            qsort(parts.counts + i, (size_t)p, sizeof *parts.counts,
                  compare_counts);
            same = memcmp(parts.counts, parts.counts + i,
                          (size_t)p * sizeof *parts.counts) == 0;
        }
        if (same)
            return true;
    }
    return false;
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
            pattern_add(&pattern, 1024 + next_random(letters));
        p = pattern.length = shortest_period(&pattern);
        if (is_step_in_any_order(&pattern))
            continue;
        trace_begin_auto(&trace);
        trace_rounds(&trace, &pattern, 10);
        settled = trace.last_inactive;
        if (settled / p > latest)
            latest = settled / p;
        late += settled >= 4 * p;
        trace_expect(&trace, p, 10);
        trace_rounds(&trace, &pattern, 200);
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

/* Random phases of random patterns: the library never predicts wrongly. */
static void test_random_walks(void)
{
    static struct pattern pattern;
    long wrong = 0, active = 0, calls = 0, lost = 0;

    for (long trial = 0; trial < 60; trial++) {
        struct trace trace;
        long stated = next_random(4) == 0 ? 1 + (long)next_random(20) : 0;

        if (stated)
            trace_begin_calls(&trace, stated);
        else
            trace_begin_auto(&trace);
        for (int phase = 0; phase < 20; phase++) {
            long length = 1 + next_random(30);

            pattern.length = 0;
            for (long i = 0; i < length; i++)
                pattern_add(&pattern, 1024 + next_random(3));
            trace_rounds(&trace, &pattern, 1 + next_random(60));
        }
        /* At the end one step stays, whatever came before. */
        if (!stated) {
            for (long i = 0; i < 25000; i++)
                trace_call(&trace, i % 50 == 0 ? 9000 : 8000);
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
    test_detection();
    test_longest();
    test_networks();
    test_limit();
    test_evaluation();
    test_early_evaluation();
    test_phases();
    test_other_step();
    test_random_patterns();
    test_random_walks();
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code shared by the tests of steps: the calls of one step of several networks,
 * and a sequence of calls with the results of aps_steps_advance.
 */
#ifndef APS_TESTS_UNIT_STEPS_STEP_TRACE_H
#define APS_TESTS_UNIT_STEPS_STEP_TRACE_H

#include <stdbool.h>
#include <stddef.h>

#include "steps/steps.h"

#define PATTERN_MAX 2048

/* The calls of one step. A function that makes a pattern replaces what the
 * pattern held. */
struct pattern {
    long length;
    size_t counts[PATTERN_MAX];
};

void pattern_add(struct pattern *pattern, size_t count);
void pattern_reverse(struct pattern *pattern);
void pattern_mlp(struct pattern *pattern, long blocks, bool first_layer);
void pattern_transformer(struct pattern *pattern, long blocks);
/* Blocks of separate query, key, value and output: repetitions nest. */
void pattern_nested(struct pattern *pattern, long blocks);
/* The layers of config/layers/resnet50-layers.csv from min_count elements. */
void pattern_resnet50(struct pattern *pattern, size_t min_count);

/* A sequence of calls, and the results for them. */
struct trace {
    struct aps_steps *steps;
    long calls;
    long active;
    long desyncs;
    long wrong;         /* active, and the count is not the signature's */
    long misplaced;     /* active, and not where trace_expect() expects it */
    long last_inactive; /* index of the call */
    struct aps_step_position last;
    /* trace_expect(): from call `origin` on, call i is layer (i - origin) % length
     * of step first_step + (i - origin) / length. */
    long origin;
    long length;
    long first_step;
};

/* Begins a trace with its own steps, which the caller destroys. */
void trace_begin(struct trace *trace, const struct aps_policy_steps *config,
                 const struct aps_layers *layers);
void trace_begin_auto(struct trace *trace);
void trace_begin_calls(struct trace *trace, long calls);
void trace_expect(struct trace *trace, long length, long first_step);
void trace_call(struct trace *trace, size_t count);
void trace_rounds(struct trace *trace, const struct pattern *pattern, long n);

#endif

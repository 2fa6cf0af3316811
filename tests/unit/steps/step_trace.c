/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tests/unit/steps/step_trace.h"

#include <stdio.h>

#include "tests/tap/tap.h"
#include "tests/unit/common/sample_table.h"

void pattern_add(struct pattern *pattern, size_t count)
{
    if (pattern->length == PATTERN_MAX)
        bail_out("a pattern of more than %d calls", PATTERN_MAX);
    pattern->counts[pattern->length++] = count;
}

void pattern_reverse(struct pattern *pattern)
{
    for (long i = 0, j = pattern->length - 1; i < j; i++, j--) {
        size_t count = pattern->counts[i];

        pattern->counts[i] = pattern->counts[j];
        pattern->counts[j] = count;
    }
}

void pattern_mlp(struct pattern *pattern, long blocks, bool first_layer)
{
    pattern->length = 0;
    if (first_layer) {
        pattern_add(pattern, 784 * 1024);
        pattern_add(pattern, 1024);
    }
    for (long i = 0; i < blocks; i++) {
        pattern_add(pattern, 1024 * 1024);
        pattern_add(pattern, 1024);
    }
    pattern_add(pattern, 10 * 1024);
}

void pattern_transformer(struct pattern *pattern, long blocks)
{
    static const size_t d = 768;
    const size_t block[12] = {d, d, 3 * d * d, 3 * d, d * d,     d,
                              d, d, 4 * d * d, 4 * d, 4 * d * d, d};

    pattern->length = 0;
    pattern_add(pattern, 50257 * d);
    pattern_add(pattern, 1024 * d);
    for (long i = 0; i < blocks; i++)
        for (long k = 0; k < 12; k++)
            pattern_add(pattern, block[k]);
    pattern_add(pattern, d);
    pattern_add(pattern, d);
}

/* Blocks of separate query, key, value and output: repetitions nest. */
void pattern_nested(struct pattern *pattern, long blocks)
{
    pattern->length = 0;
    pattern_add(pattern, 32000 * 4096);
    for (long i = 0; i < blocks; i++) {
        for (long k = 0; k < 4; k++)
            pattern_add(pattern, 4096 * 4096);
        for (long k = 0; k < 3; k++)
            pattern_add(pattern, 4096 * 11008);
        pattern_add(pattern, 4096);
        pattern_add(pattern, 4096);
    }
    pattern_add(pattern, 4096);
    pattern_add(pattern, 32000 * 4096);
}

void pattern_resnet50(struct pattern *pattern, size_t min_count)
{
    FILE *file = open_resnet50();
    char line[256];

    pattern->length = 0;
    while (fgets(line, sizeof line, file)) {
        size_t count;

        if (sscanf(line, "%*d,%*[^,],%zu", &count) == 1 && count >= min_count)
            pattern_add(pattern, count);
    }
    fclose(file);
}

void trace_begin(struct trace *trace, const struct aps_policy_steps *config,
                 const struct aps_layers *layers)
{
    *trace = (struct trace){.last_inactive = -1};
    trace->steps = aps_steps_create(config, layers, 0);
    if (!trace->steps)
        bail_out("out of memory");
}

void trace_begin_auto(struct trace *trace)
{
    static const struct aps_policy_steps config = {.kind = APS_STEPS_AUTO};

    trace_begin(trace, &config, NULL);
}

void trace_begin_calls(struct trace *trace, long calls)
{
    const struct aps_policy_steps config = {.kind = APS_STEPS_CALLS,
                                            .calls = calls};

    trace_begin(trace, &config, NULL);
}

void trace_expect(struct trace *trace, long length, long first_step)
{
    trace->origin = trace->calls;
    trace->length = length;
    trace->first_step = first_step;
    trace->misplaced = 0;
}

void trace_call(struct trace *trace, size_t count)
{
    struct aps_step_position *last = &trace->last;
    long since = trace->calls - trace->origin;
    size_t segment;
    long layer;

    aps_steps_advance(trace->steps, count, false, last);
    trace->desyncs += last->desync;
    if (last->active) {
        trace->active++;
        aps_steps_segment(trace->steps, last, 0, count, &layer, &segment);
        trace->wrong +=
            last->desync || last->segments != 1 || segment != count ||
            last->layer < 0 || last->layer >= aps_steps_layers(trace->steps) ||
            aps_steps_layer_count(trace->steps, last->layer) != count;
        trace->misplaced +=
            trace->length > 0 &&
            (last->layer != since % trace->length ||
             last->step != trace->first_step + since / trace->length);
    } else {
        trace->last_inactive = trace->calls;
    }
    trace->calls++;
}

void trace_rounds(struct trace *trace, const struct pattern *pattern, long n)
{
    for (long round = 0; round < n; round++)
        for (long i = 0; i < pattern->length; i++)
            trace_call(trace, pattern->counts[i]);
}

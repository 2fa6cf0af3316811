/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "steps/steps.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "steps/sample_budget.h"
#include "steps/period.h"
#include "steps/sizes.h"
#include "steps/walk.h"

/* Calls between two steps that count as an evaluation: more of them are a new
 * kind of step. */
#define OUTSIDE_MAX 16384

/* Calls in any order for which a step is searched, before calls of an unknown
 * step are treated by size: a framework may fuse them as they come. */
#define SEARCHED_MAX 1024

struct aps_steps {
    struct aps_policy_steps config;
    struct aps_walk walk;      /* APS_STEPS_TABLE */
    struct aps_period *period; /* APS_STEPS_AUTO and _CALLS */
    struct aps_sizes *sizes;   /* APS_STEPS_TABLE in any order */
    long large;                /* layers of that table that have calls */
    bool active;
    bool found;    /* a step was known once */
    long searched; /* calls before that */
    long cursor;   /* next call (or layer, with a table) of the step */
    long step;     /* the current one */
    long before; /* its value when the step was found, in case that was wrong */
    uint64_t part; /* elements of the current step so far */
    uint64_t lost; /* elements since the step was lost, and of its own part */
    uint64_t held; /* elements since it was found */
    long outside;  /* calls since the last step ended */
    /* Next number of each class of counts, for calls without a place. Numbers select
     * samples and random bits, so that classes may share one. */
    long numbers[2][APS_SAMPLE_BUDGET_CLASSES]; /* [apart] */
    long generation;                            /* breaks so far */
    long now_step;  /* step of the call just advanced */
    long now_epoch; /* and its epoch */
};

/* Sets the sizes of the table's layers. Returns -1 if memory is missing. */
static int steps_set_sizes(struct aps_steps *steps)
{
    const size_t layers = steps->walk.layers->count;
    size_t *counts = malloc(layers * sizeof *counts);

    steps->sizes = aps_sizes_create(layers);
    for (size_t i = 0; counts && i < layers; i++) {
        counts[i] = steps->walk.layers->list[i].count;
        steps->large += counts[i] >= steps->walk.min_count;
    }
    if (counts && steps->sizes)
        aps_sizes_set(steps->sizes, counts, layers);
    free(counts);
    return counts && steps->sizes ? 0 : -1;
}

struct aps_steps *aps_steps_create(const struct aps_policy_steps *config,
                                   const struct aps_layers *layers,
                                   size_t min_count)
{
    struct aps_steps *steps = calloc(1, sizeof *steps);

    if (!steps)
        return NULL;
    steps->config = *config;
    steps->walk = (struct aps_walk){
        .layers = layers,
        .min_count = min_count,
        .backward = config->backward,
        .first = layers && layers->first,
    };
    /* If the step is stated, the first call begins it. In any order the first
     * step tells the layers' sizes. */
    steps->active = config->kind == APS_STEPS_TABLE ||
                    (config->kind == APS_STEPS_CALLS && !config->any);
    if (config->kind == APS_STEPS_AUTO || config->kind == APS_STEPS_CALLS) {
        steps->period = aps_period_create(config->calls, config->any);
        if (!steps->period)
            goto no_memory;
    }
    if (config->kind == APS_STEPS_TABLE && config->any &&
        steps_set_sizes(steps) < 0)
        goto no_memory;
    return steps;

no_memory:
    aps_steps_destroy(steps);
    errno = ENOMEM;
    return NULL;
}

void aps_steps_destroy(struct aps_steps *steps)
{
    if (!steps)
        return;
    aps_period_destroy(steps->period);
    aps_sizes_destroy(steps->sizes);
    free(steps);
}

/* True if a call that begins no step comes between two steps, as in an
 * evaluation. If no step has ended yet, the table may be wrong. */
static bool steps_is_outside(struct aps_steps *steps,
                             struct aps_step_position *position)
{
    if (!steps->active || steps->cursor > steps->walk.begin ||
        steps->step == 0 || ++steps->outside > OUTSIDE_MAX)
        return false;
    position->outside = true;
    position->step = steps->step;
    return true;
}

static void steps_complete_table(struct aps_steps *steps)
{
    steps->cursor = steps->walk.begin;
    steps->walk.first = false;
    steps->active = true;
    steps->step++;
}

/* A step is one tiling of the table, or of one of its networks. After a desync calls
 * pass through until one of them has been seen again. */
static void steps_advance_table(struct aps_steps *steps, size_t count,
                                struct aps_step_position *position)
{
    struct aps_walk *walk = &steps->walk;
    long cursor = steps->cursor;
    long tiles = 0;

    if (cursor > walk->begin) {
        tiles = aps_walk_continue(walk, count, &cursor);
        if (tiles == 0 && aps_walk_is_over(walk, cursor))
            steps_complete_table(steps);
    }
    if (tiles == 0 && steps->cursor == walk->begin)
        tiles = aps_walk_begin(walk, count, &cursor);
    if (tiles == 0 && steps_is_outside(steps, position))
        return;
    if (tiles == 0) {
        position->desync = steps->active;
        position->expected = aps_walk_count(walk, steps->cursor);
        position->wanted = aps_walk_layer(walk, walk->first, steps->cursor);
        /* A step that was cut short counts; calls between two steps do not. */
        if (steps->active && steps->cursor > walk->begin)
            steps->step++;
        steps->active = walk->first = false;
        tiles = aps_walk_begin(walk, count, &cursor);
    }
    steps->outside = 0;
    position->active = steps->active;
    position->first = walk->first;
    position->segments = tiles;
    position->layer = cursor;
    position->step = steps->step;
    steps->cursor = tiles > 0 ? cursor + tiles : walk->begin;
    if (aps_walk_is_over(walk, steps->cursor))
        steps_complete_table(steps);
}

/* A call of a layer that has come already begins a step, because the one before
 * lacked layers. A call of another size has no layer and no place. */
static void steps_advance_sizes(struct aps_steps *steps, size_t count,
                                struct aps_step_position *position)
{
    long layer = aps_sizes_take(steps->sizes, count);

    position->step = steps->step;
    if (layer < 0 && !aps_sizes_has(steps->sizes, count))
        return;
    if (layer < 0) {
        aps_sizes_begin(steps->sizes);
        layer = aps_sizes_take(steps->sizes, count);
        steps->cursor = 0;
        position->step = ++steps->step;
    }
    position->active = true;
    position->segments = 1;
    position->layer = layer;
    if (++steps->cursor == steps->large) {
        aps_sizes_begin(steps->sizes);
        steps_complete_table(steps);
    }
}

/* Returns the elements of the first `calls` calls of the step. */
static uint64_t steps_elements_of(const struct aps_steps *steps, long calls)
{
    uint64_t sum = 0;

    for (long i = 0; i < calls; i++)
        sum += aps_period_count(steps->period, i);
    return sum;
}

/* The step is known with this very call. Steps are counted during the search
 * too, so that epochs stay correct: by the elements reduced, because an
 * evaluation has few. But a step cut short and the one that was recognised are
 * two at least. */
static void steps_found(struct aps_steps *steps)
{
    const uint64_t whole =
        steps_elements_of(steps, aps_period_length(steps->period));
    long passed = 1 + (steps->cursor > 0);
    uint64_t complete;

    steps->active = steps->found = true;
    steps->cursor = aps_period_cursor(steps->period);
    steps->part = steps_elements_of(steps, steps->cursor);
    complete = steps->lost - steps->part;
    if (whole > 0 && complete / whole > (uint64_t)passed)
        passed = (long)(complete / whole);
    steps->before = steps->step;
    steps->step += passed;
    steps->held = 0;
}

/* A wrong period has counted no steps. */
static void steps_lose(struct aps_steps *steps, enum aps_follow how)
{
    steps->active = false;
    if (how == APS_FOLLOW_BROKEN) {
        steps->lost = steps->part;
    } else {
        steps->step = steps->before;
        steps->lost += steps->held;
        steps->cursor = 0;
    }
}

/* True if a call comes between two detected steps. */
static bool steps_is_between(struct aps_steps *steps, size_t count)
{
    return steps->config.kind == APS_STEPS_AUTO && steps->active &&
           steps->cursor == 0 && steps->outside < OUTSIDE_MAX &&
           aps_period_is_between(steps->period, count);
}

/* Watches such calls, because the program may have changed to another step. */
static void steps_watch(struct aps_steps *steps, size_t count,
                        struct aps_step_position *position)
{
    const bool first = steps->outside++ == 0;

    position->step = steps->step;
    position->outside = true;
    position->expected = aps_period_count(steps->period, 0);
    steps->lost = count + (first ? 0 : steps->lost);
    if (!aps_period_watch(steps->period, count, first))
        return;
    position->outside = false;
    position->desync = true;
    steps->outside = 0;
    steps_found(steps);
}

/* True if layers of the known step have equal sizes. If it breaks they may change
 * places, without a desync where calls without a layer are reduced by their size. */
static bool steps_has_twins(const struct aps_steps *steps)
{
    bool twins = false;

    for (long i = 1; i < aps_period_length(steps->period); i++)
        twins |= aps_period_count(steps->period, i) ==
                 aps_period_count(steps->period, i - 1);
    return twins;
}

static void steps_advance_calls(struct aps_steps *steps, size_t count,
                                struct aps_step_position *position)
{
    if (steps_is_between(steps, count)) {
        steps_watch(steps, count, position);
        return;
    }
    steps->outside = 0;
    if (steps->active) {
        const enum aps_follow how = aps_period_follow(
            steps->period, steps->cursor, count, &position->layer);

        if (how == APS_FOLLOW_FITS) {
            position->active = true;
            position->segments = 1;
            position->step = steps->step;
            steps->held += count;
            steps->part += count;
            if (++steps->cursor == aps_period_length(steps->period)) {
                steps->cursor = 0;
                steps->part = 0;
                steps->step++;
            }
            return;
        }
        position->desync = true;
        steps->generation += steps->config.any && steps_has_twins(steps);
        if (!aps_period_is_any(steps->period))
            position->expected = aps_period_count(steps->period, steps->cursor);
        steps_lose(steps, how);
    }
    position->step = steps->step;
    steps->lost += count;
    if (aps_period_search(steps->period, count))
        steps_found(steps);
}

/* True if a call without a place is treated by its size. */
static bool steps_go_by_size(struct aps_steps *steps)
{
    return steps->config.any &&
           (steps->sizes || steps->found || ++steps->searched > SEARCHED_MAX);
}

/* Gives a call without a place a number of its own. */
static void steps_advance_class(size_t count, long *numbers,
                                struct aps_step_position *position)
{
    position->active = true;
    position->outside = position->desync = false;
    position->segments = 1;
    position->layer = -1;
    position->number = numbers[aps_sample_budget_class(count)]++;
}

void aps_steps_advance(struct aps_steps *steps, size_t count, bool apart,
                       struct aps_step_position *position)
{
    long *numbers = steps->numbers[apart];
    const bool by_size = steps_go_by_size(steps);

    *position = (struct aps_step_position){.layer = -1, .wanted = -1};
    switch (steps->config.kind) {
    case APS_STEPS_NONE:
        steps_advance_class(count, numbers, position);
        position->step = position->number;
        break;
    case APS_STEPS_TABLE:
        if (steps->sizes)
            steps_advance_sizes(steps, count, position);
        else
            steps_advance_table(steps, count, position);
        break;
    case APS_STEPS_AUTO:
    case APS_STEPS_CALLS:
        steps_advance_calls(steps, count, position);
        break;
    }
    position->any = by_size || aps_steps_are_any(steps);
    position->ends = position->active && position->layer >= 0 &&
                     steps->cursor == steps->walk.begin;
    position->alone =
        !position->active &&
        (steps->sizes ? steps->step + steps->cursor == 0 : !steps->active);
    if (!position->active && by_size)
        steps_advance_class(count, numbers, position);
    else
        position->number = position->step;
    position->layers = aps_steps_layers(steps);
    if (steps->config.per_epoch > 0)
        position->epoch = position->step / steps->config.per_epoch;
    steps->generation += position->desync;
    position->generation = steps->generation;
    steps->now_step = position->step;
    steps->now_epoch = position->epoch;
}

void aps_steps_now(const struct aps_steps *steps, long *step, long *epoch)
{
    *step = steps->now_step;
    *epoch = steps->now_epoch;
}

void aps_steps_segment(const struct aps_steps *steps,
                       const struct aps_step_position *position, long i,
                       size_t call_count, long *layer, size_t *count)
{
    *layer = position->layer;
    if (position->layer >= 0 && !position->any)
        *layer =
            steps->walk.layers ? aps_walk_layer(&steps->walk, position->first,
                                                position->layer + i)
            : steps->config.backward ? position->layers - 1 - position->layer
                                     : position->layer;
    *count = steps->config.kind == APS_STEPS_TABLE && *layer >= 0
                 ? steps->walk.layers->list[*layer].count
                 : call_count;
}

bool aps_steps_are_any(const struct aps_steps *steps)
{
    return steps->sizes || (steps->period && aps_period_is_any(steps->period));
}

long aps_steps_layers(const struct aps_steps *steps)
{
    if (steps->config.kind == APS_STEPS_TABLE)
        return (long)steps->walk.layers->count;
    return steps->period ? aps_period_length(steps->period) : 0;
}

long aps_steps_repeats(const struct aps_steps *steps)
{
    return steps->period ? aps_period_repeats(steps->period) : 0;
}

size_t aps_steps_layer_count(const struct aps_steps *steps, long i)
{
    return aps_period_count(steps->period, i);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "trial/format.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/bucket.h"
#include "comm/report.h"
#include "message/agree.h"
#include "trial/format_report.h"

/* Maximum number of layers if counts are their keys. A program whose counts
 * vary from call to call would add layers without end, so all of them are
 * dropped at this number, on all ranks at the same call. */
#define KEYED_BY_COUNT_MAX 4096

/* Record of a layer under one rule. */
struct aps_format_record {
    enum aps_element element;
    struct aps_format_record *next; /* in its bucket */
    long layer;
    size_t count;
    int rule;
    int chosen; /* index of the format; -1: FP32 */
    bool chose; /* true once measurements have chosen a format */
    long due;   /* number of the next call to be measured */
    long pause; /* calls until the next measurement if this one allows no
                   decision */
    struct aps_auto_past past; /* history of the decisions, on rank 0 */
};

/* --- records -------------------------------------------------------------- */

void aps_formats_clear(struct aps_formats *formats)
{
    for (int i = 0; i < 1 << APS_FORMAT_BUCKET_BITS; i++) {
        struct aps_format_record *record, *next;

        for (record = formats->buckets[i]; record; record = next) {
            next = record->next;
            free(record);
        }
        formats->buckets[i] = NULL;
    }
    formats->count = 0;
}

/* Returns the place of the pointer to the layer's record, or the place to
 * insert it. */
static struct aps_format_record **format_link(struct aps_formats *formats,
                                              const struct aps_layer *layer)
{
    const struct aps_layer_key layer_key = aps_layer_key_of(layer);
    const uint64_t key =
        aps_layer_key_hash(&layer_key) + (uint64_t)layer_key.rule;
    struct aps_format_record **link =
        &formats->buckets[aps_bucket(key, APS_FORMAT_BUCKET_BITS)];

    while (*link && ((*link)->layer != layer_key.layer ||
                     (*link)->count != layer_key.count ||
                     (*link)->element != layer_key.element ||
                     (*link)->rule != layer_key.rule))
        link = &(*link)->next;
    return link;
}

/* Returns the layer's record, or NULL if there is none of this generation of the
 * steps. */
static struct aps_format_record *format_find(const struct aps_context *context,
                                             const struct aps_layer *layer)
{
    struct aps_formats *formats = &context->trials->formats;

    return formats->generation == layer->generation
               ? *format_link(formats, layer)
               : NULL;
}

int aps_format_chosen(const struct aps_context *context,
                      const struct aps_layer *layer)
{
    const struct aps_format_record *record = format_find(context, layer);

    return record ? record->chosen : -1;
}

static bool format_is_due(struct aps_context *context,
                          const struct aps_layer *layer)
{
    const struct aps_format_record *record = format_find(context, layer);

    return !record || layer->number >= record->due;
}

/* Makes the layer's record if there is none. Drops records of other generations
 * of the steps. */
static bool format_equip(struct aps_subject *subject)
{
    const struct aps_layer *layer = &subject->layer;
    struct aps_formats *formats = &subject->context->trials->formats;
    struct aps_format_record *record, **link;

    if (format_find(subject->context, layer))
        return true;
    if (formats->generation != layer->generation ||
        (layer->key.layer < 0 && formats->count == KEYED_BY_COUNT_MAX))
        aps_formats_clear(formats);
    formats->generation = layer->generation;
    record = malloc(sizeof *record);
    if (!record)
        return false;
    link = format_link(formats, layer);
    *record = (struct aps_format_record){.layer = layer->key.layer,
                                         .count = layer->count,
                                         .element = layer->key.element,
                                         .rule = layer->plan.rule,
                                         .chosen = -1,
                                         .pause = 1};
    *link = record;
    formats->count++;
    return true;
}

/* --- the decision --------------------------------------------------------- */

/* Returns the error; the reference is finite here. An INF or a NaN in the
 * result, even where the reference is 0, makes the error infinite. */
static double format_error(const struct aps_auto_format *formats,
                           const struct aps_measure *measure)
{
    if (measure->nonfinite > 0)
        return INFINITY;
    return formats->target == APS_TARGET_SNR ? aps_measure_l2(measure)
                                             : aps_measure_mean(measure);
}

/* Returns rank 0's decision: a format, or APS_FORMAT_NONE. Sums that are zero or
 * not finite allow no decision (a loss scaler skips such steps). */
static int format_judge(struct aps_subject *subject,
                        struct aps_format_record *record)
{
    const struct aps_auto_format *formats = subject->layer.plan.auto_format;
    int choice;

    if (subject->context->rank != 0 || !subject->ready)
        return APS_FORMAT_NONE;
    for (size_t i = 0; i < formats->formats.count; i++) {
        const struct aps_measure *measure = &subject->measures[i];

        if (subject->results[i].measured &&
            (measure->compared == 0 || measure->infinite > 0))
            return APS_FORMAT_NONE;
        subject->results[i].error = format_error(formats, measure);
    }
    choice = aps_auto_format_choose(formats, record->chosen, subject->results);
    return record->chose
               ? aps_auto_format_settle(formats, &record->past, record->chosen,
                                        choice, subject->results)
               : choice;
}

/* COLLECTIVE. Returns rank 0's decision on all ranks. */
static int format_agree(const struct aps_subject *subject, int verdict)
{
    struct aps_context *context = subject->context;
    /* Other ranks contribute the minimum, so MAX gives rank 0's decision. */
    int agreed = context->rank == 0 ? verdict : APS_FORMAT_NONE;

    const int count = (int)subject->layer.plan.auto_format->formats.count;
    int rc =
        aps_agree_max(aps_comm_resources_vcomm(context->resources), 1, &agreed);

    if (agreed >= count) { /* not a decision */
        agreed = APS_FORMAT_NONE;
        rc = MPI_ERR_OTHER;
    }
    (void)aps_context_fail(context, subject->ops->what, rc);
    return agreed;
}

/* Applies the decision. Runs on all ranks. */
static void format_take(const struct aps_subject *subject,
                        struct aps_format_record *record, int verdict)
{
    const int before = record->chose ? record->chosen : APS_FORMAT_NONE;

    if (subject->context->rank == 0)
        aps_format_report(subject, before, verdict);
    if (record->chose && verdict != before)
        aps_count(&aps_counters.format_changes, 1);
    record->chosen = verdict;
    record->chose = true;
}

/* Sets which call of the layer is measured next. */
static void format_put_off(const struct aps_layer *layer,
                           struct aps_format_record *record,
                           bool says_something)
{
    const long every = layer->plan.auto_format->every;
    const long wait =
        says_something || record->pause > every ? every : record->pause;

    record->pause = says_something ? 1 : 2 * wait;
    record->due =
        layer->number < LONG_MAX - wait ? layer->number + wait : LONG_MAX;
}

static void format_settle(struct aps_subject *subject, int64_t taken)
{
    struct aps_format_record *record =
        format_find(subject->context, &subject->layer);
    const int verdict = format_agree(subject, format_judge(subject, record));

    (void)taken;
    format_put_off(&subject->layer, record, verdict != APS_FORMAT_NONE);
    if (verdict != APS_FORMAT_NONE)
        format_take(subject, record, verdict);
}

static void format_lose(struct aps_subject *subject)
{
    struct aps_context *context = subject->context;
    const struct aps_layer *layer = &subject->layer;
    struct aps_format_record *record = format_find(context, layer);

    aps_context_event_once(context, &subject->memory->lost,
                           "format: auto: a layer of %zu elements is not "
                           "measured: a rank has no memory for that",
                           layer->count);
    if (record)
        format_put_off(layer, record, false);
    else
        (void)aps_context_fail(context, subject->ops->what, MPI_ERR_NO_MEM);
}

const struct aps_trial_ops aps_trial_format = {
    .kind = APS_TRIAL_FORMAT,
    .what = "format: auto",
    .measured = &aps_counters.formats_measured,
    .ns = &aps_counters.formats_ns,
    .bytes = &aps_counters.formats_bytes,
    .is_due = format_is_due,
    .equip = format_equip,
    .lose = format_lose,
    .settle = format_settle,
};

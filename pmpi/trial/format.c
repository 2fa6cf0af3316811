/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "trial/format.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fpenv.h"
#include "base/message.h"
#include "base/plural.h"
#include "base/real.h"
#include "trial/trial.h"
#include "trial/formats.h"
#include "comm/report.h"
#include "summary/chosen_formats.h"
#include "job/log_event.h"
#include "policy/choice.h"
#include "roundoff/event.h"

/* A layer that is being measured. */
struct measured {
    struct aps_subject subject;
    const struct aps_auto_format *formats;
    struct aps_auto_layer *layer;
    /* On rank 0: the measurements of each format. */
    struct aps_trial trials[APS_SHADOW_MAX];
};

bool aps_auto_format_is_due(const struct aps_context *context,
                            const struct aps_layer *layer)
{
    const struct aps_place place = aps_layer_place(layer);
    const struct aps_auto_layer *known;

    if (!layer->plan.auto_format || layer->key.call != APS_CALL_ALLREDUCE ||
        layer->count > APS_SAMPLE_MAX)
        return false;
    known = aps_auto_formats_find(context->auto_formats, &place);
    return !known || layer->number >= known->due;
}

/* --- reports of rank 0 ---------------------------------------------------- */

static const char *format_name(const struct measured *this, int chosen)
{
    return chosen < 0 ? "fp32"
                      : this->formats->formats.plans[chosen].format.name;
}

/* Returns the error of format i in the unit of the target. */
static double format_quality(const struct measured *this, int i)
{
    const double error = this->trials[i].error;

    return this->formats->target == APS_TARGET_SNR ? -20 * log10(error) : error;
}

static void add_quality(char *line, size_t size, const struct measured *this,
                        const char *key, int i)
{
    char text[APS_REAL_TEXT_MAX];

    if (i < 0 || !this->trials[i].measured)
        return;
    aps_event_add(line, size, key,
                  aps_real_round(format_quality(this, i), 6, text));
}

/* Returns the format with the least error, or -1 if none was measured. */
static int format_best(const struct measured *this)
{
    int best = -1;

    for (int i = 0; i < (int)this->formats->formats.count; i++)
        if (this->trials[i].measured &&
            (best < 0 || this->trials[i].error < this->trials[best].error))
            best = i;
    return best;
}

/* Writes an event to the log: "auto run=... layer=3 ... from=e5m2 to=e4m3
 * snr=24.1". */
static void format_write_event(const struct measured *this, int before)
{
    const struct aps_context *context = this->subject.context;
    const struct aps_layer *layer = &this->subject.layer;
    const struct aps_plan_key *key = &layer->key;
    struct aps_log *log = aps_job_log(context->job, context->rank);
    const char *rule =
        aps_policy_rule_name(context->job->policy, layer->plan.rule);
    const int chosen = this->layer->chosen;
    const char *unit = this->formats->target == APS_TARGET_SNR ? "snr" : "err";
    char line[960] = "auto", target[40], text[32];

    if (!log)
        return;
    aps_event_add(line, sizeof line, "run", context->world->agreed.run);
    aps_event_add(line, sizeof line, "comm", context->label);
    aps_event_add_number(line, sizeof line, "layer", key->layer);
    if (key->name)
        aps_event_add(line, sizeof line, "name", key->name);
    aps_event_add_number(line, sizeof line, "count", (long long)key->count);
    snprintf(text, sizeof text, "%d", layer->plan.rule);
    aps_event_add(line, sizeof line, "rule", rule ? rule : text);
    aps_event_add_number(line, sizeof line, "step", key->step);
    aps_event_add_number(line, sizeof line, "epoch", key->epoch);
    aps_event_add(line, sizeof line, "from",
                  this->layer->chose ? format_name(this, before) : "none");
    aps_event_add(line, sizeof line, "to", format_name(this, chosen));
    aps_auto_format_target(this->formats, target, sizeof target);
    aps_event_add(line, sizeof line, "target", target);
    if (this->layer->chose)
        add_quality(line, sizeof line, this, "was", before);
    if (chosen >= 0) {
        add_quality(line, sizeof line, this, unit, chosen);
        aps_event_add_number(line, sizeof line, "wire_bytes",
                             (long long)this->trials[chosen].bytes);
        aps_event_add_number(line, sizeof line, "fp32_bytes",
                             (long long)this->trials[chosen].fp32_bytes);
    } else if (format_best(this) >= 0) {
        aps_event_add(line, sizeof line, "best",
                      format_name(this, format_best(this)));
        add_quality(line, sizeof line, this, unit, format_best(this));
    }
    aps_job_log_event(log, 0, line);
}

/* Prints "MPI_COMM_WORLD: layer 3 (conv1), 4096 elements, step 500: e4m3
 * instead of e5m2, with snr 24.1dB (target snr 20dB)". */
static void format_tell(const struct measured *this, int before)
{
    static atomic_ullong times, left;
    const struct aps_plan_key *key = &this->subject.layer.key;
    const int chosen = this->layer->chosen;
    const int shown = chosen >= 0 ? chosen : format_best(this);
    char target[40], layer[160] = "", quality[192] = "", others[80] = "";
    char none[96];
    unsigned long long untold;

    if (!this->subject.context->job->options.summary ||
        this->subject.context->job->options.summary_file)
        return;
    if (!aps_message_is_due(atomic_fetch_add(&times, 1) + 1)) {
        atomic_fetch_add(&left, 1);
        aps_count(&aps_counters.formats_untold, 1);
        return;
    }
    untold = atomic_exchange(&left, 0);
    if (untold > 0)
        snprintf(others, sizeof others,
                 "; %llu such line%s left out since the previous one", untold,
                 untold == 1 ? " was" : "s were");
    if (key->layer >= 0)
        snprintf(layer, sizeof layer, "layer %ld%s%.100s%s, ", key->layer,
                 key->name ? " (" : "", key->name ? key->name : "",
                 key->name ? ")" : "");
    snprintf(
        none, sizeof none,
        ", since none meets the target, by its margin of %g dB, with fewer "
        "bytes; the best is ",
        this->formats->margin);
    if (shown >= 0)
        snprintf(quality, sizeof quality, "%s%s %s %.4g%s",
                 chosen < 0 ? none : ", ",
                 chosen < 0 ? format_name(this, shown) : "with",
                 this->formats->target == APS_TARGET_SNR ? "snr" : "err",
                 format_quality(this, shown),
                 this->formats->target == APS_TARGET_SNR ? "dB" : "");
    aps_message(
        -1, "%s: %s%zu elements, step %ld: %s%s%s%s (target %s)%s",
        this->subject.context->label, layer, key->count, key->step,
        format_name(this, chosen), this->layer->chose ? " instead of " : "",
        this->layer->chose ? format_name(this, before) : "", quality,
        aps_auto_format_target(this->formats, target, sizeof target), others);
}

/* Records the choice for the summary and for the policy that is written at the
 * end. */
static void format_note(const struct measured *this)
{
    const struct aps_layer *layer = &this->subject.layer;
    const int chosen = this->layer->chosen;
    struct aps_chosen_format note = {
        .generation = layer->generation,
        .layer = {.rule = layer->plan.rule,
                  .layer = layer->key.layer,
                  .count = layer->count,
                  .name = layer->key.name,
                  .chosen = chosen},
    };

    memcpy(note.comm, this->subject.context->label, sizeof note.comm);
    if (chosen >= 0) {
        note.layer.error = this->trials[chosen].error;
        note.layer.wire_bytes = this->trials[chosen].bytes;
        note.layer.fp32_bytes = this->trials[chosen].fp32_bytes;
    }
    aps_chosen_formats_note(&note);
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

/* Returns rank 0's decision. Sums that are zero or not finite allow no decision
 * (a loss scaler skips such steps). */
static int format_judge(struct measured *this)
{
    const struct aps_subject *subject = &this->subject;
    struct aps_auto_layer *layer = this->layer;
    int choice;

    if (subject->context->rank != 0 || !subject->ready)
        return APS_VERDICT_NONE;
    for (size_t i = 0; i < this->formats->formats.count; i++) {
        const struct aps_candidate_result *result = &subject->results[i];

        if (result->measured &&
            (result->measure.compared == 0 || result->measure.infinite > 0))
            return APS_VERDICT_NONE;
        this->trials[i] = (struct aps_trial){
            .measured = result->measured,
            .error = format_error(this->formats, &result->measure),
            .bytes = result->wire_bytes,
            .fp32_bytes = result->fp32_bytes,
        };
    }
    choice = aps_auto_format_choose(this->formats, layer->chosen, this->trials);
    return layer->chose
               ? aps_auto_format_settle(this->formats, &layer->past,
                                        layer->chosen, choice, this->trials)
               : choice;
}

/* Applies the decision. Runs on all ranks. */
static void format_take(struct measured *this, int verdict)
{
    struct aps_auto_layer *layer = this->layer;
    const int before = layer->chosen;
    const bool changes = !layer->chose || verdict != before;

    layer->chosen = verdict;
    if (this->subject.context->rank == 0) {
        format_note(this);
        if (changes) {
            format_write_event(this, before);
            format_tell(this, before);
        }
    }
    if (layer->chose && changes)
        aps_count(&aps_counters.format_changes, 1);
    layer->chose = true;
}

/* Sets which call of the layer is measured next. */
static void format_put_off(struct measured *this, bool says_something)
{
    struct aps_auto_layer *layer = this->layer;
    const long every = this->formats->every;
    const long number = this->subject.layer.number;
    long wait = every;

    if (!says_something) {
        wait = layer->pause < every ? layer->pause : every;
        layer->pause = wait < every ? 2 * wait : every;
    } else {
        layer->pause = 1;
    }
    layer->due = number < LONG_MAX - wait ? number + wait : LONG_MAX;
}

/* --- one layer ------------------------------------------------------------ */

/* COLLECTIVE. Measures all formats, one after the other, and applies the
 * decision. */
static void format_try(struct measured *this)
{
    struct aps_context *context = this->subject.context;
    fenv_t environment;
    int64_t begin = aps_clock_ns(CLOCK_MONOTONIC);
    int verdict;

    aps_fpenv_enter(&environment);
    aps_candidates_measure(&this->subject);
    verdict = aps_auto_formats_agree(context, format_judge(this));
    format_put_off(this, verdict != APS_VERDICT_NONE);
    if (verdict != APS_VERDICT_NONE)
        format_take(this, verdict);
    aps_fpenv_leave(&environment);
    aps_count(&aps_counters.formats_measured, 1);
    aps_count(&aps_counters.formats_ns,
              (unsigned long long)(aps_clock_ns(CLOCK_MONOTONIC) - begin));
}

void aps_auto_format_run(struct aps_context *context, const char *function,
                         const struct aps_layer *layer)
{
    struct aps_auto_formats *all = context->auto_formats;
    const struct aps_place place = aps_layer_place(layer);
    struct measured this = {
        .subject = {.context = context,
                    .candidates = &all->candidates,
                    .plans = &layer->plan.auto_format->formats,
                    .what = "format: auto",
                    .function = function,
                    .layer = *layer},
        .formats = layer->plan.auto_format,
        .layer = aps_auto_formats_get(all, &place),
    };
    float *copy = NULL;

    if (layer->memory != &aps_memory_host) {
        copy = aps_layer_copy(layer);
        this.subject.layer.in = copy;
        this.subject.layer.memory = &aps_memory_host;
    }
    if (aps_candidates_equip(context, &all->candidates, layer->count,
                             this.layer && this.subject.layer.in)) {
        format_try(&this);
    } else {
        aps_context_event_once(context, &all->lost,
                               "format: auto: a layer of %zu elements is not "
                               "measured: a rank has no memory for that",
                               layer->count);
        if (this.layer)
            format_put_off(&this, false);
        else
            (void)aps_context_fail(context, "format: auto", MPI_ERR_NO_MEM);
    }
    free(copy);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "trial/format_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "base/print.h"
#include "base/real.h"
#include "job/log_event.h"
#include "roundoff/event.h"
#include "summary/chosen_formats.h"

static const struct aps_auto_format *
report_formats(const struct aps_subject *subject)
{
    return subject->layer.plan.auto_format;
}

static bool report_is_snr(const struct aps_subject *subject)
{
    return report_formats(subject)->target == APS_TARGET_SNR;
}

static const char *report_unit(const struct aps_subject *subject)
{
    return report_is_snr(subject) ? "snr" : "err";
}

static const char *report_name(const struct aps_subject *subject, int chosen)
{
    if (chosen == APS_FORMAT_NONE)
        return "none";
    return chosen < 0 ? "fp32" : subject->plans->plans[chosen].format.name;
}

/* Returns the error of format i in the unit of the target. */
static double report_quality(const struct aps_subject *subject, int i)
{
    const double error = subject->results[i].error;

    return report_is_snr(subject) ? -20 * log10(error) : error;
}

static void add_quality(char *line, size_t size,
                        const struct aps_subject *subject, const char *key,
                        int i)
{
    char text[APS_REAL_TEXT_MAX];

    if (i < 0 || !subject->results[i].measured)
        return;
    aps_event_add(line, size, key,
                  aps_real_round(report_quality(subject, i), 6, text));
}

/* Returns the format with the least error, or -1 if none was measured. */
static int report_best(const struct aps_subject *subject)
{
    const struct aps_trial *results = subject->results;
    int best = -1;

    for (int i = 0; i < (int)subject->plans->count; i++)
        if (results[i].measured &&
            (best < 0 || results[i].error < results[best].error))
            best = i;
    return best;
}

/* Writes an event to the log: "auto run=... layer=3 ... from=e5m2 to=e4m3
 * snr=24.1". */
static void report_write_event(const struct aps_subject *subject, int before,
                               int chosen)
{
    const struct aps_context *context = subject->context;
    const struct aps_layer *layer = &subject->layer;
    const struct aps_plan_key *key = &layer->key;
    struct aps_log *log = aps_job_log(context->job, context->rank);
    const char *rule =
        aps_policy_rule_name(context->job->policy, layer->plan.rule);
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
    aps_event_add(line, sizeof line, "from", report_name(subject, before));
    aps_event_add(line, sizeof line, "to", report_name(subject, chosen));
    aps_auto_format_target(report_formats(subject), target, sizeof target);
    aps_event_add(line, sizeof line, "target", target);
    add_quality(line, sizeof line, subject, "was", before);
    if (chosen >= 0) {
        add_quality(line, sizeof line, subject, report_unit(subject), chosen);
        aps_event_add_number(line, sizeof line, "wire_bytes",
                             (long long)subject->results[chosen].bytes);
        aps_event_add_number(line, sizeof line, "fp32_bytes",
                             (long long)subject->results[chosen].fp32_bytes);
    } else if (report_best(subject) >= 0) {
        aps_event_add(line, sizeof line, "best",
                      report_name(subject, report_best(subject)));
        add_quality(line, sizeof line, subject, report_unit(subject),
                    report_best(subject));
    }
    aps_job_log_event(log, 0, line);
}

/* Prints "MPI_COMM_WORLD: layer 3 (conv1), 4096 elements, step 500: e4m3
 * instead of e5m2, with snr 24.1dB (target snr 20dB)". */
static void report_tell(const struct aps_subject *subject, int before,
                        int chosen)
{
    static atomic_ullong times, left;
    const struct aps_plan_key *key = &subject->layer.key;
    const int shown = chosen >= 0 ? chosen : report_best(subject);
    char target[40], layer[160] = "", quality[192] = "", others[80] = "";
    char none[96];
    unsigned long long untold;

    if (!subject->context->job->options.summary ||
        subject->context->job->options.summary_file)
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
    aps_print(
        none, sizeof none,
        ", since none meets the target, by its margin of %g dB, with fewer "
        "bytes; the best is ",
        report_formats(subject)->margin);
    if (shown >= 0)
        aps_print(quality, sizeof quality, "%s%s %s %.4g%s",
                  chosen < 0 ? none : ", ",
                  chosen < 0 ? report_name(subject, shown) : "with",
                  report_unit(subject), report_quality(subject, shown),
                  report_is_snr(subject) ? "dB" : "");
    aps_message(
        -1, "%s: %s%zu elements, step %ld: %s%s%s%s (target %s)%s",
        subject->context->label, layer, key->count, key->step,
        report_name(subject, chosen),
        before != APS_FORMAT_NONE ? " instead of " : "",
        before != APS_FORMAT_NONE ? report_name(subject, before) : "", quality,
        aps_auto_format_target(report_formats(subject), target, sizeof target),
        others);
}

/* Records the choice for the summary and for the policy that is written at the
 * end. */
static void report_note(const struct aps_subject *subject, int chosen)
{
    const struct aps_layer *layer = &subject->layer;
    struct aps_chosen_format note = {
        .generation = layer->generation,
        .layer = {.rule = layer->plan.rule,
                  .layer = layer->key.layer,
                  .count = layer->count,
                  .name = layer->key.name,
                  .chosen = chosen},
    };

    memcpy(note.comm, subject->context->label, sizeof note.comm);
    if (chosen >= 0) {
        note.layer.error = subject->results[chosen].error;
        note.layer.wire_bytes = subject->results[chosen].bytes;
        note.layer.fp32_bytes = subject->results[chosen].fp32_bytes;
    }
    aps_chosen_formats_note(&note);
}

void aps_format_report(const struct aps_subject *subject, int before,
                       int chosen)
{
    report_note(subject, chosen);
    if (chosen == before)
        return;
    report_write_event(subject, before, chosen);
    report_tell(subject, before, chosen);
}

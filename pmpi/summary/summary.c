/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "summary/summary.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fpenv.h"
#include "base/message.h"
#include "base/plural.h"
#include "base/print.h"
#include "codec/workers.h"
#include "summary/chosen_formats.h"
#include "summary/summary_json.h"
#include "job/thread_level.h"

/* Writes bytes with a unit: 1536 -> "1.5 KB". Returns `text`. */
static char *summary_human(unsigned long long bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 1000 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1000;
        unit++;
    }
    aps_print(text, size, unit == 0 ? "%.0f %s" : "%.1f %s", value,
              units[unit]);
    return text;
}

static double summary_percent(unsigned long long part, unsigned long long whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* Writes "; passed: 4 (left to MPI by reduce: auto)" for eligible calls, or
 * "; not eligible: 7 (integers), 11 (too short: min_count is 1024)" for the
 * others, or "". Returns `text`. */
static char *summary_list_passed(enum aps_counted function, bool eligible,
                                 char *text, size_t size)
{
    static const char *const reasons[APS_PASSED_REASONS] = {
        [APS_PASSED_INTEGER] = "integers",
        [APS_PASSED_OPERATION] = "other operations",
        [APS_PASSED_TYPE] = "other types",
        [APS_PASSED_OTHER] = "arguments that cannot be rewritten",
        [APS_PASSED_RULE] = "no rule matched, or a rule says fp32",
        [APS_PASSED_AUTO] = "left to MPI by reduce: auto",
        [APS_PASSED_STEP] =
            "before the step was known, or until it was found again",
        [APS_PASSED_FORMAT] = "left to MPI by format: auto",
        [APS_PASSED_SHADOW] = "left to MPI, with candidates (shadow)",
        [APS_PASSED_OUTSIDE] = "outside the step",
        [APS_PASSED_OFF] = "after MPI_Pcontrol(0)",
        [APS_PASSED_SINGLE] = "on communicators of one rank",
        [APS_PASSED_INTER] = "on intercommunicators",
        [APS_PASSED_DISAGREED] =
            "on communicators whose ranks have no common policy",
        [APS_PASSED_UNRULED] = "on communicators without a policy",
        [APS_PASSED_SWITCHED] = "APSMPI_ENABLE is off",
        [APS_PASSED_BAD] = "the policy or a variable is bad",
        [APS_PASSED_RESOURCES] =
            "on communicators for which MPI had no communicator or tags left",
        [APS_PASSED_EARLY] =
            "before a blocking sum of floats on the communicator",
        [APS_PASSED_THREADS] = "nonblocking, without MPI_THREAD_MULTIPLE",
        [APS_PASSED_PERSISTENT] =
            "persistent, by mpi_f08 or without an asserted order",
    };
    const struct aps_policy *policy = aps_job()->policy;
    char small[64] = "without elements";
    size_t used = 0;

    if (policy)
        snprintf(small, sizeof small, "too short: min_count is %zu",
                 aps_policy_min_count(policy));
    text[0] = '\0';
    for (int i = 0; i < APS_PASSED_REASONS; i++) {
        const unsigned long long times =
            aps_counters_passed(aps_counters_of(function), (enum aps_reason)i);
        const char *reason = reasons[i];

        if (i == APS_PASSED_DOUBLE)
            reason = aps_counted_sums(function) ? "sums of double" : "double";
        if (i == APS_PASSED_SMALL)
            reason = small;
        if (times > 0 && used < size &&
            aps_reason_is_eligible((enum aps_reason)i) == eligible)
            used += (size_t)snprintf(text + used, size - used, "%s %llu (%s)",
                                     used > 0   ? ","
                                     : eligible ? "; passed:"
                                                : "; not eligible:",
                                     times, reason);
    }
    return text;
}

/* Writes ", 3 layers zeroed after an overflow" and similar items, or "". Chunks
 * that were reduced again have a separate count. Returns `text`. */
static char *summary_list_overflowed(const struct aps_counters *counters,
                                     char *text, size_t size)
{
    static const char *const became[APS_OVERFLOW_KINDS] = {
        [APS_OVERFLOW_INF] = "with INF or NaN",
        [APS_OVERFLOW_SATURATE] = "saturated",
        [APS_OVERFLOW_ZERO] = "zeroed",
    };
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < APS_OVERFLOW_KINDS; i++) {
        const unsigned long long layers = atomic_load(&counters->overflowed[i]);

        if (became[i] && layers > 0 && used < size)
            used += (size_t)snprintf(text + used, size - used,
                                     ", %llu layer%s %s after an overflow",
                                     layers, aps_plural(layers), became[i]);
    }
    return text;
}

/* Writes ", layers compressed 60 times (up to 1.5 MB kept)", or ", up to 1.5 MB
 * kept" for formats with feedback alone, or "". Returns `text`. */
static char *summary_write_compressed(const struct aps_counters *counters,
                                      char *text, size_t size)
{
    const unsigned long long times = atomic_load(&counters->compressed);
    const unsigned long long bytes = atomic_load(&counters->remembered);
    char kept[32];

    text[0] = '\0';
    if (times > 0)
        snprintf(text, size, ", layers compressed %llu time%s (up to %s kept)",
                 times, aps_plural(times),
                 summary_human(bytes, kept, sizeof kept));
    else if (bytes > 0)
        snprintf(text, size, ", up to %s kept by feedback",
                 summary_human(bytes, kept, sizeof kept));
    return text;
}

/* Writes ", 60 of them fused in 12 batches (mean 5.0)", or "". Returns
 * `text`. */
static char *summary_write_fused(const struct aps_counters *counters,
                                 char *text, size_t size)
{
    const unsigned long long fused = atomic_load(&counters->fused);
    const unsigned long long batches = atomic_load(&counters->batches);

    text[0] = '\0';
    if (batches > 0)
        aps_print(text, size,
                  ", %llu of them fused in %llu batch%s (mean %.1f)", fused,
                  batches, batches == 1 ? "" : "es",
                  (double)fused / (double)batches);
    return text;
}

/* Writes ", 66 nonblocking (progress: thread, MPI_THREAD_MULTIPLE)", or "".
 * Returns `text`. */
static char *summary_write_nonblocking(const struct aps_counters *counters,
                                       char *text, size_t size)
{
    const struct aps_policy *policy = aps_job()->policy;
    const unsigned long long calls = atomic_load(&counters->nonblocking);
    const char *level = aps_thread_level_name();

    text[0] = '\0';
    if (calls > 0 && policy)
        snprintf(text, size, ", %llu nonblocking (progress: %s%s%s)", calls,
                 aps_progress_name(aps_policy_progress(policy)),
                 level ? ", " : "", level ? level : "");
    return text;
}

/* Writes ", 1.9 % of their bytes" for all-reduces, or "". Returns `text`. */
static char *summary_write_share(enum aps_counted function, char *text,
                                 size_t size)
{
    const struct aps_counters *counters = aps_counters_of(function);

    text[0] = '\0';
    if (function == APS_COUNTED_ALLREDUCE)
        aps_print(text, size, ", %.1f %% of their bytes",
                  summary_percent(atomic_load(&counters->rewritten_bytes),
                                  atomic_load(&counters->eligible_bytes)));
    return text;
}

static void summary_print_counters(enum aps_counted function, const char *hint,
                                   int rank)
{
    const struct aps_counters *counters = aps_counters_of(function);
    const char *name = aps_counted_functions[function].name;
    const unsigned long long eligible = aps_counters_eligible(counters);
    const unsigned long long rewritten = atomic_load(&counters->rewritten);
    const unsigned long long wire = atomic_load(&counters->wire_bytes);
    const unsigned long long fp32 = atomic_load(&counters->fp32_bytes);
    const unsigned long long device = atomic_load(&counters->device_bytes);
    const unsigned long long redone = atomic_load(&counters->redone);
    char sent[32], native[32], passed[800], others[400], together[96];
    char share[40], from[64] = "";
    char there[32], again[64] = "", overflowed[200], compressed[96];
    char deferred[96];

    summary_write_fused(counters, together, sizeof together);
    summary_write_nonblocking(counters, deferred, sizeof deferred);
    if (device > 0)
        snprintf(from, sizeof from, ", %s of it from GPU memory",
                 summary_human(device, there, sizeof there));
    if (redone > 0)
        snprintf(again, sizeof again,
                 ", %llu chunk%s reduced again after an overflow", redone,
                 aps_plural(redone));
    summary_list_passed(function, true, passed, sizeof passed);
    summary_list_passed(function, false, others, sizeof others);
    summary_list_overflowed(counters, overflowed, sizeof overflowed);
    summary_write_compressed(counters, compressed, sizeof compressed);
    if (rewritten == 0)
        aps_message(-1, "%llu eligible call%s of %s, none rewritten%s%s%s",
                    eligible, aps_plural(eligible), name, passed, others, hint);
    else
        aps_message(
            -1,
            "%llu eligible call%s of %s, %llu rewritten (%.1f %%%s)%s%s; "
            "rank %d sent %s instead of %s (%.1f %% saved)%s%s%s%s%s%s",
            eligible, aps_plural(eligible), name, rewritten,
            summary_percent(rewritten, eligible),
            summary_write_share(function, share, sizeof share), together,
            deferred, rank, summary_human(wire, sent, sizeof sent),
            summary_human(fp32, native, sizeof native),
            fp32 > wire ? summary_percent(fp32 - wire, fp32) : 0.0, from,
            compressed, again, overflowed, passed, others);
}

/*
 * Prints one line for each other collective that a rule names or could have
 * named, because programs make many such calls that no rule can apply to.
 * Returns the number of lines.
 */
static int summary_print_names(const struct aps_job *job, int rank)
{
    int lines = 0;

    for (int i = APS_COUNTED_ALLREDUCE + 1; i < APS_COUNTED_FUNCTIONS; i++) {
        const struct aps_counters *counters = &aps_other_counters[i];
        const enum aps_call_kind kind = aps_counted_functions[i].kind;
        const bool named = aps_policy_names(job->policy, kind);
        char hint[64] = "";

        if (aps_counters_calls(counters) == 0 ||
            (!named && (!aps_counted_functions[i].offered ||
                        atomic_load(&counters->passed[APS_PASSED_RULE]) == 0)))
            continue;
        if (!named)
            snprintf(hint, sizeof hint, "; a rule may name them by calls: [%s]",
                     aps_call_name(kind));
        summary_print_counters((enum aps_counted)i, hint, rank);
        lines++;
    }
    return lines;
}

/* Returns the reason why this process has no policy. */
static const char *summary_unruled(const struct aps_job *job)
{
    return job->options.enabled ? "no policy" : "APSMPI_ENABLE is off";
}

/* Prints one line about calls that were made without a policy. */
static void summary_print_unruled(const struct aps_job *job,
                                  enum aps_counted function)
{
    const unsigned long long calls =
        aps_counters_calls(aps_counters_of(function));

    if (calls > 0)
        aps_message(-1, "%llu call%s of %s, none rewritten (%s)", calls,
                    aps_plural(calls), aps_counted_functions[function].name,
                    summary_unruled(job));
}

/* Writes the reason why no candidate was measured, as far as this process
 * knows. Returns `text`. */
static char *summary_unmeasured(char *text, size_t size)
{
    const unsigned long long measurable =
        atomic_load(&aps_counters.passed[APS_PASSED_SHADOW]);

    if (!aps_job_log(aps_job(), 0))
        snprintf(text, size, "the log cannot be written");
    else if (measurable > 0)
        snprintf(text, size,
                 "the program ended after %llu call%s of known steps, before a "
                 "sampled step",
                 measurable, aps_plural(measurable));
    else if (atomic_load(&aps_counters.passed[APS_PASSED_STEP]) > 0)
        snprintf(text, size,
                 "a step is known after three equal steps in a row, and the "
                 "program ended after %llu, with %llu calls (steps: none does "
                 "without)",
                 atomic_load(&aps_counters.repeats),
                 aps_counters_eligible(&aps_counters));
    else if (aps_counters_passed(&aps_counters, APS_PASSED_SMALL) > 0)
        snprintf(
            text, size,
            "no all-reduce has min_count elements (min_count: 1 takes all)");
    else
        snprintf(text, size, "no call was left to MPI with candidates");
    return text;
}

/* Prints the number of layers on which candidates were measured, with the time
 * and memory of the measurements. */
static void summary_print_shadow(const struct aps_job *job)
{
    const unsigned long long layers = atomic_load(&aps_counters.shadowed);
    const unsigned long long begin = atomic_load(&aps_counters.shadow_begin);
    const double taken = 1e-9 * (double)atomic_load(&aps_counters.shadow_ns);
    const double time =
        1e-9 * ((double)aps_clock_ns(CLOCK_MONOTONIC) - (double)begin);
    const char *log =
        job->options.log ? job->options.log : aps_policy_log(job->policy)->file;
    char bytes[32], why[160];

    if (!aps_policy_shadows(job->policy))
        return;
    if (layers == 0)
        aps_message(-1, "shadow: no candidate was measured: %s",
                    summary_unmeasured(why, sizeof why));
    else
        aps_message(-1,
                    "shadow: candidates were measured on %llu layer%s, which "
                    "took %.3g s (%.1f %% of the rest of the time) and %s of "
                    "memory; errors are in %s",
                    layers, aps_plural(layers), taken,
                    100 * taken / (time > taken ? time - taken : time),
                    summary_human(atomic_load(&aps_counters.shadow_bytes) +
                                      atomic_load(&aps_counters.shadow_copies),
                                  bytes, sizeof bytes),
                    log);
}

/* Writes the number of layers with each format at the end: "12 in e4m3, 3 in fp32".
 * Returns `text`. */
static char *summary_list_formats(const struct aps_job *job, char *text,
                                  size_t size)
{
    struct aps_chosen_layer *list;
    size_t count, used = 0;

    (void)aps_chosen_formats_list(&list, &count);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const char *name = aps_chosen_layer_format(job->policy, &list[i]);
        size_t layers = 0;
        bool told = false;

        for (size_t j = 0; j < count; j++) {
            const bool same =
                strcmp(aps_chosen_layer_format(job->policy, &list[j]), name) ==
                0;

            told |= same && j < i;
            layers += same;
        }
        if (!told && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%zu in %s",
                                     used > 0 ? ", " : "", layers, name);
    }
    free(list);
    return text;
}

/* Prints the formats that were chosen while the program ran. */
static void summary_print_formats(const struct aps_job *job)
{
    const unsigned long long measured =
        atomic_load(&aps_counters.formats_measured);
    const unsigned long long changes =
        atomic_load(&aps_counters.format_changes);
    const unsigned long long untold = atomic_load(&aps_counters.formats_untold);
    char formats[512], bytes[32], lines[64] = "";

    if (!aps_policy_chooses(job->policy))
        return;
    if (untold > 0)
        snprintf(lines, sizeof lines, " (%llu line%s about formats left out)",
                 untold, aps_plural(untold));
    if (measured == 0)
        aps_message(-1, "format: auto: no layer was measured: its steps were "
                        "not found (steps: none does without), no call "
                        "matched the rule, all layers have more than 2^27 "
                        "elements, or communicators have one rank");
    else
        aps_message(-1,
                    "format: auto: %llu measurement%s took %.3g s and %s of "
                    "memory, and a "
                    "layer's format changed %llu time%s%s; layers at the end: "
                    "%s",
                    measured, aps_plural(measured),
                    1e-9 * (double)atomic_load(&aps_counters.formats_ns),
                    summary_human(atomic_load(&aps_counters.formats_bytes),
                                  bytes, sizeof bytes),
                    changes, aps_plural(changes), lines,
                    summary_list_formats(job, formats, sizeof formats));
}

/* Reports that several layers may have been measured as one. */
static void summary_print_merged(const struct aps_job *job)
{
    const bool none = aps_policy_steps(job->policy)->kind == APS_STEPS_NONE;

    if (atomic_load(&aps_counters.layers_merged))
        aps_message(-1,
                    "layers: calls of equal size were measured as one layer, "
                    "because %s; if a step of the program has several such "
                    "calls, a layer table or steps: {calls: N} tells their "
                    "layers apart",
                    none ? "the policy says steps: none"
                         : "the step that was found is a single call");
}

static void summary_print_threads(const struct aps_job *job, int rank)
{
    const int threads = aps_workers_threads();

    if (aps_policy_threads(job->policy) != 1)
        aps_message(-1, "threads: rank %d has %d thread%s for long slices",
                    rank, threads, aps_plural(threads));
}

static void summary_print_summary(const struct aps_job *job, int rank)
{
    const unsigned long long calls = aps_counters_calls(&aps_counters);

    if (job->held == APS_HELD_NONE) {
        summary_print_unruled(job, APS_COUNTED_ALLREDUCE);
        for (int i = 0; i < APS_COUNTED_FUNCTIONS && calls == 0; i++)
            summary_print_unruled(job, (enum aps_counted)i);
        return;
    }
    if (calls == 0 && job->held != APS_HELD_GOOD)
        return;
    if (calls > 0)
        summary_print_counters(APS_COUNTED_ALLREDUCE, "", rank);
    if (job->held == APS_HELD_GOOD && summary_print_names(job, rank) == 0 &&
        calls == 0)
        summary_print_counters(APS_COUNTED_ALLREDUCE, "", rank);
    if (job->held == APS_HELD_GOOD) {
        summary_print_threads(job, rank);
        summary_print_shadow(job);
        summary_print_formats(job);
        summary_print_merged(job);
    }
}

void aps_summary_print(const struct aps_job *job, int rank)
{
    fenv_t environment;

    if (!job->options.summary || job->foreign)
        return;
    aps_fpenv_enter(&environment);
    if (job->options.summary_file)
        aps_summary_json_write(job, rank);
    else
        summary_print_summary(job, rank);
    aps_fpenv_leave(&environment);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "comm/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bucket.h"
#include "base/clock.h"
#include "base/message.h"
#include "base/print.h"
#include "comm/sample.h"
#include "device/bounce.h"
#include "device/device.h"
#include "job/log_event.h"
#include "native/error_text.h"
#include "grammar/tables.h"
#include "policy/keywords.h"

static void report_event(struct aps_context *context, const char *format,
                         va_list args)
{
    char text[768], line[1024];
    struct aps_log *log;

    if (context->rank != 0)
        return;
    aps_vprint(text, sizeof text, format, args);
    snprintf(line, sizeof line, "%s: %s", context->label, text);
    aps_message(-1, "%s", line);
    log = aps_job_log(context->job, 0);
    if (log)
        aps_job_log_event(log, 0, line);
}

void aps_context_event(struct aps_context *context, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    report_event(context, format, args);
    va_end(args);
}

void aps_context_event_once(struct aps_context *context, bool *told,
                            const char *format, ...)
{
    va_list args;

    if (*told)
        return;
    *told = true;
    va_start(args, format);
    report_event(context, format, args);
    va_end(args);
}

/* Every rank may have the same complaint. Rank 0 prints it and writes it into
 * the log; on every other node the first rank, by the launcher's numbers,
 * prints it. */
static void report_tell_complaint(struct aps_context *context)
{
    static const char text[] =
        "buffers in GPU memory are encoded by the host, after a copy";
    static const char *const names[] = {"MPI_LOCALRANKID",
                                        "OMPI_COMM_WORLD_LOCAL_RANK"};

    if (context->rank == 0)
        aps_context_event(context, "%s: %s", text, aps_device_complaint());
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);

        if (context->rank != 0 && value && strcmp(value, "0") == 0)
            aps_message(context->rank, "%s: %s", text, aps_device_complaint());
    }
}

const struct aps_memory *aps_context_gpu_memory(struct aps_context *context)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    const struct aps_memory *memory = aps_device_open();

    if (aps_device_complaint()[0] != '\0' && !atomic_flag_test_and_set(&told))
        report_tell_complaint(context);
    return memory;
}

unsigned long aps_context_failures(void)
{
    return aps_device_failures(NULL, 0) + atomic_load(&aps_bounce_failures);
}

int aps_context_fail(struct aps_context *context, const char *what, int rc)
{
    static atomic_ullong times;
    char text[MPI_MAX_ERROR_STRING];
    int none = MPI_SUCCESS;

    if (rc == MPI_SUCCESS ||
        !atomic_compare_exchange_strong(&context->failed, &none, rc) ||
        !aps_message_is_due(atomic_fetch_add(&times, 1) + 1))
        return rc;
    aps_message(aps_job_rank(),
                "%s failed on %s: %s; every later call on it that would be "
                "rewritten returns this error",
                what, context->label, aps_error_text(rc, text));
    return rc;
}

int aps_context_check(const struct aps_context *context, const char *call,
                      unsigned long failures, int rc)
{
    static _Atomic unsigned long told; /* failures of the backend at the last
                                          report */
    static atomic_ullong times;
    char cause[256] = "";
    unsigned long now;

    if (rc != MPI_SUCCESS || aps_context_failures() == failures)
        return rc;
    now = aps_device_failures(cause, sizeof cause);
    /* If the count is unchanged, a bounce buffer has failed, and its line is
     * printed. */
    if (atomic_exchange(&told, now) != now &&
        aps_message_is_due(atomic_fetch_add(&times, 1) + 1))
        aps_message(context->rank,
                    "%s: %s: a buffer in GPU memory cannot be read or written: "
                    "%s",
                    context->label, call, cause);
    return MPI_ERR_OTHER;
}

/* Texts of a row that are stored only here. */
struct report_texts {
    char call[32];
    char rule[16];
    char group[16];
    char accumulate[APS_ACCUMULATE_TEXT_MAX];
    char compress[APS_COMPRESSOR_TEXT_MAX];
};

/* Writes "MPI_Iallreduce" as "iallreduce", also in a Turkish locale. */
static void report_write_call(const char *function, char *call, size_t size)
{
    size_t used = 0;

    for (const char *at = function + strlen("MPI_"); *at && used + 1 < size;
         at++)
        call[used++] = *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
    call[used] = '\0';
}

/* Fills in the fields of some reductions and calls. Other fields stay NULL. */
static void report_fill_settings(const struct aps_plan_key *key,
                                 const struct aps_plan *plan,
                                 struct report_texts *texts,
                                 struct aps_log_row *row)
{
    if (aps_reduce_takes(plan->reduce, APS_SETTING_GROUP)) {
        row->group = aps_group_name(plan->group);
        if (plan->group == APS_GROUP_NUMBER) {
            snprintf(texts->group, sizeof texts->group, "%d", plan->group_size);
            row->group = texts->group;
        }
    }
    if (aps_reduce_takes(plan->reduce, APS_SETTING_NODE))
        row->node = aps_node_name(plan->node);
    if (aps_call_sums(key->call))
        row->accumulate = aps_plan_accumulate(plan, texts->accumulate,
                                              sizeof texts->accumulate);
}

/* Returns a parameter of the plan's compressor, or NaN if it has none of that
 * name. */
static double report_parameter(const struct aps_plan *plan, const char *name)
{
    const struct aps_compressor *compressor = &plan->compressor;
    const struct aps_parameter *parameters =
        aps_grammar_compress.choices[compressor->kind].parameters;

    for (int i = 0; parameters && parameters[i].name; i++)
        if (strcmp(parameters[i].name, name) == 0)
            return compressor->parameters[i];
    return NAN;
}

/* Fills in the fields of compressed layers. */
static void report_fill_compressor(const struct aps_plan *plan,
                                   struct report_texts *texts,
                                   struct aps_log_row *row)
{
    row->density = row->rank = NAN;
    if (!aps_plan_compresses(plan) ||
        plan->compressor.kind == APS_COMPRESSOR_NONE)
        return;
    row->compress = aps_compressor_describe(&plan->compressor, texts->compress,
                                            sizeof texts->compress);
    row->density = report_parameter(plan, "density");
    row->rank = report_parameter(plan, "rank");
}

static unsigned long long report_overflowed(const struct aps_cost *cost)
{
    unsigned long long layers = 0;

    for (int i = 0; i < APS_OVERFLOW_KINDS; i++)
        layers += cost->overflowed[i];
    return layers;
}

void aps_context_row(struct aps_context *context,
                     const struct aps_plan_key *key,
                     const struct aps_plan *plan, const char *function,
                     const struct aps_sampled *sampled)
{
    const struct aps_cost *cost = sampled->cost;
    struct report_texts texts;
    struct aps_log_row row = {
        .time = 1e-9 * (double)aps_clock_ns(CLOCK_REALTIME),
        .run = context->world->agreed.run,
        .comm = context->label,
        .call = texts.call,
        .step = key->step,
        .epoch = key->epoch,
        .layer = key->layer,
        .name = key->name,
        .count = key->count,
        .type = aps_element_types[key->element].name,
        .rule = aps_policy_rule_name(context->job->policy, plan->rule),
        .format = plan->format.name,
        .scale = aps_scale_name(&plan->scale),
        .scale_exponent = cost->least_exponent,
        .scale_value = aps_scale_value(&plan->scale, cost->least_exponent),
        .reduce = key->call == APS_CALL_ALLREDUCE
                      ? aps_reduce_name(plan->reduce)
                      : aps_call_name(key->call),
        .measure = sampled->measure,
        .wire_bytes = cost->wire_bytes,
        .fp32_bytes = cost->fp32_bytes,
        .usec = 1e-3 * (double)sampled->taken,
        .agree_usec = 1e-3 * (double)cost->agree_ns,
        .redone = cost->redone,
        .overflowed = report_overflowed(cost),
        .residual = cost->residual,
        .shadow = sampled->shadow,
        .entropy = sampled->entropy,
    };
    struct aps_log *log = aps_job_log(context->job, context->rank);
    struct aps_error error;

    report_write_call(function, texts.call, sizeof texts.call);
    snprintf(texts.rule, sizeof texts.rule, "%d", plan->rule);
    if (!row.rule && plan->rule >= 0)
        row.rule = texts.rule;
    report_fill_settings(key, plan, &texts, &row);
    report_fill_compressor(plan, &texts, &row);
    if (log && aps_log_write(log, &row, &error) < 0)
        aps_job_lost_file(log, context->rank, &error, "a log");
}

void aps_context_write_exponents(struct aps_context *context,
                                 const struct aps_plan_key *key,
                                 const char *function,
                                 const struct aps_memory *memory,
                                 const void *in)
{
    struct aps_binades binades = {0};
    char call[32];
    const struct aps_log_row row = {
        .run = context->world->agreed.run,
        .comm = context->label,
        .call = call,
        .step = key->step,
        .epoch = key->epoch,
        .layer = key->layer,
        .name = key->name,
        .count = key->count,
    };
    struct aps_log *file = aps_job_exponents(context->job, context->rank);
    struct aps_error error;

    if (!file)
        return;
    report_write_call(function, call, sizeof call);
    aps_sample_exponents(&context->sample, memory, in, key->count, &binades);
    if (aps_exponents_write(file, &row, &binades, &error) < 0)
        aps_job_lost_file(file, context->rank, &error,
                          "histograms of exponents");
}

bool aps_context_note_desync(struct aps_context *context)
{
    const unsigned long long times = ++context->desyncs;

    return (times & (times - 1)) == 0;
}

/* After this many calls without a known step most programs have one. */
#define STEPLESS_CALLS 100

/* A step is known after three rounds, and each size comes in the first one. */
#define STEPLESS_ROUNDS 4

void aps_context_note_stepless(struct aps_context *context, size_t count)
{
    const uint64_t bit = UINT64_C(1) << aps_bucket(count, 6);
    const bool table =
        aps_policy_steps(context->job->policy)->kind == APS_STEPS_TABLE;

    context->stepless++;
    atomic_store(&aps_counters.repeats,
                 (unsigned long long)aps_steps_repeats(context->steps));
    if (!(context->sizes & bit))
        context->fresh = context->calls;
    context->sizes |= bit;
    if (context->stepless < STEPLESS_CALLS ||
        context->stepless <= context->calls / 2 ||
        context->calls < STEPLESS_ROUNDS * context->fresh)
        return;
    aps_context_event_once(
        context, &context->stepless_reported,
        "%llu of %llu eligible calls passed through unchanged, because %s",
        context->stepless, context->calls,
        table ? "they do not follow the layer table: check its rows and "
                "'order'; write 'steps: {order: any}' if each layer has a "
                "call, in an order that varies, and give several networks the "
                "column 'network'"
              : "they repeat no step of equal calls: for a program whose calls "
                "vary, name a layer table, or write 'steps: none', and rules "
                "by 'min_count' and 'max_count' instead of layers, steps and "
                "epochs");
}

void aps_context_end_desyncs(struct aps_context *context)
{
    const unsigned long long times = context->desyncs;

    if ((times & (times - 1)) != 0)
        aps_context_event(context,
                          "desync: the step was lost %llu times in all", times);
}

void aps_context_write_step(struct aps_context *context)
{
    const char *prefix = context->job->options.discovery;
    char said[768];

    if (context->rank != 0 || !prefix)
        return;
    aps_discovery_write(&context->discovery, context->steps, prefix, said,
                        sizeof said);
    aps_context_event(context, "%s", said);
}

void aps_context_end_discovery(struct aps_context *context)
{
    static atomic_ullong times;
    const char *prefix = context->job->options.discovery;
    char said[768];

    if (context->rank != 0 || !prefix)
        return;
    /* A program may make a communicator for every call, so only some are
     * reported. */
    if (aps_discovery_write_turns(&context->discovery, prefix, said,
                                  sizeof said))
        aps_context_event(context, "%s", said);
    else if (aps_discovery_end(&context->discovery, context->steps))
        aps_context_write_step(context);
    else if (context->discovery.times == 0 && context->calls > 0 &&
             aps_message_is_due(atomic_fetch_add(&times, 1) + 1) &&
             aps_discovery_explain(&context->discovery, prefix, said,
                                   sizeof said))
        aps_context_event(context, "%s", said);
}

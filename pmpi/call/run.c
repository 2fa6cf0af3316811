/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "call/run.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fpenv.h"
#include "base/message.h"
#include "base/plural.h"
#include "call/collective.h"
#include "call/observe.h"
#include "call/pass.h"
#include "call/passed.h"
#include "call/plan.h"
#include "comm/context.h"
#include "comm/first_call.h"
#include "comm/report.h"
#include "message/agree.h"
#include "message/wait.h"
#include "trial/trial.h"

/* Records the result of MPI's own call; after an error the program's error
 * handler has been called. */
static void call_note_passed(struct aps_call *call, int rc)
{
    call->handler_called |= rc != MPI_SUCCESS;
    aps_call_note(call, rc);
}

/* --- one layer ----------------------------------------------------------- */

/* COLLECTIVE. Leaves a layer to MPI. */
static void call_pass_layer(struct aps_call *call,
                            const struct aps_layer *layer)
{
    call_note_passed(
        call, call->count == 1
                  ? aps_call_pass(call)
                  : aps_call_pass_part(call, layer->offset, layer->count));
}

static void call_report_choice(struct aps_context *context,
                               const struct aps_layer *layer, const char *text)
{
    static atomic_ullong times;

    if (aps_message_is_due(atomic_fetch_add(&times, 1) + 1))
        aps_context_event(
            context, "rule at line %d: %s",
            aps_policy_rule_line(context->job->policy, layer->plan.rule), text);
}

/* COLLECTIVE. Begins a trial of a blocking layer of `reduce: auto` whose class has
 * not settled: the plan gets one of the algorithms, and stays `auto` if that is
 * MPI. *class is NULL if all classes are in use; the layer goes to MPI. */
static int call_begin_trial(struct aps_call *call, struct aps_layer *layer,
                            struct aps_autotune_class **class)
{
    struct aps_context *context = call->context;
    int rc;

    *class = aps_autotune_begin(&context->autotune, context->resources,
                                &layer->key, &layer->plan, &rc);
    if (*class && context->autotune.count == APS_AUTOTUNE_CLASSES)
        aps_context_event_once(
            context, &context->autotune.classes_full_reported,
            "reduce: auto: all %d classes (rule and size) are in "
            "use; calls of further classes go to MPI",
            APS_AUTOTUNE_CLASSES);
    return aps_context_fail(context, aps_call_function(call), rc);
}

/* COLLECTIVE. Ends the trial, which has taken that time. */
static int call_end_trial(struct aps_call *call, const struct aps_layer *layer,
                          struct aps_autotune_class *class, int64_t taken)
{
    struct aps_context *context = call->context;
    char text[256];
    int rc;

    if (aps_autotune_end(class, context->resources, taken, text, sizeof text,
                         &rc))
        call_report_choice(context, layer, text);
    return aps_context_fail(context, aps_call_function(call), rc);
}

/* COLLECTIVE. True if all ranks can take part in the layer (collective.h). */
static bool call_agrees(struct aps_call *call, struct aps_layer *layer)
{
    bool good = true;

    if (call->arguments.collective->agree)
        call->arguments.collective->agree(call, layer, &good);
    (void)aps_context_fail(call->context, aps_call_function(call), layer->rc);
    return good;
}

/* COLLECTIVE. Waits until all ranks are here, since the time of a trial may not contain
 * the wait for a late one. The barrier is MPI's: it brings MPI's code into the caches
 * and not the library's, so that a short call is not chosen for its time in warm
 * caches. */
static void call_meet(struct aps_call *call)
{
    MPI_Request request;
    const int rc = PMPI_Ibarrier(call->arguments.comm, &request);

    call_note_passed(call,
                     rc == MPI_SUCCESS ? aps_wait_requests(1, &request) : rc);
}

static int64_t call_clock(bool timed)
{
    return timed ? aps_clock_ns(CLOCK_MONOTONIC) : 0;
}

/* COLLECTIVE. Reduces a layer, and samples it. Does nothing if the ranks do not agree
 * on it. *taken: the time without that of the sample, or NULL. Returns an MPI error
 * code. */
static int call_reduce_layer(struct aps_call *call, struct aps_layer *layer,
                             bool *agreed, int64_t *taken)
{
    struct aps_context *context = call->context;
    struct aps_cost cost = {.sampled = layer->sampled, .residual = NAN};
    const bool timed = layer->sampled || taken;
    fenv_t environment;
    int64_t begin = call_clock(timed), nanoseconds;
    int ready = 0, rc;

    *agreed = call_agrees(call, layer);
    if (!*agreed)
        return MPI_SUCCESS;
    nanoseconds = call_clock(timed) - begin;
    if (layer->sampled) {
        aps_sample_before(call, layer, &ready);
        if (taken)
            call_meet(call);
    }
    begin = call_clock(timed);
    aps_context_begin_call(context, aps_call_function(call), &layer->key,
                           &layer->plan, layer->memory);
    aps_fpenv_enter(&environment);
    rc = call->arguments.collective->run(call, layer, &cost);
    aps_fpenv_leave(&environment);
    aps_cost_in_type(&cost, layer->memory);
    aps_count_cost(aps_call_counters(call), &cost);
    layer->fp32_bytes = cost.fp32_bytes;
    rc = aps_context_fail(context, aps_call_function(call), rc);
    nanoseconds += call_clock(timed) - begin;
    if (layer->sampled)
        aps_sample_after(call, layer, &cost, nanoseconds, rc, ready);
    if (taken)
        *taken = nanoseconds;
    return rc;
}

/* COLLECTIVE. Carries out a layer as a trial of `reduce: auto`. The time of the
 * library's reduction includes the agreement on the layer and, for the first layer,
 * planning the call, which a call that is left to MPI does without. If the ranks do not
 * agree, the reduction has no time. */
static int call_try_layer(struct aps_call *call, struct aps_layer *layer,
                          bool *agreed)
{
    struct aps_autotune_class *class;
    int64_t taken = 0;
    int ended = MPI_SUCCESS, rc = call_begin_trial(call, layer, &class);

    *agreed = true;
    call_meet(call);
    if (rc != MPI_SUCCESS)
        return rc;
    if (layer->plan.reduce == APS_REDUCE_AUTO) {
        taken = -call_clock(true);
        call_pass_layer(call, layer);
        taken += call_clock(true);
    } else {
        rc = call_reduce_layer(call, layer, agreed, &taken);
        taken += layer == call->layers ? call->planning : 0;
    }
    if (class)
        ended = call_end_trial(call, layer, class, *agreed ? taken : INT64_MAX);
    return rc != MPI_SUCCESS ? rc : ended;
}

/* COLLECTIVE. Carries out a layer, unless the ranks do not agree on it. Returns an MPI
 * error code. */
static int call_run_layer(struct aps_call *call, struct aps_layer *layer,
                          bool *agreed)
{
    return layer->plan.reduce == APS_REDUCE_AUTO
               ? call_try_layer(call, layer, agreed)
               : call_reduce_layer(call, layer, agreed, NULL);
}

/* --- all layers ---------------------------------------------------------- */

/* COLLECTIVE. Measures candidates and formats of the layers that are due, and
 * gives each layer of `format: auto` its present format. */
static void call_measure(struct aps_call *call)
{
    struct aps_context *context = call->context;
    const unsigned long before = aps_context_failures();

    for (long i = 0; i < call->count; i++) {
        struct aps_layer *layer = &call->layers[i];

        /* A queued call has given such layers to MPI when it was made. */
        if (layer->way == APS_WAY_MPI && !call->may_pass)
            continue;
        if (aps_trial_is_due(context, layer) &&
            aps_context_has_resources(context, call->arguments.comm))
            aps_trial_run(context, aps_call_function(call), layer);
        if (layer->plan.auto_format)
            aps_layer_choose(call, layer);
    }
    call->failures += aps_context_failures() - before;
}

/* COLLECTIVE. True if the layer's plan can be carried out here. If it cannot, a
 * blocking call leaves the layer to MPI, and a queued one uses `direct`, which
 * needs only memory. */
static bool call_prepare_layer(struct aps_call *call, struct aps_layer *layer)
{
    const struct aps_collective *collective = call->arguments.collective;

    if (collective->prepare(call, &layer->plan))
        return true;
    if (call->may_pass) {
        layer->way = APS_WAY_MPI;
        return false;
    }
    layer->plan.reduce = APS_REDUCE_DIRECT;
    if (call->context->failed == MPI_SUCCESS &&
        collective->prepare(call, &layer->plan))
        return true;
    aps_call_note(call, aps_context_fail(call->context, aps_call_function(call),
                                         MPI_ERR_NO_MEM));
    return false;
}

/* COLLECTIVE. Prepares the state of the plans. True if the library reduces a
 * layer. */
static bool call_prepare(struct aps_call *call)
{
    bool any = false;

    for (long i = 0; i < call->count; i++) {
        if (call->layers[i].way != APS_WAY_REDUCE)
            continue;
        if (call->context->failed == MPI_SUCCESS)
            any |= call_prepare_layer(call, &call->layers[i]);
        aps_call_note(call, call->context->failed);
    }
    return any && call->rc == MPI_SUCCESS;
}

/* Totals of the layers of a call. */
struct sent {
    size_t rewritten; /* elements of layers that the library reduced */
    size_t passed;    /* elements of layers that went to MPI */
    unsigned long long fp32_bytes; /* bytes to send for them in FP32 */
    bool any;                      /* the library reduced a layer */
};

static void sent_add(struct sent *sent, const struct aps_layer *layer)
{
    if (layer->way == APS_WAY_MPI || layer->plan.reduce == APS_REDUCE_AUTO) {
        sent->passed += layer->count;
        return;
    }
    sent->any = true;
    sent->rewritten += layer->count;
    sent->fp32_bytes += layer->fp32_bytes;
}

/* Counts the elements of the layers. MPI's algorithm is not known, so each element
 * counts as one FP32 element of the rewritten layers. */
static void sent_count(const struct sent *sent, enum aps_element element,
                       struct aps_counters *counters)
{
    unsigned long long bytes;

    aps_count(&counters->rewritten_bytes,
              sent->rewritten * aps_element_types[element].bytes);
    if (sent->rewritten == 0 || sent->passed == 0)
        return;
    /* Integer arithmetic, because the program's floating-point environment is
     * in force here. */
    bytes = (unsigned long long)((unsigned __int128)sent->fp32_bytes *
                                 sent->passed / sent->rewritten);
    aps_count(&counters->wire_bytes, bytes);
    aps_count(&counters->fp32_bytes, bytes);
}

/* COLLECTIVE. Runs a layer in which some rank cannot take part. A blocking call
 * goes to MPI. A queued call cannot, since the program may have made other
 * calls: its elements travel unchanged. */
static void call_run_unchanged(struct aps_call *call, struct aps_layer *layer)
{
    int rc;

    if (call->may_pass) {
        call_note_passed(call, aps_call_pass_because(call, APS_PASSED_OTHER));
        return;
    }
    rc = call->arguments.collective->run_unchanged(call, layer);
    aps_call_note(call,
                  aps_context_fail(call->context, aps_call_function(call), rc));
    aps_call_count_passed(call, APS_PASSED_OTHER);
}

/* COLLECTIVE. Passes a run of layers to MPI in a blocking call; in a queued
 * call such runs were started before. */
static void call_pass_run(struct aps_call *call, size_t end, size_t *waiting)
{
    if (call->may_pass && *waiting > 0)
        call_note_passed(call,
                         aps_call_pass_part(call, end - *waiting, *waiting));
    *waiting = 0;
}

/* Local. Records errors that belong to no layer: a buffer in GPU memory
 * could not be read or written, or the library's use of the communicator has
 * ended. */
static void call_check(struct aps_call *call)
{
    struct aps_context *context = call->context;
    int rc;

    if (call->rc == MPI_SUCCESS) {
        rc = aps_context_check(context, aps_call_function(call), call->failures,
                               MPI_SUCCESS);
        context->damaged |= rc != MPI_SUCCESS;
        aps_call_note(call, rc);
    }
    aps_call_note(call, context->failed);
}

/* COLLECTIVE. Measures the layers that are due, and prepares the state of the plans.
 * Returns false if there is no layer to reduce: the call has then passed to MPI,
 * or ends with call->rc. */
static bool call_begin(struct aps_call *call)
{
    struct aps_context *context = call->context;

    call->failures = aps_context_failures();
    if (!call->may_pass && context->failed == MPI_SUCCESS &&
        context->resources_state != APS_RESOURCES_READY)
        call->rc = MPI_ERR_OTHER;
    if (call->rc == MPI_SUCCESS && context->failed == MPI_SUCCESS) {
        call_measure(call);
        /* Other ranks may wait for this rank in the measurement, not in MPI. */
        aps_call_note(call, context->failed);
    }
    if (call->rc == MPI_SUCCESS && call_prepare(call))
        return true;
    if (call->rc != MPI_SUCCESS || !call->may_pass) {
        aps_call_count_passed(call, APS_PASSED_RESOURCES);
        return false;
    }
    call->reason = context->resources_state == APS_RESOURCES_FAILED
                       ? APS_PASSED_RESOURCES
                       : aps_call_why_passed(call);
    call_note_passed(call, aps_call_pass_because(call, call->reason));
    return false;
}

/* COLLECTIVE over the context's communicator, when the call is due. Reduces the
 * layers or leaves them to MPI. Runs all of them, even after an error, because
 * other ranks may not know of it; but none after missing memory, since later
 * messages would take the place of those that this rank has not sent. The first
 * error is in call->rc. */
static void call_carry_out(struct aps_call *call)
{
    struct aps_counters *counters = aps_call_counters(call);
    struct sent sent = {0};
    size_t offset = 0,
           waiting = 0; /* elements before `offset` that go to MPI */
    bool agreed;
    int rc;

    if (!call_begin(call))
        return;
    for (long i = 0; i < call->count; i++) {
        struct aps_layer *layer = &call->layers[i];

        if (layer->way == APS_WAY_MPI) {
            waiting += layer->count;
        } else {
            call_pass_run(call, offset, &waiting);
            rc = call_run_layer(call, layer, &agreed);
            aps_call_note(call, rc);
            if (!agreed) {
                call_run_unchanged(call, layer);
                call_check(call);
                return;
            }
            if (rc == MPI_ERR_NO_MEM) /* the layer has sent nothing */
                break;
        }
        sent_add(&sent, layer);
        offset += layer->count;
    }
    call_pass_run(call, offset, &waiting);
    sent_count(&sent, call->element, counters);
    aps_count(sent.any ? &counters->rewritten
                       : &counters->passed[APS_PASSED_AUTO],
              1);
    if (!call->may_pass)
        aps_count(&counters->nonblocking, 1);
    call_check(call);
}

int aps_call_complete(struct aps_call *call)
{
    const int rc = call->rc;

    if (!call->request) {
        if (rc != MPI_SUCCESS && !call->handler_called)
            PMPI_Comm_call_errhandler(call->arguments.comm, rc);
        return rc;
    }
    if (call->arguments.collective->release)
        call->arguments.collective->release(&call->arguments);
    aps_request_complete(call->request, rc);
    free(call);
    return rc;
}

void aps_call_finish(struct aps_call *call)
{
    call_carry_out(call);
    if (call->parts > 0)
        aps_call_note(call, aps_wait_requests(call->parts, call->passing));
    aps_call_note(call, call->passing_rc);
    (void)aps_call_complete(call);
}

/* --- a blocking call ----------------------------------------------------- */

/* Call that this thread carries out. */
static _Thread_local const struct aps_call *the_call;

/* Reports a late rank once in each process, on some ranks of a large job. */
static void call_report_late(void)
{
    static atomic_flag reported = ATOMIC_FLAG_INIT;
    const int rank = aps_job_rank();
    char count[48] = "";

    if (!aps_agree_rank_reports(rank) || atomic_flag_test_and_set(&reported))
        return;
    if (!the_call->arguments.counts && the_call->element != APS_ELEMENT_NONE)
        snprintf(count, sizeof count, " of %lld element%s (%s)",
                 (long long)the_call->arguments.count,
                 aps_plural(the_call->arguments.count),
                 aps_element_types[the_call->element].name);
    aps_message(
        rank,
        "has waited for ten seconds in %s%s on %s for ranks that do not "
        "make this call yet, or make it with another count or type; a program "
        "must call it with the same ones on all ranks",
        aps_call_function(the_call), count,
        the_call->context ? the_call->context->label : "a new communicator");
}

int aps_call_run(const struct aps_call_arguments *arguments)
{
    struct aps_call call;
    bool planned;

    if (aps_job()->foreign ||
        aps_passed_takes(arguments->collective->counted, arguments))
        return arguments->collective->pass(arguments);
    call = aps_call_of(arguments);
    the_call = &call;
    aps_wait_set_timeout(call_report_late);
    planned = aps_call_identify(&call) && aps_call_plan(&call);
    call.planning += call_clock(call.planning != 0);
    if (planned)
        call_carry_out(&call);
    aps_wait_set_timeout(NULL);
    if (planned)
        return aps_call_complete(&call);
    if (call.rc == MPI_SUCCESS)
        return aps_call_pass_because(&call, call.reason);
    aps_call_count_passed(&call, call.reason);
    return aps_call_complete(&call);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Allreduce: what is eligible is identified, planned, reduced and sampled;
 * everything else goes on to MPI as it came.
 */
#include "config.h"

#include "allreduce.h"

#include <mpi.h>
#include <time.h>

#include "base/fpenv.h"
#include "base/message.h"
#include "context.h"
#include "control.h"
#include "job.h"
#include "library.h"

/* One call of the program. */
struct call {
    const void *send; /* or MPI_IN_PLACE */
    void *receive;
    MPI_Count count;
    bool large; /* it came by MPI_Allreduce_c, and goes on by it */
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
};

/* One layer of a call, planned. */
struct segment {
    const float *in;
    float *out;
    size_t count;
    struct aps_place place;
    struct aps_plan plan;
};

/* The program's own call, or part of one: to the next MPI_Allreduce. */
static int pass(const struct call *call)
{
    const struct aps_library *next = aps_library();

    if (call->large)
        return next->allreduce_c(call->send, call->receive, call->count,
                                 call->type, call->op, call->comm);
    return next->allreduce(call->send, call->receive, (int)call->count,
                           call->type, call->op, call->comm);
}

/* A whole call, counted with the reason. */
static int pass_because(const struct call *call, enum aps_reason reason)
{
    aps_count(&aps_counters.passed[reason], 1);
    return pass(call);
}

/* Without Fortran MPI_REAL is no type at all, and a Fortran built with 8-byte
 * reals has another MPI_REAL. */
static bool is_float(const struct aps_job *job, MPI_Datatype type)
{
    return type == MPI_FLOAT ||
           (type != MPI_DATATYPE_NULL &&
            ((type == MPI_REAL && job->real_is_float) || type == MPI_REAL4));
}

/* Handles of MPICH's ABI carry the kind of their object in four bits. To look at
 * an attribute of what is no communicator would call the error handler a first
 * time, for a call that the program did not make. */
static bool is_communicator(MPI_Comm comm)
{
    const unsigned kind = 0xfu << 26;

    return comm != MPI_COMM_NULL &&
           ((unsigned)comm & kind) == ((unsigned)MPI_COMM_WORLD & kind);
}

/* Arguments that are wrong go to MPI, for its message and error handler. All
 * that is looked at here is equal on all ranks of a correct program. */
static bool is_candidate(const struct aps_job *job, const struct call *call)
{
    return is_float(job, call->type) && call->op == MPI_SUM && call->count > 0 &&
           is_communicator(call->comm) && call->send && call->receive &&
           call->receive != MPI_IN_PLACE && call->send != call->receive;
}

/* Integers: the program may trap inexact operations. */
static int64_t nanoseconds(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void write_row(struct aps_context *context,
                      const struct segment *segment,
                      const struct aps_cost *cost,
                      const struct aps_measure *measure, double usec)
{
    struct aps_log *log = aps_job_log(context->job, context->rank);
    const struct aps_log_row row = {
        .time = 1e-9 * (double)nanoseconds(CLOCK_REALTIME),
        .comm = context->label,
        .step = segment->place.step,
        .epoch = segment->place.epoch,
        .layer = segment->place.layer,
        .name = segment->place.name,
        .count = segment->count,
        .format = segment->plan.format.name,
        .scale = aps_scale_name(segment->plan.scale),
        .reduce = aps_reduce_name(segment->plan.reduce),
        .scale_exponent = cost->least_exponent,
        .measure = measure,
        .wire_bytes = cost->wire_bytes,
        .fp32_bytes = cost->fp32_bytes,
        .usec = usec,
    };
    struct aps_error error;

    if (log && aps_log_write(log, &row, &error) < 0 && !log->reported) {
        char text[sizeof error + 32];

        log->reported = true;
        aps_message(context->rank, "%s; going on without a log",
                    aps_error_format(&error, text, sizeof text));
    }
}

/* Say it for the first ten, then ever more rarely. */
static bool is_worth_saying(unsigned long long times)
{
    return times <= 10 || (times & (times - 1)) == 0;
}

/* What went wrong in messages of ours goes to the program's error handler. */
static int raise(MPI_Comm user, int rc)
{
    if (rc != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(user, rc);
    return rc;
}

/* COLLECTIVE. Reduce one layer by its plan. */
static int reduce(struct aps_context *context, MPI_Comm user,
                  const struct segment *segment, struct aps_cost *cost)
{
    fenv_t environment;
    int rc;

    aps_fpenv_enter(&environment);
    rc = aps_team_reduce(context->team, &segment->plan, &aps_memory_host,
                         segment->in, segment->out, segment->count, cost);
    aps_fpenv_leave(&environment);
    aps_count(&aps_counters.wire_bytes, cost->wire_bytes);
    aps_count(&aps_counters.fp32_bytes, cost->fp32_bytes);
    return raise(user, rc);
}

/* COLLECTIVE. One layer, to MPI. */
static int pass_segment(const struct call *call, const struct segment *segment)
{
    struct call part = *call;

    part.send = call->send == MPI_IN_PLACE ? MPI_IN_PLACE : segment->in;
    part.receive = segment->out;
    part.count = (MPI_Count)segment->count;
    return pass(&part);
}

static void tell_choice(struct aps_context *context,
                        const struct segment *segment, const char *text)
{
    static atomic_ullong times;

    if (is_worth_saying(atomic_fetch_add(&times, 1) + 1))
        aps_context_event(context, "rule at line %d: %s",
                          aps_policy_rule_line(context->job->policy,
                                               segment->plan.rule),
                          text);
}

/*
 * COLLECTIVE. A layer of `reduce: auto` whose size is not settled yet: one of
 * the candidates does it, on the clock. The plan stays `auto` if that was MPI.
 */
static int try_candidate(struct aps_context *context, const struct call *call,
                         struct segment *segment, struct aps_cost *cost,
                         int64_t *taken)
{
    struct aps_choice_class *class;
    enum aps_candidate candidate;
    char text[256];
    int64_t begin;
    int rc, ended;

    class = aps_choice_begin(&context->choice, context->team, segment->count,
                             &segment->plan, &candidate);
    if (!class)
        return pass_segment(call, segment);
    begin = nanoseconds(CLOCK_MONOTONIC);
    if (candidate == APS_CANDIDATE_NATIVE)
        rc = pass_segment(call, segment);
    else
        rc = reduce(context, call->comm, segment, cost);
    *taken = nanoseconds(CLOCK_MONOTONIC) - begin;
    if (aps_choice_end(class, context->team, *taken, text, sizeof text, &ended))
        tell_choice(context, segment, text);
    return rc != MPI_SUCCESS ? rc : raise(call->comm, ended);
}

/* COLLECTIVE. The FP32 sum of the same inputs, before they are gone. */
static int sample(struct aps_context *context, MPI_Comm user,
                  const struct segment *segment, int *ready)
{
    fenv_t environment;
    int rc;

    aps_fpenv_enter(&environment);
    rc = aps_sample_reference(&context->sample, aps_team_comm(context->team),
                              segment->in, segment->count, ready);
    aps_fpenv_leave(&environment);
    return raise(user, rc);
}

static void write_sample(struct aps_context *context,
                         const struct segment *segment,
                         const struct aps_cost *cost, int64_t taken)
{
    struct aps_measure measure;
    fenv_t environment;

    aps_fpenv_enter(&environment);
    aps_sample_compare(&context->sample, segment->out, segment->count,
                       &measure);
    write_row(context, segment, cost, &measure, 1e-3 * (double)taken);
    aps_fpenv_leave(&environment);
}

/* COLLECTIVE. Carry out one layer's plan, sampled where it is its turn. */
static int rewrite(struct aps_context *context, const struct call *call,
                   struct segment *segment)
{
    const bool sampled = context->sample_every > 0 &&
                         segment->place.step % context->sample_every == 0 &&
                         segment->count <= APS_SAMPLE_MAX;
    struct aps_cost cost = {0};
    int64_t taken = 0;
    int ready = 0;
    int rc = MPI_SUCCESS;

    if (sampled)
        rc = sample(context, call->comm, segment, &ready);
    if (rc == MPI_SUCCESS && segment->plan.reduce == APS_REDUCE_AUTO) {
        rc = try_candidate(context, call, segment, &cost, &taken);
    } else if (rc == MPI_SUCCESS) {
        const int64_t begin = sampled ? nanoseconds(CLOCK_MONOTONIC) : 0;

        rc = reduce(context, call->comm, segment, &cost);
        taken = sampled ? nanoseconds(CLOCK_MONOTONIC) - begin : 0;
    }
    if (rc == MPI_SUCCESS && context->rank == 0 && ready &&
        segment->plan.reduce != APS_REDUCE_AUTO)
        write_sample(context, segment, &cost, taken);
    return rc;
}

/* COLLECTIVE. `count` elements from `offset` on that no rule rewrites, out of a
 * call that carries more. */
static int pass_part(const struct call *call, size_t offset, size_t count)
{
    struct call part = *call;

    if (count == 0)
        return MPI_SUCCESS;
    if (call->send != MPI_IN_PLACE)
        part.send = (const float *)call->send + offset;
    part.receive = (float *)call->receive + offset;
    part.count = (MPI_Count)count;
    return pass(&part);
}

/* Segment i of the call, with its plan; starts at element `offset`. */
static void plan_segment(const struct aps_context *context,
                         const struct call *call,
                         const struct aps_position *position, long i,
                         size_t offset, struct segment *segment)
{
    const struct aps_policy *policy = context->job->policy;
    const struct aps_layers *layers = aps_policy_layers(policy);
    struct aps_place *place = &segment->place;

    *place = (struct aps_place){
        .layers = aps_steps_layers(context->steps),
        .fused = position->segments > 1,
        .epoch = position->epoch,
        .step = position->step,
    };
    aps_steps_segment(context->steps, position, i, (size_t)call->count,
                      &place->layer, &segment->count);
    if (layers && place->layer >= 0)
        place->name = layers->list[place->layer].name;
    place->count = segment->count;
    segment->out = (float *)call->receive + offset;
    segment->in = call->send == MPI_IN_PLACE
                      ? segment->out
                      : (const float *)call->send + offset;
    aps_policy_resolve(policy, place, &segment->plan);
    if (segment->plan.rewrite && segment->plan.reduce == APS_REDUCE_AUTO)
        aps_choice_apply(&context->choice, segment->count, &segment->plan);
}

/*
 * COLLECTIVE. Can the plan run here? What it needs is made on first use; if it
 * cannot be made, on any rank, the layer passes through on all.
 */
static bool is_possible(struct aps_context *context, MPI_Comm comm,
                        const struct aps_plan *plan)
{
    char cause[256] = "";
    unsigned bit = 1u << (plan->rule % 32);

    if (context->team_failed)
        return false;
    if (!context->team &&
        aps_team_create(comm, context->job->options.test_nodes,
                        context->job->options.test_cyclic,
                        &context->team) < 0) {
        static atomic_ullong times;

        context->team_failed = true;
        if (is_worth_saying(atomic_fetch_add(&times, 1) + 1))
            aps_context_event(context,
                              "cannot make an internal communicator (too many "
                              "live already?): every call passes through");
        return false;
    }
    /* Of what auto tries, native is always possible. */
    if (plan->reduce == APS_REDUCE_AUTO ||
        aps_team_prepare(context->team, plan, cause, sizeof cause) == 0)
        return true;
    if (!(context->complained & bit)) {
        context->complained |= bit;
        aps_context_event(context,
                          "the rule at line %d (reduce: %s, group: %s) cannot "
                          "run here: %s; its layers pass through",
                          aps_policy_rule_line(context->job->policy,
                                               plan->rule),
                          aps_reduce_name(plan->reduce),
                          aps_group_name(plan->group), cause);
    }
    return false;
}

/* Where a count is kept in context->passing. */
static size_t *passing_at(struct aps_context *context, size_t count)
{
    return &context->passing[(count * UINT64_C(0x9E3779B97F4A7C15)) >> 58];
}

/* COLLECTIVE. A call whose place in the step is known. */
static int run(struct aps_context *context, const struct call *call,
               const struct aps_position *position)
{
    struct segment segment;
    enum aps_reason reason = APS_PASSED_RULE;
    bool any = false;
    size_t offset = 0;
    size_t passed; /* elements before `offset` that wait to be passed on */
    int rc = MPI_SUCCESS;

    for (long i = 0; i < position->segments && !any; i++) {
        plan_segment(context, call, position, i, offset, &segment);
        any = segment.plan.rewrite &&
              is_possible(context, call->comm, &segment.plan);
        if (!segment.plan.rewrite && segment.plan.reduce == APS_REDUCE_AUTO)
            reason = APS_PASSED_AUTO;
        offset += segment.count;
    }
    if (!any) {
        if (reason == APS_PASSED_RULE &&
            aps_policy_steps(context->job->policy)->kind == APS_STEPS_NONE)
            *passing_at(context, (size_t)call->count) = (size_t)call->count;
        return pass_because(call, reason);
    }
    any = false;
    offset = passed = 0;
    for (long i = 0; i < position->segments && rc == MPI_SUCCESS; i++) {
        plan_segment(context, call, position, i, offset, &segment);
        offset += segment.count;
        if (!segment.plan.rewrite ||
            !is_possible(context, call->comm, &segment.plan)) {
            passed += segment.count;
            continue;
        }
        rc = pass_part(call, offset - segment.count - passed, passed);
        passed = 0;
        if (rc == MPI_SUCCESS)
            rc = rewrite(context, call, &segment);
        any |= segment.plan.reduce != APS_REDUCE_AUTO;
    }
    if (rc == MPI_SUCCESS)
        rc = pass_part(call, offset - passed, passed);
    aps_count(any ? &aps_counters.rewritten
                  : &aps_counters.passed[APS_PASSED_AUTO],
              1);
    return rc;
}

static int handle(const struct call *call)
{
    struct aps_context *context;
    struct aps_position position;
    bool stop;
    int rc;

    aps_count(&aps_counters.calls, 1);
    if (!is_candidate(aps_job(), call))
        return pass_because(call, APS_PASSED_OTHER);
    rc = aps_context_of(call->comm, &context, &stop);
    if (rc != MPI_SUCCESS)
        return rc;
    if (stop)
        aps_control_stop();
    if (!context || context->state == APS_CONTEXT_PASS)
        return pass_because(call, APS_PASSED_COMM);
    if ((unsigned long long)call->count < context->min_count)
        return pass_because(call, APS_PASSED_SMALL);
    if (*passing_at(context, (size_t)call->count) == (size_t)call->count)
        return pass_because(call, APS_PASSED_RULE);
    aps_control_watch_end();
    context->calls++;
    aps_steps_advance(context->steps, (size_t)call->count, &position);
    if (context->state == APS_CONTEXT_DISCOVER) {
        if (aps_discovery_note(&context->discovery, context->steps, &position))
            aps_context_write_step(context);
        return pass(call);
    }
    if (position.desync && is_worth_saying(++context->desyncs))
        aps_context_event(context,
                          "desync: call %llu has %lld elements where the step "
                          "has %zu; calls pass through until the step is found "
                          "again (wrong layer table, `steps` or `order`?)",
                          context->calls - 1, (long long)call->count,
                          position.expected);
    if (!position.active)
        return pass_because(call, APS_PASSED_STEP);
    return run(context, call, &position);
}

int aps_allreduce(const void *send, void *receive, int64_t count, bool large,
                  aps_handle type, aps_handle op, aps_handle comm)
{
    const struct call call = {
        .send = send,
        .receive = receive,
        .count = count,
        .large = large,
        .type = (MPI_Datatype)type,
        .op = (MPI_Op)op,
        .comm = (MPI_Comm)comm,
    };

    return handle(&call);
}

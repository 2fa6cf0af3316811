/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "comm/context.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress/agree.h"
#include "base/clock.h"
#include "base/message.h"
#include "job/lifecycle.h"
#include "device/device.h"
#include "progress/progress_thread.h"
#include "device/bounce.h"

/* What rank 0 of a communicator proposes, and all must hold alike. */
struct offer {
    char version[32];
    uint64_t hash; /* of the policy, when held is APS_HELD_GOOD */
    uint64_t size; /* of the packed source, likewise */
    uint64_t switches;
    int64_t sample_every;
    int32_t held; /* enum aps_held */
};

/* Objections of the ranks, agreed by MAX: 0 for none, or the more the lower the
 * rank that has it (context_objection_of). */
enum {
    OBJECT_VERSION,
    OBJECT_SWITCHES,
    OBJECT_POLICY,
    OBJECT_MEMORY,
    WANT_POLICY,
    OBJECTIONS
};

static const char *const objection_texts[] = {
    [OBJECT_VERSION] = "runs another version of apsmpi",
    [OBJECT_SWITCHES] = "has other APSMPI_ switches",
    [OBJECT_POLICY] = "holds another policy",
    [OBJECT_MEMORY] = "is out of memory",
};

/* Discovery lists small layers too, such as biases; losses and metrics are
 * smaller still. */
#define DISCOVER_MIN_COUNT 8

_Thread_local struct aps_context_recent aps_context_recent;
atomic_uint aps_context_deaths;

static int keyval = MPI_KEYVAL_INVALID;
static pthread_once_t keyval_once = PTHREAD_ONCE_INIT;

/* The communicator goes: say what was found out about it. */
static void context_end_discovery(struct aps_context *context)
{
    if (aps_discovery_end(&context->discovery, context->steps))
        aps_context_write_step(context);
    else if (aps_steps_layers(context->steps) == 0 && context->calls > 0)
        aps_context_event(context,
                          "discovery saw %llu calls but no step that repeats",
                          context->calls);
}

static void context_destroy(struct aps_context *context)
{
    struct aps_queue *queue = context->queue;

    if (context->state == APS_CONTEXT_DISCOVER)
        context_end_discovery(context);
    aps_other_state_clear(&context->related);
    aps_comm_resources_destroy(context->resources);
    aps_steps_destroy(context->steps);
    aps_sample_clear(&context->sample);
    free(context->buffer);
    free(context);
    aps_queue_close(queue);
}

static void context_run_end(struct aps_operation *operation)
{
    context_destroy(operation->owner);
}

static int context_delete_callback(MPI_Comm comm, int key, void *value,
                                   void *extra)
{
    struct aps_context *context = value;

    atomic_fetch_add(&aps_context_deaths, 1);
    (void)comm;
    (void)key;
    (void)extra;
    /* A communicator may be freed before its calls are complete; MPI may also
     * come here from the queue's own thread. */
    if (context->queue && !aps_queue_is_empty(context->queue)) {
        context->end =
            (struct aps_operation){.owner = context, .run = context_run_end};
        aps_queue_push(context->queue, &context->end);
    } else {
        context_destroy(context);
    }
    return MPI_SUCCESS;
}

static void context_create_keyval(void)
{
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, context_delete_callback,
                                &keyval, NULL) != MPI_SUCCESS)
        keyval = MPI_KEYVAL_INVALID;
}

float *aps_context_buffer(struct aps_context *context, size_t bytes)
{
    if (bytes <= context->buffer_bytes)
        return context->buffer;
    free(context->buffer);
    context->buffer = malloc(bytes);
    context->buffer_bytes = context->buffer ? bytes : 0;
    return context->buffer;
}

void aps_context_event(struct aps_context *context, const char *format, ...)
{
    char text[768], line[1024];
    struct aps_log *log;
    va_list args;

    if (context->rank != 0)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(line, sizeof line, "%s: %s", context->label, text);
    aps_message(-1, "%s", line);
    log = aps_job_log(context->job, 0);
    if (log)
        (void)aps_log_event(log, line, NULL);
}

/* Of all who have the same to say, rank 0 says it, for the log, too, and the
 * first rank of every other machine, as the launcher numbers them. */
static void context_tell_complaint(struct aps_context *context)
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

const struct aps_memory *aps_context_memory(struct aps_context *context,
                                            const void *in, const void *out)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    const struct aps_memory *memory = aps_device_memory(in, out);

    if (memory != &aps_memory_host && aps_device_complaint()[0] != '\0' &&
        !atomic_flag_test_and_set(&told))
        context_tell_complaint(context);
    return memory;
}

unsigned long aps_context_failures(void)
{
    return aps_device_failures(NULL, 0) + atomic_load(&aps_bounce_failures);
}

int aps_context_check(const struct aps_context *context, const char *call,
                      unsigned long failures, int rc)
{
    static _Atomic unsigned long told; /* of the backend's */
    static atomic_ullong times;
    char cause[256] = "";
    unsigned long now;

    if (rc != MPI_SUCCESS || aps_context_failures() == failures)
        return rc;
    now = aps_device_failures(cause, sizeof cause);
    /* Else the stage has said it. */
    if (atomic_exchange(&told, now) != now &&
        aps_message_is_due(atomic_fetch_add(&times, 1) + 1))
        aps_message(context->rank,
                    "%s: %s: a buffer in GPU memory cannot be read or written: "
                    "%s",
                    context->label, call, cause);
    return MPI_ERR_OTHER;
}

bool aps_context_has_resources(struct aps_context *context, MPI_Comm comm)
{
    const struct aps_options *options = &context->job->options;
    static atomic_ullong times;

    if (context->resources_failed)
        return false;
    if (context->resources ||
        aps_comm_resources_create(comm, options->test_nodes,
                                  options->test_cyclic,
                                  &context->resources) == 0)
        return true;
    context->resources_failed = true;
    if (aps_message_is_due(atomic_fetch_add(&times, 1) + 1))
        aps_context_event(context,
                          "cannot make an internal communicator (too many "
                          "live already?): every call passes through");
    return false;
}

void aps_context_row(struct aps_context *context,
                     const struct aps_plan_key *place,
                     const struct aps_plan *plan, const char *reduce,
                     const struct aps_cost *cost,
                     const struct aps_measure *measure, int64_t taken)
{
    const struct aps_log_row row = {
        .time = 1e-9 * (double)aps_clock_ns(CLOCK_REALTIME),
        .comm = context->label,
        .step = place->step,
        .epoch = place->epoch,
        .layer = place->layer,
        .name = place->name,
        .count = place->count,
        .format = plan->format.name,
        .scale = aps_scale_name(plan->scale),
        .reduce = reduce,
        .scale_exponent = cost->least_exponent,
        .measure = measure,
        .wire_bytes = cost->wire_bytes,
        .fp32_bytes = cost->fp32_bytes,
        .usec = 1e-3 * (double)taken,
    };
    struct aps_log *log = aps_job_log(context->job, context->rank);
    struct aps_error error;

    if (log && aps_log_write(log, &row, &error) < 0 && !log->reported) {
        char text[sizeof error + 32];

        log->reported = true;
        aps_message(context->rank, "%s; going on without a log",
                    aps_error_format(&error, text, sizeof text));
    }
}

void aps_context_write_step(struct aps_context *context)
{
    const char *prefix = context->job->options.discovery;
    char said[512];

    if (context->rank != 0 || !prefix)
        return;
    aps_discovery_write(context->steps, prefix, said, sizeof said);
    aps_context_event(context, "%s", said);
}

static void context_make_label(struct aps_context *context, MPI_Comm comm)
{
    static atomic_uint serial;
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;

    if (PMPI_Comm_get_name(comm, name, &length) == MPI_SUCCESS && length > 0)
        snprintf(context->label, sizeof context->label, "%.*s",
                 (int)sizeof context->label - 1, name);
    else
        snprintf(context->label, sizeof context->label, "comm%u",
                 atomic_fetch_add(&serial, 1));
}

/* Does this rank hold nothing, so that it takes what rank 0 holds? */
static bool context_holds_nothing(const struct aps_job *job)
{
    return job->held == APS_HELD_NONE ||
           (job->held == APS_HELD_BAD && job->policy_absent &&
            job->errors.count == 1);
}

static void context_make_offer(struct aps_context *context, struct offer *offer)
{
    struct aps_job *job = context->job;

    memset(offer, 0, sizeof *offer);
    snprintf(offer->version, sizeof offer->version, "%s", PACKAGE_VERSION);
    offer->switches = aps_job_switches(job);
    offer->held = (int32_t)job->held;
    if (job->held == APS_HELD_GOOD) {
        offer->hash = job->hash;
        /* Only rank 0 writes the log; all take part in its samples. */
        if (context->rank == 0 && aps_job_log(job, 0))
            offer->sample_every = aps_policy_log(job->policy)->every;
    }
}

static int context_objection_of(const struct aps_context *context,
                                bool context_object)
{
    return context_object ? context->size - context->rank : 0;
}

static int context_objector(const struct aps_context *context, int objection)
{
    return context->size - objection;
}

static void context_object(const struct aps_context *context,
                           const struct offer *mine, const struct offer *theirs,
                           int objections[])
{
    bool policy = false, want = false;

    if (context_holds_nothing(context->job))
        want = theirs->held == APS_HELD_GOOD;
    else
        policy = mine->held != theirs->held || mine->hash != theirs->hash;
    objections[OBJECT_VERSION] = context_objection_of(
        context, strcmp(mine->version, theirs->version) != 0);
    objections[OBJECT_SWITCHES] =
        context_objection_of(context, mine->switches != theirs->switches);
    objections[OBJECT_POLICY] = context_objection_of(context, policy);
    objections[OBJECT_MEMORY] = 0;
    objections[WANT_POLICY] = context_objection_of(context, want);
    /* A policy that is bad here alone is not rank 0's to explain. */
    if (policy && mine->held == APS_HELD_BAD && context->rank != 0)
        aps_message_errors(context->rank, &context->job->errors);
}

/* COLLECTIVE. Rank 0's policy to the ranks that hold none. */
static int context_hand_out(struct aps_context *context, MPI_Comm comm,
                            struct offer *offer)
{
    char *bytes = NULL;
    size_t size = 0;
    bool good = true;
    int rc = -1;

    if (context->rank == 0) {
        good = aps_job_pack(context->job, &bytes, &size) == 0;
        offer->size = size;
    }
    if (aps_agree_bytes(comm, &offer->size, sizeof offer->size) != MPI_SUCCESS)
        goto free_bytes;
    if (context->rank != 0) {
        bytes = malloc(offer->size);
        good = bytes != NULL;
    }
    if (!aps_agree_all(comm, good) ||
        aps_agree_bytes(comm, bytes, offer->size) != MPI_SUCCESS)
        goto free_bytes;
    rc = aps_job_adopt(context->job, bytes);

free_bytes:
    free(bytes);
    return rc;
}

/* Allocate what the agreed state asks for; local. 0 or -1. */
static int context_equip(struct aps_context *context, enum aps_held held)
{
    static const struct aps_policy_steps discover = {.kind = APS_STEPS_AUTO};
    const struct aps_policy *policy = context->job->policy;

    if (held == APS_HELD_NONE) {
        context->min_count = DISCOVER_MIN_COUNT;
        context->steps = aps_steps_create(&discover, NULL, 0);
        return context->steps ? 0 : -1;
    }
    context->min_count = aps_policy_min_count(policy);
    context->steps =
        aps_steps_create(aps_policy_steps(policy), aps_policy_layers(policy),
                         context->min_count);
    if (!context->steps)
        return -1;
    return context->sample_every > 0 ? aps_sample_init(&context->sample) : 0;
}

/*
 * COLLECTIVE over comm. The ranks agree on version, switches, policy and
 * memory; whatever the outcome, it is the same on all.
 */
static void context_agree(struct aps_context *context, MPI_Comm comm,
                          bool *stop)
{
    struct offer mine, offer;
    int objections[OBJECTIONS];
    bool failed;
    int memory;

    context_make_offer(context, &mine);
    offer = mine;
    if (aps_agree_bytes(comm, &offer, sizeof offer) != MPI_SUCCESS)
        return;
    context_object(context, &mine, &offer, objections);
    if (aps_agree_max(comm, OBJECTIONS, objections) != MPI_SUCCESS)
        return;
    for (int i = 0; i < WANT_POLICY; i++) {
        if (objections[i]) {
            aps_context_event(context,
                              "rank %d %s, unlike rank 0: every call passes "
                              "through",
                              context_objector(context, objections[i]),
                              objection_texts[i]);
            return;
        }
    }
    /* Where MPI_Init was seen, rank 0 of the job has spoken already. */
    if (context->rank == 0 && !context->job->begun)
        aps_job_report(context->job);
    if (offer.held == APS_HELD_BAD) {
        *stop = !context->job->options.pass_on_error;
        return;
    }
    if (!context->job->options.enabled)
        return;
    context->sample_every = (long)offer.sample_every;
    failed = (objections[WANT_POLICY] &&
              context_hand_out(context, comm, &offer) < 0) ||
             context_equip(context, (enum aps_held)offer.held) < 0;
    memory = context_objection_of(context, failed);
    if (aps_agree_max(comm, 1, &memory) != MPI_SUCCESS)
        return;
    if (memory) {
        aps_context_event(context, "rank %d %s: every call passes through",
                          context_objector(context, memory),
                          objection_texts[OBJECT_MEMORY]);
        return;
    }
    context->state =
        offer.held == APS_HELD_GOOD ? APS_CONTEXT_ACTIVE : APS_CONTEXT_DISCOVER;
}

/* An intercommunicator, or one rank alone: nothing to rewrite, ever. */
static bool context_is_plain(MPI_Comm comm, int size)
{
    int inter = 0;

    return size < 2 || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS ||
           inter;
}

/* What the context knows by itself. */
static void context_introduce(struct aps_context *context, MPI_Comm comm,
                              int size)
{
    context->job = aps_job();
    context->state = APS_CONTEXT_PASS;
    context->size = size;
    PMPI_Comm_rank(comm, &context->rank);
    context_make_label(context, comm);
}

/*
 * The attribute comes first: a rank that cannot keep a context must be known
 * before any rank counts on it. Then either all have one or none has, and the
 * next call tries again.
 */
static struct aps_context *context_create(MPI_Comm comm, bool *stop)
{
    struct aps_context *context = calloc(1, sizeof *context);
    bool plain, kept;
    int size;

    if (PMPI_Comm_size(comm, &size) != MPI_SUCCESS) {
        free(context);
        return NULL;
    }
    plain = context_is_plain(comm, size);
    kept = context && PMPI_Comm_set_attr(comm, keyval, context) == MPI_SUCCESS;
    if (!plain && !aps_agree_first(comm, kept)) {
        if (kept)
            PMPI_Comm_delete_attr(comm, keyval); /* frees the context */
        else
            free(context);
        return NULL;
    }
    if (!kept) {
        free(context);
        return NULL;
    }
    context_introduce(context, comm, size);
    if (!plain)
        context_agree(context, comm, stop);
    context->agreed = context->settled = true;
    return context;
}

/* Local. Like create, as far as that goes without a word to the others. */
static struct aps_context *context_create_deferred(MPI_Comm comm)
{
    struct aps_context *context = calloc(1, sizeof *context);
    int size;

    if (!context || PMPI_Comm_size(comm, &size) != MPI_SUCCESS ||
        PMPI_Comm_set_attr(comm, keyval, context) != MPI_SUCCESS) {
        free(context);
        return NULL;
    }
    context_introduce(context, comm, size);
    if (context_is_plain(comm, size)) {
        context->agreed = context->settled = true;
    } else if (!context->job->options.policy) {
        /* Nobody was asked: APSMPI_POLICY is set on all ranks or on none. */
        context->agreed = context->settled = true;
        if (context->job->options.enabled &&
            context_equip(context, APS_HELD_NONE) == 0)
            context->state = APS_CONTEXT_DISCOVER;
    }
    return context;
}

/* Has this process a policy that asks for a thread, or an MPI that needs
 * one? */
static bool context_wants_thread(const struct aps_job *job)
{
#ifndef HAVE_PMPIX_GREQUEST_START
    (void)job;
    return true;
#else
    return job->held == APS_HELD_GOOD &&
           aps_policy_progress(job->policy) == APS_PROGRESS_THREAD;
#endif
}

int aps_context_find_deferred(MPI_Comm comm, struct aps_context **context)
{
    int found = 0;
    int rc;

    *context = NULL;
    pthread_once(&keyval_once, context_create_keyval);
#ifndef HAVE_PMPIX_GREQUEST_START
    if (!aps_progress_thread_is_possible())
        return MPI_SUCCESS;
#endif
    if (keyval == MPI_KEYVAL_INVALID)
        return MPI_SUCCESS;
    rc = PMPI_Comm_get_attr(comm, keyval, context, &found);
    if (rc != MPI_SUCCESS || found)
        return rc;
    *context = context_create_deferred(comm);
    if (*context)
        return MPI_SUCCESS;
    PMPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
}

struct aps_context *aps_context_existing(MPI_Comm comm)
{
    struct aps_context *context = NULL;
    int found = 0;

    pthread_once(&keyval_once, context_create_keyval);
    if (keyval == MPI_KEYVAL_INVALID ||
        PMPI_Comm_get_attr(comm, keyval, &context, &found) != MPI_SUCCESS)
        return NULL;
    return found ? context : NULL;
}

/* COLLECTIVE over the resources. The first operation of every queue. */
static void context_run_start(struct aps_operation *operation)
{
    struct aps_context *context = operation->owner;
    bool stop = false;

    if (!context->resources_ready)
        context->broken = aps_comm_resources_complete(context->resources);
    if (context->broken != MPI_SUCCESS)
        return;
    context->resources_ready = true;
    if (!context->agreed)
        context_agree(context, aps_comm_resources_comm(context->resources),
                      &stop);
    if (stop)
        aps_lifecycle_stop();
    context->agreed = true;
    context->may_block =
        aps_agree_all(aps_comm_resources_comm(context->resources),
                      aps_queue_has_thread(context->queue));
}

int aps_context_make_queue(struct aps_context *context, MPI_Comm comm)
{
    const struct aps_options *options = &context->job->options;
    const bool wanted = context_wants_thread(context->job);
    const bool thread = wanted && aps_progress_thread_is_possible();
    static atomic_flag told = ATOMIC_FLAG_INIT;
    int rc = MPI_SUCCESS;

    if (wanted && !thread && !atomic_flag_test_and_set(&told))
        aps_context_event(context,
                          "progress: thread needs MPI_THREAD_MULTIPLE, which "
                          "MPI was not initialised with: the program's calls "
                          "drive nonblocking ones");
    else if (!context->job->begun && aps_progress_thread_is_possible())
        aps_progress_thread_expect_threads(); /* who knows */
    else if (!wanted && !aps_progress_thread_is_possible() &&
             !atomic_flag_test_and_set(&told))
        aps_context_event(
            context,
            "nonblocking calls stand still while the program "
            "blocks in collective calls, and the job may hang: MPI was not "
            "initialised with MPI_THREAD_MULTIPLE, call "
            "MPI_Init_thread with it");
    context->queue = aps_queue_create(thread);
    if (!context->queue)
        rc = MPI_ERR_NO_MEM;
    context->resources_ready = context->resources != NULL;
    if (rc == MPI_SUCCESS && !context->resources)
        rc =
            aps_comm_resources_begin(comm, options->test_nodes,
                                     options->test_cyclic, &context->resources);
    if (rc == MPI_SUCCESS) {
        context->start =
            (struct aps_operation){.owner = context, .run = context_run_start};
        aps_queue_push(context->queue, &context->start);
        return rc;
    }
    aps_queue_close(context->queue);
    context->queue = NULL;
    PMPI_Comm_call_errhandler(comm, rc);
    return rc;
}

void aps_context_drain(struct aps_context *context)
{
    if (!context->queue)
        return;
    aps_queue_drain(context->queue);
    context->settled = context->agreed;
}

int aps_context_find(MPI_Comm comm, struct aps_context **context, bool *stop)
{
    const unsigned now = atomic_load(&aps_context_deaths);
    int found = 0;
    int rc;

    *stop = false;
    *context = NULL;
    pthread_once(&keyval_once, context_create_keyval);
    if (keyval == MPI_KEYVAL_INVALID)
        return MPI_SUCCESS;
    rc = PMPI_Comm_get_attr(comm, keyval, context, &found);
    if (rc == MPI_SUCCESS && !found) {
        MPI_Errhandler theirs = aps_errhandler_push(comm);

        *context = context_create(comm, stop);
        aps_errhandler_pop(comm, theirs);
    }
    if (rc == MPI_SUCCESS)
        aps_context_recent = (struct aps_context_recent){comm, *context, now};
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "comm/context.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hot.h"
#include "base/message.h"
#include "layer/layers.h"
#include "comm/report.h"
#include "world/lifecycle.h"
#include "native/errhandler.h"
#include "queue/queue_pool.h"

/* Minimum number of elements of a layer in discovery. Biases may be as small;
 * losses and metrics are smaller. */
#define DISCOVER_MIN_COUNT 8

_Thread_local struct aps_context_recent aps_context_recent;

static atomic_int keyval = MPI_KEYVAL_INVALID;

/* --- deletion ------------------------------------------------------------- */

static void context_destroy(struct aps_context *context)
{
    struct aps_queue *queue = context->queue;

    if (context->state == APS_CONTEXT_DISCOVER)
        aps_context_end_discovery(context);
    aps_discovery_clear(&context->discovery);
    aps_context_end_desyncs(context);
    aps_other_state_clear(&context->other_collectives);
    aps_comm_resources_release(
        context->resources, context->damaged || context->failed != MPI_SUCCESS);
    aps_hidden_comm_release(context->world);
    aps_steps_destroy(context->steps);
    if (context->trials)
        context->destroy_trials(context->trials);
    aps_carried_state_clear(&context->kept);
    aps_sample_clear(&context->sample);
    free(context->layers);
    free(context->ranks);
    free(context);
    aps_queue_pool_give(queue);
}

static void context_run_end(struct aps_operation *operation)
{
    context_destroy(operation->owner);
}

static int context_delete_callback(MPI_Comm comm, int key, void *value,
                                   void *extra)
{
    struct aps_context *context = value;

    atomic_fetch_add(&aps_job_changes, 1);
    (void)comm;
    (void)key;
    (void)extra;
    /* A program may free a communicator before its nonblocking calls are
     * complete, and MPI may call this in the progress thread. */
    if (context->queue && !aps_queue_is_empty(context->queue)) {
        context->end =
            (struct aps_operation){.owner = context, .run = context_run_end};
        aps_queue_push(context->queue, &context->end);
    } else {
        context_destroy(context);
    }
    return MPI_SUCCESS;
}

/* --- creation ------------------------------------------------------------- */

/* Makes the key for contexts, in the first thread that calls this. Returns true
 * if there is a key. No lock is held across a call of MPI: if two threads make
 * a key, one of them frees its own. */
static bool context_make_keyval(void)
{
    int own, none = MPI_KEYVAL_INVALID;

    if (atomic_load(&keyval) != MPI_KEYVAL_INVALID)
        return true;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, context_delete_callback,
                                &own, NULL) != MPI_SUCCESS)
        return false;
    if (!atomic_compare_exchange_strong(&keyval, &none, own))
        PMPI_Comm_free_keyval(&own);
    return true;
}

/* Sets the label: the name that the program gave the communicator, or a name
 * that is unique in the job, from the rank of this process in the job and a
 * count. Only rank 0 of the communicator makes such a name, because other ranks
 * do not know its count, and do not write the log. */
static void context_make_label(struct aps_context *context, MPI_Comm comm)
{
    static atomic_uint serial;
    char name[MPI_MAX_OBJECT_NAME] = "", leader[16] = "";
    int length = 0;

    if (PMPI_Comm_get_name(comm, name, &length) == MPI_SUCCESS && length > 0) {
        snprintf(context->label, sizeof context->label, "%.*s",
                 (int)sizeof context->label - 1, name);
    } else if (context->rank == 0) {
        if (aps_job_rank() > 0)
            snprintf(leader, sizeof leader, "%d.", aps_job_rank());
        snprintf(context->label, sizeof context->label, "comm%s%u", leader,
                 atomic_fetch_add(&serial, 1));
    } else {
        snprintf(context->label, sizeof context->label,
                 "a communicator of %d ranks", context->size);
    }
}

/* True if comm is an intercommunicator or has a single rank. Every call then
 * passes for context->reason. */
static bool context_always_passes(struct aps_context *context, MPI_Comm comm)
{
    int inter = 0;

    context->reason = APS_PASSED_INTER;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
        return true;
    context->reason = APS_PASSED_SINGLE;
    return context->size < 2;
}

/* Local. Allocates the state for the agreed policy. Returns 0, or -1 if memory
 * is missing; the caller then destroys the context. */
static int context_equip(struct aps_context *context)
{
    static const struct aps_policy_steps discover = {.kind = APS_STEPS_AUTO};
    const struct aps_handshake *agreed = &context->world->agreed;
    const struct aps_policy *policy = context->job->policy;

    context->reason = agreed->reason;
    if (agreed->outcome == APS_AGREED_PASS)
        return 0;
    if (agreed->outcome == APS_AGREED_DISCOVER) {
        context->reason = APS_PASSED_UNRULED;
        context->min_count = DISCOVER_MIN_COUNT;
        context->steps = aps_steps_create(&discover, NULL, 0);
        if (context->steps)
            context->state = APS_CONTEXT_DISCOVER;
        return context->steps ? 0 : -1;
    }
    context->sample_every = agreed->sample_every;
    context->min_count = aps_policy_min_count(policy);
    context->steps =
        aps_steps_create(aps_policy_steps(policy), aps_policy_layers(policy),
                         context->min_count);
    context->state = APS_CONTEXT_ACTIVE;
    return context->steps && (context->sample_every == 0 ||
                              aps_sample_init(&context->sample) == 0)
               ? 0
               : -1;
}

/* COLLECTIVE over comm. Makes a hidden communicator for comm alone. If other
 * ranks of comm are in MPI_Init, comm is MPI_COMM_WORLD, and the new hidden
 * communicator becomes the job's, so that the calls of these ranks find it,
 * too. Returns the value of aps_hidden_comm_create. */
static int context_make_world(struct aps_context *context, MPI_Comm comm,
                              struct aps_hidden_comm **world)
{
    MPI_Errhandler theirs = aps_errhandler_push(comm);
    const int rc = aps_hidden_comm_create(comm, false, world);
    const bool made = rc == MPI_SUCCESS;

    aps_errhandler_pop(comm, theirs);
    if (made && (*world)->agreed.mixed)
        aps_lifecycle_take_world(*world);
    else
        context->own_world = made;
    return rc;
}

/* Finds the hidden communicator of comm's ranks: the job's, or one that is
 * made for comm. Local if the job's has all of comm's ranks, or if `make` is
 * false; otherwise COLLECTIVE over comm. context->world is NULL on all ranks
 * if they have none. Returns 0, or -1 if memory is missing or MPI failed on
 * this rank. */
static int context_find_world(struct aps_context *context, MPI_Comm comm,
                              bool make)
{
    struct aps_hidden_comm *world = aps_hidden_comm_of_job();
    bool no_memory = false;

    if (world)
        context->ranks =
            aps_hidden_comm_ranks(world, comm, context->size, &no_memory);
    if (no_memory)
        return -1;
    if (!context->ranks && make) {
        world = NULL; /* only this context refers to the new one */
        if (context_make_world(context, comm, &world) > 0)
            return -1;
        if (world)
            context->ranks =
                aps_hidden_comm_ranks(world, comm, context->size, &no_memory);
    }
    if (context->ranks && !context->own_world)
        aps_hidden_comm_ref(world);
    if (context->ranks || context->own_world)
        context->world = world;
    return no_memory ? -1 : 0;
}

/* Reports the agreement of comm's own hidden communicator, or stops the job. */
static void context_tell_world(struct aps_context *context)
{
    const struct aps_handshake *agreed = &context->world->agreed;

    if (agreed->stop)
        aps_lifecycle_stop();
    if (agreed->cause[0] != '\0')
        aps_context_event(context,
                          "%s: every call on this communicator passes through",
                          agreed->cause);
}

/* Local, unless `make` is true and comm needs a hidden communicator of its own;
 * then COLLECTIVE over comm. If `make` is false and comm needs one, *created is
 * NULL on all ranks. Returns 0, or -1 if memory is missing on this rank. */
static int context_create(MPI_Comm comm, bool make,
                          struct aps_context **created)
{
    struct aps_context *context = calloc(1, sizeof *context);

    if (!context || PMPI_Comm_size(comm, &context->size) != MPI_SUCCESS)
        goto no_memory;
    PMPI_Comm_rank(comm, &context->rank);
    context->job = aps_job();
    context->state = APS_CONTEXT_PASS;
    context_make_label(context, comm);
    if (!context_always_passes(context, comm)) {
        if (context_find_world(context, comm, make) < 0)
            goto no_memory;
        if (!context->world && !make) { /* a blocking call will make one */
            free(context);
            return 0;
        }
        context->reason = APS_PASSED_RESOURCES;
        if (!context->world)
            aps_context_event(context,
                              "MPI cannot make an internal communicator: every "
                              "call on this communicator passes through");
        else if (context_equip(context) < 0)
            goto no_memory;
    }
    if (PMPI_Comm_set_attr(comm, keyval, context) != MPI_SUCCESS)
        goto no_memory;
    if (context->own_world)
        context_tell_world(context);
    aps_lifecycle_watch_end();
    *created = context;
    return 0;

no_memory:
    if (context)
        context_destroy(context);
    return -1;
}

static int context_find(MPI_Comm comm, bool make, struct aps_context **context)
{
    int found = 0;
    int rc;

    *context = NULL;
    if (!context_make_keyval())
        goto no_memory;
    rc = PMPI_Comm_get_attr(comm, keyval, context, &found);
    if (rc != MPI_SUCCESS || found)
        return rc;
    *context = NULL;
    if (context_create(comm, make, context) == 0)
        return MPI_SUCCESS;

no_memory:
    PMPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
}

int aps_context_find(MPI_Comm comm, struct aps_context **context)
{
    const unsigned now = atomic_load(&aps_job_changes);
    int rc = context_find(comm, true, context);

    if (rc == MPI_SUCCESS)
        aps_context_recent = (struct aps_context_recent){comm, *context, now};
    return rc;
}

int aps_context_find_local(MPI_Comm comm, bool queued,
                           struct aps_context **context)
{
    int rc = context_find(comm, false, context);

#ifdef HAVE_PMPIX_GREQUEST_START
    (void)queued;
#else
    /* Only threads can drive a queue. */
    if (queued && *context && (*context)->world &&
        !(*context)->world->agreed.threads)
        *context = NULL;
#endif
    return rc;
}

struct aps_context *aps_context_existing(MPI_Comm comm)
{
    struct aps_context *context = NULL;
    int found = 0;

    if (atomic_load(&keyval) == MPI_KEYVAL_INVALID ||
        PMPI_Comm_get_attr(comm, keyval, &context, &found) != MPI_SUCCESS)
        return NULL;
    return found ? context : NULL;
}

enum aps_reason aps_context_why_none(MPI_Comm comm)
{
    return aps_context_existing(comm) ? APS_PASSED_THREADS : APS_PASSED_EARLY;
}

/* --- resources ------------------------------------------------------------ */

int aps_context_begin_resources(struct aps_context *context, MPI_Comm comm)
{
    const struct aps_members members = {
        .rank = context->rank, .size = context->size, .ranks = context->ranks};
    const int rc = aps_comm_resources_begin(context->world, comm, &members,
                                            &context->resources);

    context->resources_state =
        rc == MPI_SUCCESS ? APS_RESOURCES_BEGUN : APS_RESOURCES_FAILED;
    return aps_context_fail(context, "the first rewritten call", rc);
}

void aps_context_complete_resources(struct aps_context *context)
{
    static atomic_ullong times;
    const int rc = aps_comm_resources_complete(&context->resources);

    context->resources_state =
        context->resources ? APS_RESOURCES_READY : APS_RESOURCES_FAILED;
    if (rc == MPI_SUCCESS && !context->resources &&
        aps_message_is_due(atomic_fetch_add(&times, 1) + 1))
        aps_context_event(context,
                          "the ranks find no free tags for the messages of "
                          "this communicator (the program has too many "
                          "communicators): blocking calls on it pass through, "
                          "nonblocking ones fail");
    (void)aps_context_fail(context, "the first rewritten call", rc);
}

bool aps_context_has_resources(struct aps_context *context, MPI_Comm comm)
{
    if (context->resources_state == APS_RESOURCES_NONE)
        (void)aps_context_begin_resources(context, comm);
    if (context->resources_state == APS_RESOURCES_BEGUN)
        aps_context_complete_resources(context);
    return context->resources_state == APS_RESOURCES_READY;
}

static void context_report(void *owner, const char *text)
{
    aps_context_event(owner, "%s", text);
}

struct aps_layer_site aps_context_site(struct aps_context *context,
                                       struct aps_carried_state *kept)
{
    return (struct aps_layer_site){
        .reductions = aps_comm_resources_reductions(context->resources),
        .vcomm = aps_comm_resources_vcomm(context->resources),
        .kept = kept,
        .report = context_report,
        .owner = context,
    };
}

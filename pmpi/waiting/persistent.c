/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "waiting/persistent.h"

#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/bucket.h"
#include "call/call.h"
#include "call/plan.h"
#include "call/start.h"
#include "call/collective.h"
#include "comm/context.h"
#include "comm/report.h"
#include "native/next_mpi.h"
#include "queue/queue.h"

struct persistent {
    struct persistent *next; /* next request in the bucket */
    MPI_Request handle; /* MPI's request; freed together with this record */
    MPI_Request inner;  /* MPI_REQUEST_NULL: inactive */
    struct aps_call_arguments arguments;
    bool passes;            /* the request is MPI's own, and its starts are
                               counted */
    enum aps_reason reason; /* reason why the call passes */
};

#define BUCKET_BITS 8

atomic_int aps_persistent_requests;
atomic_int aps_persistent_passing;
static struct persistent *table[1 << BUCKET_BITS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Returns the place of the pointer to the request with this handle, or the
 * place to insert it. The caller holds the lock. */
static struct persistent **persistent_place_of(MPI_Request handle)
{
    struct persistent **place =
        &table[aps_bucket((uint64_t)(uintptr_t)handle, BUCKET_BITS)];

    while (*place && (*place)->handle != handle)
        place = &(*place)->next;
    return place;
}

static struct persistent *persistent_find_any(MPI_Request handle)
{
    struct persistent *found;

    if (handle == MPI_REQUEST_NULL)
        return NULL;
    pthread_mutex_lock(&lock);
    found = *persistent_place_of(handle);
    pthread_mutex_unlock(&lock);
    return found;
}

/* Returns the request, or NULL if it is MPI's own. */
static struct persistent *persistent_find(MPI_Request handle)
{
    struct persistent *found = persistent_find_any(handle);

    return found && !found->passes ? found : NULL;
}

static atomic_int *persistent_counter(const struct persistent *persistent)
{
    return persistent->passes ? &aps_persistent_passing
                              : &aps_persistent_requests;
}

/* Calls the error handler of the request's communicator. Returns rc. */
static int persistent_raise(const struct aps_call_arguments *arguments, int rc)
{
    PMPI_Comm_call_errhandler(arguments->comm, rc);
    return rc;
}

void aps_persistent_forget(MPI_Request request)
{
    struct persistent **place;
    struct persistent *persistent = NULL;

    if (request == MPI_REQUEST_NULL)
        return;
    pthread_mutex_lock(&lock);
    place = persistent_place_of(request);
    if (*place) {
        persistent = *place;
        *place = persistent->next;
        atomic_fetch_sub(persistent_counter(persistent), 1);
    }
    pthread_mutex_unlock(&lock);
    free(persistent);
}

#ifdef HAVE_PMPI_ALLREDUCE_INIT

static _Thread_local bool left_to_mpi;

static void persistent_keep(struct persistent *persistent)
{
    struct persistent **place;
    struct persistent *stale;

    pthread_mutex_lock(&lock);
    place = persistent_place_of(persistent->handle);
    stale = *place; /* left over from a request that was freed without the
                       library */
    if (stale) {
        persistent->next = stale->next;
        atomic_fetch_sub(persistent_counter(stale), 1);
    }
    atomic_fetch_add(persistent_counter(persistent), 1);
    *place = persistent;
    pthread_mutex_unlock(&lock);
    free(stale);
}

static int persistent_init(const struct aps_call_arguments *arguments,
                           MPI_Info info, MPI_Request *request)
{
    return APS_NEXT_CALL(arguments->large, Allreduce_init, arguments->send,
                         arguments->receive, arguments->count, arguments->type,
                         arguments->op, arguments->comm, info, request);
}

#define STRICT_ORDER "mpi_assert_strict_persistent_collective_ordering"

/* True if the info asserts the order of starts. It must do so on all ranks or
 * on none (MPI 4.1, info keys of communicators). */
static bool persistent_info_asserts(MPI_Info info)
{
    char value[sizeof "false"] = "";
    int found = 0;

    if (info == MPI_INFO_NULL ||
        PMPI_Info_get(info, STRICT_ORDER, sizeof value - 1, value, &found) !=
            MPI_SUCCESS)
        return false;
    return found && strcmp(value, "true") == 0;
}

static bool persistent_comm_asserts(MPI_Comm comm)
{
    MPI_Info info = MPI_INFO_NULL;
    bool asserts;

    if (PMPI_Comm_get_info(comm, &info) != MPI_SUCCESS)
        return false;
    asserts = persistent_info_asserts(info);
    if (info != MPI_INFO_NULL)
        PMPI_Info_free(&info);
    return asserts;
}

/*
 * Local, the same on all ranks. Finds out whether the ranks of comm have agreed
 * on a policy, in MPI_Init or in an earlier blocking call on comm. If so,
 * *context is the context of comm; otherwise it is NULL, and *reason is set. A
 * rank's own policy does not count, because the others may have none of their
 * own. Returns an MPI error code, for which the program's error handler has
 * been called.
 */
static int persistent_find_policy(MPI_Comm comm, struct aps_context **context,
                                  enum aps_reason *reason)
{
    int rc = aps_context_find_local(comm, true, context);

    if (rc == MPI_SUCCESS && !*context)
        *reason = aps_context_why_none(comm);
    if (rc != MPI_SUCCESS || !*context ||
        (*context)->state == APS_CONTEXT_ACTIVE)
        return rc;
    *reason = (*context)->reason;
    *context = NULL;
    return rc;
}

/* True if the program asserts the order of starts. Ranks may start persistent
 * requests in different orders, but MPI_Start starts a queued reduction or a
 * nonblocking call, which ranks match by the order of starts. Only the program
 * can say that all ranks have the same order. */
static bool persistent_is_ordered(struct aps_context *context,
                                  const struct aps_call_arguments *arguments,
                                  MPI_Info info)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;

    if (persistent_info_asserts(info) ||
        persistent_comm_asserts(arguments->comm))
        return true;
    if ((unsigned long long)arguments->count >= context->min_count &&
        !atomic_flag_test_and_set(&told))
        aps_context_event(
            context,
            "persistent all-reduces are left to MPI, because ranks may start "
            "them in different orders; if they do not, set " STRICT_ORDER
            " to true in the info of MPI_Allreduce_init");
    return false;
}

int aps_persistent_init(const struct aps_call_arguments *arguments,
                        MPI_Info info, MPI_Request *request)
{
    struct persistent *persistent;
    struct aps_context *context = NULL;
    enum aps_reason reason = APS_PASSED_OTHER;
    int rc;

    if (aps_job()->foreign)
        return persistent_init(arguments, info, request);
    /* Prepare everything before MPI's own call, so that nothing has to be
     * undone. */
    if (request && !arguments->collective->is_eligible(aps_job(), arguments))
        reason = aps_call_why_ineligible(arguments);
    else if (request)
        reason = aps_call_is_empty(arguments) ? APS_PASSED_SMALL
                                              : APS_PASSED_PERSISTENT;
    if (reason == APS_PASSED_PERSISTENT) {
        rc = left_to_mpi
                 ? MPI_SUCCESS
                 : persistent_find_policy(arguments->comm, &context, &reason);
        if (rc != MPI_SUCCESS)
            return rc;
    }
    persistent = calloc(1, sizeof *persistent);
    if (context && !persistent)
        return persistent_raise(arguments, MPI_ERR_NO_MEM);
    rc = persistent_init(arguments, info, request);
    if (!persistent || rc != MPI_SUCCESS) {
        free(persistent); /* without memory its starts are not counted */
        return rc;
    }
    /* By now MPI has checked that the info is valid. */
    persistent->passes =
        !context || !persistent_is_ordered(context, arguments, info);
    persistent->reason = reason;
    persistent->handle = *request;
    persistent->inner = MPI_REQUEST_NULL;
    persistent->arguments = *arguments;
    persistent_keep(persistent);
    return rc;
}

void aps_persistent_leave_to_mpi(bool leave)
{
    left_to_mpi = leave;
}

#endif

/* Counts the start of a request if it is MPI's own. NULL is allowed. */
static void persistent_count_start(const struct persistent *persistent)
{
    if (!persistent || !persistent->passes)
        return;
    aps_count(&aps_counters.calls, 1);
    aps_count(&aps_counters.passed[persistent->reason], 1);
    if (aps_reason_is_eligible(persistent->reason))
        aps_count(
            &aps_counters.eligible_bytes,
            (unsigned long long)persistent->arguments.count *
                aps_element_types[aps_element_of(persistent->arguments.type)]
                    .bytes);
}

void aps_persistent_count_start(MPI_Request request)
{
    persistent_count_start(persistent_find_any(request));
}

int aps_persistent_start(MPI_Request *request)
{
    struct persistent *persistent =
        request ? persistent_find_any(*request) : NULL;

    if (!persistent || persistent->passes) {
        persistent_count_start(persistent);
        return aps_next_mpi()->Start(request);
    }
    if (persistent->inner != MPI_REQUEST_NULL) /* it is active */
        return persistent_raise(&persistent->arguments, MPI_ERR_REQUEST);
    return aps_call_start(&persistent->arguments, &persistent->inner);
}

int aps_persistent_startall(int count, MPI_Request requests[])
{
    if (!aps_persistent_holds(count, requests)) {
        for (int i = 0; requests && i < count; i++)
            aps_persistent_count_start(requests[i]);
        return aps_next_mpi()->Startall(count, requests);
    }
    for (int i = 0; i < count; i++) {
        int rc = aps_persistent_start(&requests[i]);

        if (rc != MPI_SUCCESS)
            return rc;
    }
    return MPI_SUCCESS;
}

/* MPICH 4.0.2 completes a persistent collective, and may read it once more in
 * any other thread that is in MPI while the program frees it, and free it again
 * (fixed by its pull request 6255, in 4.0.3). A call that looks for messages
 * waits for such a thread. */
static void persistent_let_threads_pass(void)
{
    int initialized = 0, flag;

    if (PMPI_Initialized(&initialized) == MPI_SUCCESS && initialized)
        (void)PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag,
                          MPI_STATUS_IGNORE);
}

int aps_persistent_free(MPI_Request *request)
{
    if (request)
        aps_persistent_forget(*request);
    if (aps_counters_shared)
        persistent_let_threads_pass();
    return aps_next_mpi()->Request_free(request);
}

bool aps_persistent_holds(int count, const MPI_Request requests[])
{
    bool holds = false;

    for (int i = 0; requests && i < count && !holds; i++)
        holds = persistent_find(requests[i]) != NULL;
    return holds;
}

MPI_Request *aps_persistent_inner(MPI_Request request)
{
    struct persistent *persistent = persistent_find(request);

    return persistent ? &persistent->inner : NULL;
}

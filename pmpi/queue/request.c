/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "queue/request.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "queue/queue.h"
#include "queue/queue_hold.h"

struct aps_request {
    atomic_int holders; /* MPI, and the code that completes the request */
    _Atomic uint32_t complete;
    _Atomic uint32_t sleepers; /* number of threads that sleep on `complete` */
    int rc;
    MPI_Request handle;
    atomic_bool waited;
    bool threaded; /* a thread of the library works for it */
    /* queue of that thread; NULL: only that thread may complete it */
    struct aps_queue *queue;
};

/* Longest rest of a thread between two polls of MPI. */
#define NAP_NS 500000L

static _Thread_local bool driven;

/* The library's request that MPI has last found not complete for the driver of
 * this thread. */
static _Thread_local struct aps_request *incomplete;

void aps_request_set_driven(bool now)
{
    driven = now;
    if (now)
        incomplete = NULL;
}

static void request_release(struct aps_request *request)
{
    if (atomic_fetch_sub(&request->holders, 1) > 1)
        return;
    if (request->queue)
        aps_queue_release(request->queue);
    free(request);
}

/* Fills the status of a collective call: nothing was received. */
static int request_query(void *state, MPI_Status *status)
{
    const struct aps_request *request = state;

    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return request->rc;
}

static int request_forget(void *state)
{
    request_release(state);
    return MPI_SUCCESS;
}

/* A collective cannot be cancelled, and completes anyway. */
static int request_cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

#ifdef HAVE_PMPIX_GREQUEST_START
static int request_poll(void *state, MPI_Status *status)
{
    struct aps_request *request = state;

    (void)status;
    atomic_store(&request->waited, true);
    /* A poll outside of the driver may come from a queue's own wait, between
     * the driver's poll and its rest. */
    if (driven)
        incomplete = atomic_load(&request->complete) ? NULL : request;
    else
        aps_queue_drive();
    return MPI_SUCCESS;
}

static int request_wait(int count, void *states[], double timeout,
                        MPI_Status *status)
{
    (void)timeout;
    for (int i = 0; i < count; i++) {
        struct aps_request *request = states[i];
        long begin = 0;

        while (!atomic_load(&request->complete)) {
            (void)request_poll(request, status);
            if (!atomic_load(&request->complete))
                aps_queue_wait(&begin);
        }
    }
    return MPI_SUCCESS;
}
#endif

int aps_request_start(bool threaded, struct aps_queue *queue,
                      struct aps_request **request, MPI_Request *handle)
{
    struct aps_request *new = calloc(1, sizeof *new);
    int rc;

    if (!new)
        return MPI_ERR_NO_MEM;
    atomic_init(&new->holders, 2);
    new->threaded = threaded;
#ifdef HAVE_PMPIX_GREQUEST_START
    rc = PMPIX_Grequest_start(request_query, request_forget, request_cancel,
                              request_poll, request_wait, new, &new->handle);
#else
    rc = PMPI_Grequest_start(request_query, request_forget, request_cancel, new,
                             &new->handle);
#endif
    if (rc != MPI_SUCCESS) {
        free(new);
        return rc;
    }
    if (threaded && queue) {
        aps_queue_hold(queue);
        new->queue = queue;
    }
    *handle = new->handle;
    *request = new;
    return MPI_SUCCESS;
}

bool aps_request_is_waited(const struct aps_request *request)
{
    return atomic_load(&request->waited);
}

void aps_request_rest(void)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    struct aps_request *request = incomplete;

    atomic_fetch_add(&request->sleepers, 1);
    syscall(SYS_futex, &request->complete, FUTEX_WAIT_PRIVATE, 0, &nap, NULL,
            0);
    atomic_fetch_sub(&request->sleepers, 1);
}

bool aps_request_help(void)
{
    struct aps_request *request = incomplete;

    return request && request->queue &&
           aps_queue_help(request->queue, &request->complete);
}

bool aps_request_may_rest(void)
{
    return incomplete && incomplete->threaded;
}

void aps_request_complete(struct aps_request *request, int rc)
{
    request->rc = rc;
    PMPI_Grequest_complete(request->handle);
    atomic_store(&request->complete, 1);
    /* All accesses are sequentially consistent: either this thread sees the
     * sleeper, or the sleeper sees `complete`. */
    if (atomic_load(&request->sleepers) > 0)
        syscall(SYS_futex, &request->complete, FUTEX_WAKE_PRIVATE, INT_MAX,
                NULL, NULL, 0);
    request_release(request);
}

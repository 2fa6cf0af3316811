/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "device/bounce.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native/abi.h"
#include "base/message.h"
#include "device/device.h"
#include "device/gpu_copies.h"
#include "queue/progress_thread.h"
#include "device/pinned_pool.h"
#include "queue/queue.h"
#include "queue/request.h"
#include "message/wait.h"

/* --- whether bounce buffers are needed ----------------------------------- */

bool aps_bounce_is_wanted_by(struct aps_gpu_buffers gpu)
{
    return (gpu.send || gpu.receive) && !aps_device_mpi_is_aware();
}

atomic_ulong aps_bounce_failures;

/* --- one call ----------------------------------------------------------- */

/* Bytes that the elements of a buffer span. */
struct span {
    ptrdiff_t first; /* first byte, relative to the buffer's address */
    size_t bytes;
    bool gaps; /* MPI does not write all of the bytes */
};

/* Returns false if there are no elements, or if MPI will refuse the arguments. */
static bool bounce_measure(MPI_Count count, MPI_Datatype type,
                           struct span *span)
{
    MPI_Count lower, extent, first, length, size, last, bytes;

    if (count <= 0 || type == MPI_DATATYPE_NULL ||
        PMPI_Type_get_extent_x(type, &lower, &extent) != MPI_SUCCESS ||
        PMPI_Type_get_true_extent_x(type, &first, &length) != MPI_SUCCESS ||
        PMPI_Type_size_x(type, &size) != MPI_SUCCESS || length <= 0 ||
        __builtin_mul_overflow(count - 1, extent, &last))
        return false;
    if (last < 0) { /* the last element has the lowest address */
        first += last;
        last = -last;
    }
    if (__builtin_add_overflow(last, length, &bytes) || bytes > PTRDIFF_MAX)
        return false;
    *span = (struct span){
        .first = (ptrdiff_t)first,
        .bytes = (size_t)bytes,
        .gaps = size * count != bytes,
    };
    return true;
}

static void bounce_fetch(struct aps_bounce *bounce,
                         const struct aps_stand_in *side)
{
    if (aps_gpu_copy_out(side->host, side->device, side->bytes, bounce->cause,
                         sizeof bounce->cause) < 0)
        memset(side->host, 0, side->bytes);
}

/* Makes the bounce buffer of a buffer in GPU memory, and sets *instead to the
 * address for MPI. Returns an MPI error code. */
static int bounce_stand_in(const void *buffer, MPI_Count count,
                           MPI_Datatype type, struct aps_stand_in *side,
                           struct span *span, void **instead)
{
    if (!bounce_measure(count, type, span))
        return MPI_SUCCESS;
    side->host = aps_pinned_pool_take(span->bytes, buffer);
    if (!side->host)
        return MPI_ERR_NO_MEM;
    side->bytes = span->bytes;
    side->device = (void *)((uintptr_t)buffer + (uintptr_t)span->first);
    *instead = (void *)((uintptr_t)side->host - (uintptr_t)span->first);
    return MPI_SUCCESS;
}

static void bounce_begin(struct aps_bounce *bounce, const char *name,
                         MPI_Comm comm)
{
    *bounce = (struct aps_bounce){.name = name, .comm = comm, .rank = -1};
    if (aps_abi_is_communicator(comm))
        PMPI_Comm_rank(comm, &bounce->rank);
}

int aps_bounce_begin(struct aps_bounce *bounce, const char *name, MPI_Comm comm,
                     struct aps_gpu_buffers gpu, const void *send,
                     int64_t send_count, MPI_Datatype send_type, void *receive,
                     int64_t count, MPI_Datatype type)
{
    const bool in_place = send == MPI_IN_PLACE;
    struct span from = {0}, to = {0};
    void *instead = NULL;
    int rc = MPI_SUCCESS;

    bounce_begin(bounce, name, comm);
    bounce->send = send;
    bounce->receive = receive;
    if (gpu.send && !in_place && send_count > 0)
        rc = bounce_stand_in(send, send_count, send_type, &bounce->from, &from,
                             &instead);
    if (instead)
        bounce->send = instead;
    if (rc == MPI_SUCCESS && gpu.receive && count > 0)
        rc = bounce_stand_in(receive, count, type, &bounce->to, &to,
                             &bounce->receive);
    if (rc != MPI_SUCCESS) {
        aps_pinned_pool_give(bounce->from.host);
        bounce->from = (struct aps_stand_in){0};
        if (aps_abi_is_communicator(comm))
            PMPI_Comm_call_errhandler(comm, rc);
        return rc;
    }
    if (bounce->from.host)
        bounce_fetch(bounce, &bounce->from);
    if (bounce->to.host && (in_place || to.gaps))
        bounce_fetch(bounce, &bounce->to);
    return MPI_SUCCESS;
}

int aps_bounce_end(struct aps_bounce *bounce, int rc)
{
    const struct aps_stand_in *to = &bounce->to;

    if (rc == MPI_SUCCESS && to->host && bounce->cause[0] == '\0')
        (void)aps_gpu_copy_in(to->device, to->host, to->bytes, bounce->cause,
                              sizeof bounce->cause);
    aps_pinned_pool_give(bounce->from.host);
    aps_pinned_pool_give(bounce->to.host);
    bounce->from.host = bounce->to.host = NULL;
    if (bounce->cause[0] == '\0')
        return rc;
    if (aps_message_is_due(atomic_fetch_add(&aps_bounce_failures, 1) + 1))
        aps_message(bounce->rank,
                    "%s: a buffer in GPU memory cannot be copied: %s",
                    bounce->name, bounce->cause);
    return rc == MPI_SUCCESS ? MPI_ERR_OTHER : rc;
}

int aps_bounce_end_call(struct aps_bounce *bounce, int rc)
{
    const int ended = aps_bounce_end(bounce, rc);

    /* If the call itself failed, MPI has called the error handler. */
    if (rc == MPI_SUCCESS && ended != MPI_SUCCESS)
        PMPI_Comm_call_errhandler((MPI_Comm)bounce->comm, ended);
    return ended;
}

/* --- nonblocking calls -------------------------------------------------- */

/* The operations of all such calls are in one queue. MPI may complete the calls
 * in any order, so each operation tests all calls that are not complete. */
struct deferred {
    struct aps_operation operation;
    struct aps_bounce bounce;
    MPI_Request inner; /* MPI_REQUEST_NULL: complete */
    struct aps_request *request;
    struct deferred *next;
};

static struct aps_queue *queue;
static pthread_mutex_t deferred_lock = PTHREAD_MUTEX_INITIALIZER;
static struct deferred *under_way;

#ifdef HAVE_PMPIX_GREQUEST_START
#define WITH_THREAD false
#else
#define WITH_THREAD true
#endif

bool aps_bounce_can_defer(void)
{
    return !WITH_THREAD || aps_progress_thread_is_possible();
}

/* Completes the requests of the calls that MPI has completed. */
static void bounce_look(void)
{
    pthread_mutex_lock(&deferred_lock);
    for (struct deferred **link = &under_way; *link;) {
        struct deferred *this = *link;
        int done = 0;
        int rc = PMPI_Test(&this->inner, &done, MPI_STATUS_IGNORE);

        if (rc == MPI_SUCCESS && !done) {
            link = &this->next;
            continue;
        }
        *link = this->next;
        /* MPI cannot complete the call, and may still use the buffers, so they
         * are not reused. */
        if (this->inner != MPI_REQUEST_NULL)
            this->bounce.from.host = this->bounce.to.host = NULL;
        this->inner = MPI_REQUEST_NULL;
        aps_request_complete(this->request, aps_bounce_end(&this->bounce, rc));
    }
    pthread_mutex_unlock(&deferred_lock);
}

static void bounce_run(struct aps_operation *operation)
{
    struct deferred *this = operation->owner;

    for (bounce_look(); this->inner != MPI_REQUEST_NULL; bounce_look())
        aps_queue_pause(queue);
    free(this);
}

/* Returns the queue, which the first call creates, or NULL if memory is
 * missing. */
static struct aps_queue *bounce_queue(void)
{
    struct aps_queue *found;

    pthread_mutex_lock(&deferred_lock);
    if (!queue)
        queue = aps_queue_create(WITH_THREAD, "buffers in GPU memory");
    found = queue;
    pthread_mutex_unlock(&deferred_lock);
    return found;
}

static int bounce_create(struct deferred **deferred, MPI_Request *request)
{
    struct deferred *this = calloc(1, sizeof *this);
    int rc = this && bounce_queue()
                 ? aps_request_start(WITH_THREAD, NULL, &this->request, request)
                 : MPI_ERR_NO_MEM;

    if (rc == MPI_SUCCESS)
        *deferred = this;
    else
        free(this);
    return rc;
}

int aps_bounce_defer(const struct aps_bounce *bounce, const MPI_Request *inner,
                     MPI_Request *request)
{
    struct deferred *this = NULL;
    int rc = bounce_create(&this, request);

    if (rc != MPI_SUCCESS) {
        MPI_Request started = *(const MPI_Request *)inner;

        /* MPI must have finished with the buffers before they are given back. */
        (void)aps_wait_requests(1, &started);
        aps_pinned_pool_give(bounce->from.host);
        aps_pinned_pool_give(bounce->to.host);
        return rc;
    }
    this->operation = (struct aps_operation){.owner = this, .run = bounce_run};
    this->bounce = *bounce;
    this->inner = *inner;
    pthread_mutex_lock(&deferred_lock);
    this->next = under_way;
    under_way = this;
    pthread_mutex_unlock(&deferred_lock);
    aps_queue_push(queue, &this->operation);
    aps_progress_thread_notice();
    return MPI_SUCCESS;
}

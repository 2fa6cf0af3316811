/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "call/blocking.h"

#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

#include "progress/agree.h"
#include "call/call.h"
#include "comm/context.h"
#include "progress/progress_thread.h"
#include "progress/queue.h"
#include "reduce/reduction.h"
#include "progress/wait.h"

static void blocking_drain(MPI_Comm comm)
{
    struct aps_context *context =
        aps_abi_is_communicator(comm) ? aps_context_existing(comm) : NULL;

    /* Other ranks may have nothing under way, and not come here. */
    if (context && context->queue)
        aps_queue_drain(context->queue);
}

bool aps_blocking_enter_pending(aps_handle comm)
{
    const bool helped = aps_progress_thread_begin();

    if (!helped)
        blocking_drain((MPI_Comm)comm);
    return helped;
}

bool aps_blocking_duplicates(aps_handle handle)
{
#ifdef APS_MPI_MPICH
    const MPI_Comm comm = (MPI_Comm)handle;
    int inter, size;

    return aps_comm_resources_any_begun() && aps_abi_is_communicator(comm) &&
           PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter &&
           PMPI_Comm_size(comm, &size) == MPI_SUCCESS && size == 1;
#else
    (void)handle;
    return false;
#endif
}

int aps_blocking_duplicate(aps_handle handle, const aps_handle *info,
                           void *made, void *request)
{
    const MPI_Comm comm = (MPI_Comm)handle;
    const bool helped = aps_blocking_enter(handle);
    int rc = info ? PMPI_Comm_dup_with_info(comm, (MPI_Info)*info, made)
                  : PMPI_Comm_dup(comm, made);

    aps_blocking_leave(helped);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Ibarrier(comm, request); /* of one rank */
    return rc;
}

/*
 * A request of our own. Its error is the communicator's, as that of the
 * blocking call would be, but MPI_Test raises it on MPI_COMM_WORLD: not here.
 */
static int blocking_await(MPI_Comm comm, MPI_Request *request,
                          MPI_Status *status)
{
    static pthread_mutex_t handler = PTHREAD_MUTEX_INITIALIZER;
    long begin = 0;
    int rc;

    for (;;) {
        MPI_Errhandler theirs;
        int done = 0;

        /* One thread at a time: or another would take ours for theirs. */
        pthread_mutex_lock(&handler);
        theirs = aps_errhandler_push(MPI_COMM_WORLD);
        rc = PMPI_Test(request, &done, status);
        aps_errhandler_pop(MPI_COMM_WORLD, theirs);
        pthread_mutex_unlock(&handler);
        if (rc != MPI_SUCCESS || done)
            break;
        aps_queue_wait(&begin);
    }
    if (rc != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(comm, rc);
    return rc;
}

/* The nonblocking variant has been started. */
static int blocking_finish(int rc, aps_handle comm, MPI_Request *request,
                           MPI_Status *status)
{
    return rc == MPI_SUCCESS ? blocking_await((MPI_Comm)comm, request, status)
                             : rc;
}

/* Counts that an int does not hold: where MPI takes them, so do we. */
#ifdef HAVE_PMPI_ISEND_C
#define SIZED(name) PMPI_##name##_c
#define AS_COUNT(count) ((MPI_Count)(count))
typedef MPI_Count sized_t;
#else
#define SIZED(name) PMPI_##name
#define AS_COUNT(count) ((int)(count))
typedef int sized_t;
#endif

int aps_blocking_send(enum aps_send_kind kind, const void *bytes, int64_t count,
                      aps_handle type, int to, int tag, aps_handle comm)
{
    MPI_Request request;
    int rc;

    switch (kind) {
    case APS_SSEND:
        rc = SIZED(Issend)(bytes, AS_COUNT(count), (MPI_Datatype)type, to, tag,
                           (MPI_Comm)comm, &request);
        break;
    case APS_RSEND:
        rc = SIZED(Irsend)(bytes, AS_COUNT(count), (MPI_Datatype)type, to, tag,
                           (MPI_Comm)comm, &request);
        break;
    default:
        rc = SIZED(Isend)(bytes, AS_COUNT(count), (MPI_Datatype)type, to, tag,
                          (MPI_Comm)comm, &request);
        break;
    }
    return blocking_finish(rc, comm, &request, MPI_STATUS_IGNORE);
}

int aps_blocking_receive(void *bytes, int64_t count, aps_handle type, int from,
                         int tag, aps_handle comm, void *status)
{
    MPI_Request request;
    int rc;

    /* Waits for nobody; and a request would leave MPICH's status (4.0.2) with
     * another source. */
    if (from == MPI_PROC_NULL)
        return SIZED(Recv)(bytes, AS_COUNT(count), (MPI_Datatype)type, from,
                           tag, (MPI_Comm)comm, status);
    rc = SIZED(Irecv)(bytes, AS_COUNT(count), (MPI_Datatype)type, from, tag,
                      (MPI_Comm)comm, &request);
    return blocking_finish(rc, comm, &request, status);
}

/* Both sides have been begun. As MPI_Sendrecv, the receive's status. */
static int blocking_finish_exchange(int rc, MPI_Comm comm, MPI_Request *receive,
                                    MPI_Request *send, MPI_Status *status)
{
    int sent;

    if (rc != MPI_SUCCESS) { /* the send has not */
        PMPI_Cancel(receive);
        PMPI_Request_free(receive);
        return rc;
    }
    rc = blocking_await(comm, receive, status);
    sent = blocking_await(comm, send, MPI_STATUS_IGNORE);
    return rc == MPI_SUCCESS ? sent : rc;
}

/* Not by MPI_Isendrecv, whose status MPICH (4.0.2) leaves empty. */
int aps_blocking_exchange(const void *send, int64_t send_count,
                          aps_handle send_type, int to, int send_tag,
                          void *receive, int64_t receive_count,
                          aps_handle receive_type, int from, int receive_tag,
                          aps_handle comm, void *status)
{
    MPI_Request incoming, outgoing;
    int rc;

    if (from == MPI_PROC_NULL) {
        rc = aps_blocking_send(APS_SEND, send, send_count, send_type, to,
                               send_tag, comm);
        return rc == MPI_SUCCESS
                   ? aps_blocking_receive(receive, receive_count, receive_type,
                                          from, receive_tag, comm, status)
                   : rc;
    }
    rc = SIZED(Irecv)(receive, AS_COUNT(receive_count),
                      (MPI_Datatype)receive_type, from, receive_tag,
                      (MPI_Comm)comm, &incoming);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = SIZED(Isend)(send, AS_COUNT(send_count), (MPI_Datatype)send_type, to,
                      send_tag, (MPI_Comm)comm, &outgoing);
    return blocking_finish_exchange(rc, (MPI_Comm)comm, &incoming, &outgoing,
                                    status);
}

int aps_blocking_exchange_in_place(void *bytes, int64_t count, aps_handle type,
                                   int to, int send_tag, int from,
                                   int receive_tag, aps_handle comm,
                                   void *status)
{
    sized_t size = 0, packed = 0;
    void *copy;
    int rc = SIZED(Pack_size)(AS_COUNT(count), (MPI_Datatype)type,
                              (MPI_Comm)comm, &size);

    if (rc != MPI_SUCCESS)
        return rc;
    copy = malloc(size > 0 ? (size_t)size : 1);
    if (!copy) {
        PMPI_Comm_call_errhandler((MPI_Comm)comm, MPI_ERR_NO_MEM);
        return MPI_ERR_NO_MEM;
    }
    rc = SIZED(Pack)(bytes, AS_COUNT(count), (MPI_Datatype)type, copy, size,
                     &packed, (MPI_Comm)comm);
    if (rc == MPI_SUCCESS)
        rc = aps_blocking_exchange(copy, packed, (aps_handle)MPI_PACKED, to,
                                   send_tag, bytes, count, type, from,
                                   receive_tag, comm, status);
    free(copy);
    return rc;
}

int aps_blocking_probe(int from, int tag, aps_handle comm, void *status)
{
    long begin = 0;

    for (int found = 0;;) {
        int rc = PMPI_Iprobe(from, tag, (MPI_Comm)comm, &found, status);

        if (rc != MPI_SUCCESS || found)
            return rc;
        aps_queue_wait(&begin);
    }
}

int aps_blocking_mprobe(int from, int tag, aps_handle comm, void *message,
                        void *status)
{
    long begin = 0;

    for (int found = 0;;) {
        int rc =
            PMPI_Improbe(from, tag, (MPI_Comm)comm, &found, message, status);

        if (rc != MPI_SUCCESS || found)
            return rc;
        aps_queue_wait(&begin);
    }
}

int aps_blocking_mrecv(void *bytes, int64_t count, aps_handle type,
                       void *message, void *status)
{
    MPI_Request request;
    int rc;

    if (*(MPI_Message *)message == MPI_MESSAGE_NO_PROC)
        return SIZED(Mrecv)(bytes, AS_COUNT(count), (MPI_Datatype)type, message,
                            status);
    rc = SIZED(Imrecv)(bytes, AS_COUNT(count), (MPI_Datatype)type, message,
                       &request);
    /* Which communicator it came by is not to be learnt. */
    return blocking_finish(rc, (aps_handle)MPI_COMM_WORLD, &request, status);
}

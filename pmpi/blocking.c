/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "blocking.h"

#include <mpi.h>

#include "call.h"
#include "completion.h"
#include "context.h"
#include "queue.h"
#include "wait.h"

void aps_blocking_collective(aps_handle handle)
{
    MPI_Comm comm = (MPI_Comm)handle;
    struct aps_context *context;

    if (!aps_abi_is_communicator(comm))
        return;
    context = aps_context_existing(comm);
    if (context && context->queue)
        aps_context_drain(context);
}

/* The nonblocking variant has been started. */
static int finish(int rc, MPI_Request *request, MPI_Status *status)
{
    return rc == MPI_SUCCESS ? aps_completion_wait(request, status) : rc;
}

/* Counts that an int does not hold: where MPI takes them, so do we. */
#ifdef HAVE_PMPI_ISEND_C
#define SIZED(name) PMPI_##name##_c
#define AS_COUNT(count) ((MPI_Count)(count))
#else
#define SIZED(name) PMPI_##name
#define AS_COUNT(count) ((int)(count))
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
    return finish(rc, &request, MPI_STATUS_IGNORE);
}

int aps_blocking_receive(void *bytes, int64_t count, aps_handle type, int from,
                         int tag, aps_handle comm, void *status)
{
    MPI_Request request;
    int rc = SIZED(Irecv)(bytes, AS_COUNT(count), (MPI_Datatype)type, from, tag,
                          (MPI_Comm)comm, &request);

    return finish(rc, &request, status);
}

#ifdef HAVE_PMPI_ISENDRECV_REPLACE
int aps_blocking_exchange(const void *send, int64_t send_count,
                          aps_handle send_type, int to, int send_tag,
                          void *receive, int64_t receive_count,
                          aps_handle receive_type, int from, int receive_tag,
                          aps_handle comm, void *status)
{
    MPI_Request request;
    int rc = SIZED(Isendrecv)(
        send, AS_COUNT(send_count), (MPI_Datatype)send_type, to, send_tag,
        receive, AS_COUNT(receive_count), (MPI_Datatype)receive_type, from,
        receive_tag, (MPI_Comm)comm, &request);

    return finish(rc, &request, status);
}

int aps_blocking_exchange_in_place(void *bytes, int64_t count, aps_handle type,
                                   int to, int send_tag, int from,
                                   int receive_tag, aps_handle comm,
                                   void *status)
{
    MPI_Request request;
    int rc = SIZED(Isendrecv_replace)(bytes, AS_COUNT(count),
                                      (MPI_Datatype)type, to, send_tag, from,
                                      receive_tag, (MPI_Comm)comm, &request);

    return finish(rc, &request, status);
}
#endif

int aps_blocking_probe(int from, int tag, aps_handle comm, void *status)
{
    long begin = 0;

    for (int found = 0;;) {
        int rc = PMPI_Iprobe(from, tag, (MPI_Comm)comm, &found, status);

        if (rc != MPI_SUCCESS || found)
            return rc;
        aps_queue_drive_blocked();
        aps_wait_rest(&begin);
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
        aps_queue_drive_blocked();
        aps_wait_rest(&begin);
    }
}

int aps_blocking_mrecv(void *bytes, int64_t count, aps_handle type,
                       void *message, void *status)
{
    MPI_Request request;
    int rc = SIZED(Imrecv)(bytes, AS_COUNT(count), (MPI_Datatype)type, message,
                           &request);

    return finish(rc, &request, status);
}

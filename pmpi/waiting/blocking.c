/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "waiting/blocking.h"

#include <mpi.h>
#include <stdlib.h>

#include "collective/derived.h"
#include "comm/comm_queue.h"
#include "native/abi.h"
#include "native/sized.h"
#include "queue/queue.h"
#include "message/wait.h"

/* Waits for a request that this file has started, to send or to receive a
 * matched message. If it fails, MPI chooses which error handler it calls. */
static int blocking_await(int rc, MPI_Request *request, MPI_Status *status)
{
    long begin = 0;

    for (int done = 0; rc == MPI_SUCCESS && !done;) {
        rc = PMPI_Test(request, &done, status);
        if (rc == MPI_SUCCESS && !done)
            aps_queue_wait(&begin);
    }
    return rc;
}

int aps_blocking_send(enum aps_send_kind kind, const void *bytes, int64_t count,
                      MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    MPI_Request request;
    int rc;

    switch (kind) {
    case APS_SSEND:
        rc = APS_SIZED(Issend)(bytes, (aps_sized)(count), type, to, tag, comm,
                               &request);
        break;
    case APS_RSEND:
        rc = APS_SIZED(Irsend)(bytes, (aps_sized)(count), type, to, tag, comm,
                               &request);
        break;
    default:
        rc = APS_SIZED(Isend)(bytes, (aps_sized)(count), type, to, tag, comm,
                              &request);
        break;
    }
    return blocking_await(rc, &request, MPI_STATUS_IGNORE);
}

/* True for arguments with which MPI_Recv fails at once, whatever message
 * arrives. */
static bool blocking_is_wrong(int64_t count, MPI_Datatype type)
{
    return count < 0 || type == MPI_DATATYPE_NULL;
}

/*
 * Does not use MPI_Irecv: MPICH raises the error of a request, such as a
 * message that is too long, on MPI_COMM_WORLD. MPI_Recv raises it on `comm`,
 * and does not wait if the message is there. If another thread takes that
 * message, MPI_Recv waits for any other message that matches, and a progress
 * thread drives what is under way.
 */
int aps_blocking_receive(void *bytes, int64_t count, MPI_Datatype type,
                         int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    bool helped = false;
    int rc;

    if (from != MPI_PROC_NULL && !blocking_is_wrong(count, type)) {
        rc = aps_blocking_probe(from, tag, comm, MPI_STATUS_IGNORE);
        if (rc != MPI_SUCCESS)
            return rc;
        helped = aps_progress_thread_begin();
    }
    rc = APS_SIZED(Recv)(bytes, (aps_sized)(count), type, from, tag, comm,
                         status);
    aps_blocking_leave(helped);
    return rc;
}

/* Does not use MPI_Isendrecv: MPICH (4.0.2) leaves its status empty. */
int aps_blocking_exchange(const void *send, int64_t send_count,
                          MPI_Datatype send_type, int to, int send_tag,
                          void *receive, int64_t receive_count,
                          MPI_Datatype receive_type, int from, int receive_tag,
                          MPI_Comm comm, MPI_Status *status)
{
    MPI_Request request;
    int rc, sent;

    if (blocking_is_wrong(receive_count, receive_type))
        return APS_SIZED(Sendrecv)(send, (aps_sized)(send_count), send_type, to,
                                   send_tag, receive,
                                   (aps_sized)(receive_count), receive_type,
                                   from, receive_tag, comm, status);
    rc = APS_SIZED(Isend)(send, (aps_sized)(send_count), send_type, to,
                          send_tag, comm, &request);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = aps_blocking_receive(receive, receive_count, receive_type, from,
                              receive_tag, comm, status);
    sent = blocking_await(MPI_SUCCESS, &request, MPI_STATUS_IGNORE);
    return rc == MPI_SUCCESS ? sent : rc;
}

/* Packs the elements into copy[size]; *packed: number of bytes used. */
static int blocking_pack(const void *bytes, int64_t count, MPI_Datatype type,
                         void *copy, aps_sized size, aps_sized *packed,
                         MPI_Comm comm)
{
    const bool holds =
        count > 0 && !bytes && !aps_derived_is_missing(aps_job(), bytes, type);
    int rc = holds ? aps_derived_hold(&bytes, &type) : MPI_SUCCESS;

    if (rc != MPI_SUCCESS)
        return rc;
    rc = APS_SIZED(Pack)(bytes, (aps_sized)(count), type, copy, size, packed,
                         comm);
    if (holds)
        PMPI_Type_free(&type);
    return rc;
}

int aps_blocking_exchange_in_place(void *bytes, int64_t count,
                                   MPI_Datatype type, int to, int send_tag,
                                   int from, int receive_tag, MPI_Comm comm,
                                   MPI_Status *status)
{
    aps_sized size = 0, packed = 0;
    void *copy;
    int rc = APS_SIZED(Pack_size)((aps_sized)(count), type, comm, &size);

    if (rc != MPI_SUCCESS)
        return rc;
    copy = malloc(size > 0 ? (size_t)size : 1);
    if (!copy) {
        PMPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
        return MPI_ERR_NO_MEM;
    }
    rc = blocking_pack(bytes, count, type, copy, size, &packed, comm);
    if (rc == MPI_SUCCESS)
        rc =
            aps_blocking_exchange(copy, packed, MPI_PACKED, to, send_tag, bytes,
                                  count, type, from, receive_tag, comm, status);
    free(copy);
    return rc;
}

int aps_blocking_probe(int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    long begin = 0;

    for (int found = 0;;) {
        int rc = PMPI_Iprobe(from, tag, comm, &found, status);

        if (rc != MPI_SUCCESS || found)
            return rc;
        aps_queue_wait(&begin);
    }
}

int aps_blocking_mprobe(int from, int tag, MPI_Comm comm, MPI_Message *message,
                        MPI_Status *status)
{
    long begin = 0;

    for (int found = 0;;) {
        int rc = PMPI_Improbe(from, tag, comm, &found, message, status);

        if (rc != MPI_SUCCESS || found)
            return rc;
        aps_queue_wait(&begin);
    }
}

int aps_blocking_mrecv(void *bytes, int64_t count, MPI_Datatype type,
                       MPI_Message *message, MPI_Status *status)
{
    MPI_Request request;
    int rc;

    if (*message == MPI_MESSAGE_NO_PROC)
        return APS_SIZED(Mrecv)(bytes, (aps_sized)(count), type, message,
                                status);
    rc = APS_SIZED(Imrecv)(bytes, (aps_sized)(count), type, message, &request);
    return blocking_await(rc, &request, status);
}

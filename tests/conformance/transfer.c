/* SPDX-License-Identifier: BSD-3-Clause */
#include "transfer.h"

#include <stdlib.h>

/* Elements after every buffer that no call may touch. */
#define GUARD 8

void *transfer_buffer(struct program *program, const struct values *values,
                      int count, bool filled)
{
    const size_t size = base_size(values->base);
    char *buffer = allocate(program, ((size_t)count + GUARD) * size);

    canary_fill(buffer, ((size_t)count + GUARD) * size);
    if (filled)
        values_fill(values, program->rank, buffer, (size_t)count);
    return buffer;
}

void transfer_take(struct program *program, const struct values *values,
                   int count, const void *buffer)
{
    const size_t size = base_size(values->base);

    program->hash =
        hash_values(program->hash, values->base, buffer, (size_t)count);
    program->hash =
        hash_bytes(program->hash, (const char *)buffer + (size_t)count * size,
                   GUARD * size);
}

void transfer_take_status(struct program *program, const struct values *values,
                          const MPI_Status *status)
{
    int count;

    MUST(program, MPI_Get_count(status, base_type(values->base), &count));
    take_word(program, (uint64_t)status->MPI_SOURCE);
    take_word(program, (uint64_t)status->MPI_TAG);
    take_word(program, (uint64_t)count);
}

void transfer_send(struct program *program, const struct message *message)
{
    const struct comm *comm = &program->comms[message->comm];
    const MPI_Datatype type = base_type(message->values.base);
    const int target = comm_rank(comm, message->target);
    const int n = message->count;
    MPI_Request request;
    int done = 0;
    void *buffer;

    if (program->rank != message->source)
        return;
    buffer = transfer_buffer(program, &message->values, n, true);
    doing(program, "send %d -> %d tag %d of %d on %d", message->source,
          message->target, message->tag, n, message->comm);
    switch (draw_below(&program->own, 4)) {
    case 0:
        MUST(program,
             MPI_Ssend(buffer, n, type, target, message->tag, comm->handle));
        break;
    case 1:
        MUST(program, MPI_Isend(buffer, n, type, target, message->tag,
                                comm->handle, &request));
        for (int times = 0; !done; times++) {
            MUST(program, MPI_Test(&request, &done, MPI_STATUS_IGNORE));
            if (!done)
                nap(times);
        }
        break;
    default:
        MUST(program,
             MPI_Send(buffer, n, type, target, message->tag, comm->handle));
    }
    transfer_take(program, &message->values, n, buffer);
    free(buffer);
}

void transfer_receive_into(struct program *program, MPI_Comm comm, void *buffer,
                           int count, MPI_Datatype type, int from, int tag,
                           MPI_Status *status)
{
    MPI_Message found;
    MPI_Request request;
    int done = 0;

    switch (draw_below(&program->own, 6)) {
    case 0:
        MUST(program, MPI_Probe(from, tag, comm, status));
        MUST(program, MPI_Recv(buffer, count, type, status->MPI_SOURCE,
                               status->MPI_TAG, comm, status));
        break;
    case 1:
        MUST(program, MPI_Mprobe(from, tag, comm, &found, status));
        MUST(program, MPI_Mrecv(buffer, count, type, &found, status));
        break;
    case 2:
        for (int times = 0; !done; times++) {
            MUST(program, MPI_Iprobe(from, tag, comm, &done, status));
            if (!done)
                nap(times);
        }
        MUST(program, MPI_Recv(buffer, count, type, status->MPI_SOURCE,
                               status->MPI_TAG, comm, status));
        break;
    case 3:
    case 4:
        MUST(program,
             MPI_Irecv(buffer, count, type, from, tag, comm, &request));
        for (int times = 0; !done; times++) {
            MUST(program, MPI_Test(&request, &done, status));
            if (!done)
                nap(times);
        }
        break;
    default:
        MUST(program, MPI_Recv(buffer, count, type, from, tag, comm, status));
        break;
    }
}

void transfer_receive(struct program *program, const struct message *message)
{
    const struct comm *comm = &program->comms[message->comm];
    MPI_Status status;
    void *buffer;

    if (program->rank != message->target)
        return;
    buffer = transfer_buffer(program, &message->values, message->count, false);
    doing(program, "receive %d -> %d tag %d of %d on %d", message->source,
          message->target, message->tag, message->count, message->comm);
    transfer_receive_into(program, comm->handle, buffer, message->count,
                          base_type(message->values.base),
                          comm_rank(comm, message->source), message->tag,
                          &status);
    transfer_take_status(program, &message->values, &status);
    transfer_take(program, &message->values, message->count, buffer);
    free(buffer);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One message that is sent now: the buffers of its two sides, and the calls of
 * MPI that send or receive it before they return.
 */
#ifndef CONFORMANCE_TRANSFER_H
#define CONFORMANCE_TRANSFER_H

#include "program.h"

/* Sender, receiver and values of a message. */
struct message {
    int comm;
    int source, target; /* ranks of MPI_COMM_WORLD */
    int tag;
    int count;
    struct values values;
    bool synchronous;
};

/* Allocates memory for `count` values, which the caller frees; a sender's holds
 * the values (`filled`). */
void *transfer_buffer(struct program *program, const struct values *values,
                      int count, bool filled);

/* Adds the whole buffer to the hash: the bytes after the message must not change. */
void transfer_take(struct program *program, const struct values *values,
                   int count, const void *buffer);

void transfer_take_status(struct program *program, const struct values *values,
                          const MPI_Status *status);

/* Makes the source's part of a message that the target receives by now. */
void transfer_send(struct program *program, const struct message *message);

/* Makes the target's part of a message that the source has begun by now. */
void transfer_receive(struct program *program, const struct message *message);

/* Receives, and ends before it returns, by one of many calls of MPI. `from` and
 * `tag` may be wildcards; `count`: capacity. */
void transfer_receive_into(struct program *program, MPI_Comm comm, void *buffer,
                           int count, MPI_Datatype type, int from, int tag,
                           MPI_Status *status);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A batch of nonblocking messages on a virtual communicator, completed
 * together.
 *
 * An MPI error on one rank must not leave other ranks waiting. The batches of a
 * call share one outcome, and after an error the call continues with empty
 * messages, which make the call fail on their receivers, too. Every awaited
 * message is sent and received, so the next call receives no old one.
 */
#ifndef APS_PMPI_MESSAGE_MESSAGES_H
#define APS_PMPI_MESSAGE_MESSAGES_H

#include <mpi.h>
#include <stddef.h>

#include "message/vcomm.h"

struct aps_messages {
    const struct aps_vcomm *vcomm; /* not owned */
    MPI_Request *requests;         /* [capacity]; owned */
    MPI_Status *statuses;          /* [capacity]; owned */
    /* [capacity]: bytes to receive; 0: any number; -1: a send; owned. After a
     * wait without an error: bytes received. */
    int *sizes;
    int capacity;
    int count; /* number of messages under way */
    /* MPI_SUCCESS, or the first error of the call; not owned */
    int *outcome;
};

/* Local. Allocates room for `capacity` messages at a time on vcomm, which must
 * outlive *messages. Returns 0, or -1 if memory is missing. */
int aps_messages_init(struct aps_messages *messages,
                      const struct aps_vcomm *vcomm, int capacity,
                      int *outcome);

/* Local. Frees the room. Zeros, and a batch that was cleared before, are
 * allowed. */
void aps_messages_clear(struct aps_messages *messages);

/* Start one message, or none if `size` is 0. The caller must not touch the
 * buffer until the wait. */
void aps_messages_send(struct aps_messages *messages, const void *bytes,
                       size_t size, int to, enum aps_tag tag);
void aps_messages_receive(struct aps_messages *messages, void *bytes,
                          size_t size, int from, enum aps_tag tag);

/* Receives a message whose length only its sender knows: from 1 to `most`
 * bytes. */
void aps_messages_receive_some(struct aps_messages *messages, void *bytes,
                               size_t most, int from, enum aps_tag tag);

/*
 * Completes the batch, which is empty afterwards. Returns *outcome. After an
 * error of this rank, or of a rank that sent to it, the buffers are undefined.
 * No message is left that would write to them later, or match messages of the
 * next call.
 */
int aps_messages_wait(struct aps_messages *messages);

/* --- one message ---------------------------------------------------------- */

/*
 * PMPI_Isend and PMPI_Irecv on vcomm. After an error this rank prints a line
 * with the call and the cause, and tries again for ten seconds with pauses:
 * without the message a peer would wait forever, or this rank would receive a
 * later message in its place.
 *
 * Returns an MPI error code. After an error *request is MPI_REQUEST_NULL, and
 * the message is lost. The error ends a program whose error handler is fatal;
 * in another program the peer may wait forever.
 */
int aps_message_send(const struct aps_vcomm *vcomm, const void *bytes,
                     size_t size, int to, enum aps_tag tag,
                     MPI_Request *request);
int aps_message_receive(const struct aps_vcomm *vcomm, void *bytes, size_t size,
                        int from, enum aps_tag tag, MPI_Request *request);

/*
 * Returns MPI_SUCCESS, or the error with which this process has lost a message.
 * From then on all batches of this process fail, and those of the ranks that it
 * sends to, so no rank mistakes one message for another.
 */
int aps_messages_lost(void);

#endif

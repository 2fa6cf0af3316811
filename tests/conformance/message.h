/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between two ranks. The k-th send of an envelope (communicator,
 * source, target, tag) matches its k-th receive; one side may begin events
 * before the other.
 */
#ifndef CONFORMANCE_MESSAGE_H
#define CONFORMANCE_MESSAGE_H

#include "program.h"

/* Begins this rank's side: MPI_Isend, MPI_Irecv, or MPI_Start's. */
void message_begin(struct program *program, struct op *op);
/* Checks the received message, after its end. */
void message_take(struct program *program, struct op *op);
void message_release(struct op *op);

/* Makes the missing sides of all messages on the communicator to the target
 * (-1: to all). */
void message_settle(struct program *program, int comm, int target);

/* Makes one round of a persistent send and its receive, if both are idle. */
void message_round(struct program *program, struct op *op);

/* --- events --------------------------------------------------------------- */

/* Makes one message, or one side of it. */
void message_event(struct program *program);
/* Each rank sends to its neighbour: MPI_Sendrecv. */
void message_ring_event(struct program *program);
/* Several senders, and receives with MPI_ANY_SOURCE and MPI_ANY_TAG. */
void message_any_event(struct program *program);
/* Makes a persistent send and its receive. */
void message_persistent_event(struct program *program);
/* `source` sends, `target` receives, and both block. */
void message_send(struct program *program, int comm, int source, int target);

#endif

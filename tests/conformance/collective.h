/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective calls, in all the ways that they can be made.
 */
#ifndef CONFORMANCE_COLLECTIVE_H
#define CONFORMANCE_COLLECTIVE_H

#include "program.h"

enum way { BLOCKING, NONBLOCKING, PERSISTENT };

/* Draw a call on the communicator. */
void collective_draw(struct program *program, const struct comm *comm,
                     enum way way, struct collective *what);

/* For doing(): in a buffer of the function's own. */
const char *collective_text(const struct collective *what, enum way way);

/* This rank's buffers. */
void collective_prepare(struct program *program, const struct comm *comm,
                        struct collective *what);
/* Other values, for the next round of a persistent call. */
void collective_refill(struct program *program, struct collective *what);
/* COLLECTIVE over comm. request: but for BLOCKING. */
void collective_call(struct program *program, const struct comm *comm,
                     struct collective *what, enum way way,
                     MPI_Request *request);
/* Look at what has arrived. */
void collective_take(struct program *program, const struct collective *what);
void collective_release(struct collective *what);

/* An event: a blocking call on the communicator. */
void collective_event(struct program *program);
/* ... MPI_Barrier */
void barrier_event(struct program *program, int comm);

#endif

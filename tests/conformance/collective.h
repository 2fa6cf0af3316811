/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective calls, made in all ways.
 */
#ifndef CONFORMANCE_COLLECTIVE_H
#define CONFORMANCE_COLLECTIVE_H

#include "program.h"

enum way { BLOCKING, NONBLOCKING, PERSISTENT };

void collective_draw(struct program *program, const struct comm *comm,
                     enum way way, struct collective *what);

/* Returns a text for doing(), in a static buffer. */
const char *collective_text(const struct collective *what, enum way way);

void collective_prepare(struct program *program, const struct comm *comm,
                        struct collective *what);
/* Fills other values, for the next round of a persistent call. */
void collective_refill(struct program *program, struct collective *what);
/* COLLECTIVE over comm. `request`: unused for BLOCKING. */
void collective_call(struct program *program, const struct comm *comm,
                     struct collective *what, enum way way,
                     MPI_Request *request);
/* Checks the result of this rank. */
void collective_take(struct program *program, const struct collective *what);
void collective_release(struct collective *what);

/* An event: a blocking call on the communicator. */
void collective_event(struct program *program);
/* ... MPI_Barrier */
void barrier_event(struct program *program, int comm);

#endif

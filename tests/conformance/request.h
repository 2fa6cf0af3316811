/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests: begun by some ranks later than by others, completed by every call
 * that MPI has for it.
 */
#ifndef CONFORMANCE_REQUEST_H
#define CONFORMANCE_REQUEST_H

#include "collective.h"

/* This rank begins the op, which is in its hands from now on. */
void request_begin(struct program *program, struct op *op);

/* All ranks of the set begin what they have put off on the communicator (-1: on
 * all), in an order of their own that MPI allows. */
void request_catch_up(struct program *program, int comm, unsigned ranks);

/* The op goes on somewhere, and can end here for `rank`. */
bool request_can_end(const struct op *op, int rank);

/* `rank` completes ops, a bit for each, that can all end. */
void request_end(struct program *program, int rank, uint64_t ops);

/* Every rank completes everything of the ops, a bit for each. */
void request_end_all(struct program *program, uint64_t ops);

/* Those of the communicator (-1: all), less idle ones. */
uint64_t requests_of(const struct program *program, int comm);

/* Done with a persistent one, which is idle: all its ranks free it. */
void request_free(struct program *program, struct op *op);

/* --- events --------------------------------------------------------------- */

/* A collective call begins on a communicator; MPI_Comm_idup's, too. */
void request_begin_event(struct program *program);
/* Several at a time, on several communicators, in different orders. */
void request_burst_event(struct program *program);
/* A persistent call is made; or goes one round; or is freed. */
void request_persistent_event(struct program *program);
/* Some ranks begin what they have put off. */
void request_catch_up_event(struct program *program);
/* Some ranks complete some. */
void request_end_event(struct program *program);
/* Some ranks look whether something has ended. */
void request_poke_event(struct program *program);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests: some ranks begin them later than others, and complete them by every
 * call that MPI has for it.
 */
#ifndef CONFORMANCE_REQUEST_H
#define CONFORMANCE_REQUEST_H

#include "collective.h"

/* Begins the op on this rank, which owns it from now on. */
void request_begin(struct program *program, struct op *op);

/* All ranks of the set begin their deferred calls on the communicator (-1: on
 * all), in a random order that MPI allows. */
void request_catch_up(struct program *program, int comm, unsigned ranks);

/* True if the op is under way somewhere, and can end here for `rank`. */
bool request_can_end(const struct op *op, int rank);

/* Completes ops on `rank`, a bit for each, which can all end. */
void request_end(struct program *program, int rank, uint64_t ops);

/* Completes all of the ops on every rank, a bit for each. */
void request_end_all(struct program *program, uint64_t ops);

/* Returns the requests on the communicator (-1: all), without idle ones. */
uint64_t requests_of(const struct program *program, int comm);

/* Frees a persistent request, which is idle, on all its ranks. */
void request_free(struct program *program, struct op *op);

/* --- events --------------------------------------------------------------- */

/* Begins a collective call on a communicator, or an MPI_Comm_idup. */
void request_begin_event(struct program *program);
/* Begins several calls, on several communicators, in different orders. */
void request_burst_event(struct program *program);
/* Makes a persistent call, starts one, or frees one. */
void request_persistent_event(struct program *program);
/* Some ranks begin their deferred calls. */
void request_catch_up_event(struct program *program);
/* Some ranks complete some requests. */
void request_end_event(struct program *program);
/* Some ranks test whether requests have ended. */
void request_poke_event(struct program *program);

#endif

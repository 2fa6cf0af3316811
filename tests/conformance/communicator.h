/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators that are made and freed, and their attributes and handlers.
 */
#ifndef CONFORMANCE_COMMUNICATOR_H
#define CONFORMANCE_COMMUNICATOR_H

#include "program.h"

/* Makes the keys of attributes, and the error handler, once for all programs. */
void communicator_setup(struct program *program);
void communicator_teardown(struct program *program);

/* Records that `to` has the members and attributes of `from`. */
void communicator_copy(struct program *program, int from, int to);

/* Checks a new communicator on this rank, if it is a member. */
void communicator_take(struct program *program, int index);

/* All members free it; requests on it may be under way. */
void communicator_free(struct program *program, int index);

/* --- events --------------------------------------------------------------- */

/* Makes a communicator, or frees one. */
void communicator_event(struct program *program);
/* Sets an attribute, or deletes one. */
void attribute_event(struct program *program);
/* Sets another error handler. */
void handler_event(struct program *program);

#endif

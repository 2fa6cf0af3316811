/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators that come and go, and what hangs on them.
 */
#ifndef CONFORMANCE_COMMUNICATOR_H
#define CONFORMANCE_COMMUNICATOR_H

#include "program.h"

/* The keys of attributes, and the error handler, once for all programs. */
void communicator_setup(struct program *program);
void communicator_teardown(struct program *program);

/* `to` is to have the members and attributes of `from`. */
void communicator_copy(struct program *program, int from, int to);

/* This rank looks at a new communicator, if it is a member. */
void communicator_take(struct program *program, int index);

/* All members free it; requests on it may be on their way. */
void communicator_free(struct program *program, int index);

/* --- events --------------------------------------------------------------- */

/* A new communicator, or one less. */
void communicator_event(struct program *program);
/* An attribute is set, or deleted. */
void attribute_event(struct program *program);
/* Another error handler. */
void handler_event(struct program *program);

#endif

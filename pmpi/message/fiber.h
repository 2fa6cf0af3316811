/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fibers: work that can be suspended and resumed, each with its own stack. A
 * nonblocking call is a blocking call on a fiber, which yields wherever the
 * blocking call would wait.
 *
 * A fiber may be resumed in another thread than the one that it yielded in, so
 * its code must not keep the address of a thread-local variable across a wait.
 */
#ifndef APS_PMPI_MESSAGE_FIBER_H
#define APS_PMPI_MESSAGE_FIBER_H

#include <stdbool.h>

struct aps_fiber;

/* Creates a fiber that will run `run(argument)`, which must never return.
 * Returns NULL if memory is missing. The caller destroys the fiber. */
struct aps_fiber *aps_fiber_create(void (*run)(void *argument), void *argument);

/* Frees the fiber, which must not be running. Objects on its stack are not
 * destroyed. NULL is allowed. */
void aps_fiber_destroy(struct aps_fiber *fiber);

/* Runs the fiber until it yields. Must not be called on a fiber. The fiber and
 * the caller have separate floating-point environments (rounding, traps). */
void aps_fiber_resume(struct aps_fiber *fiber);

/* Returns to the thread that resumed the fiber. Must be called on a fiber. */
void aps_fiber_yield(void);

/* True if the caller runs on a fiber. */
bool aps_fiber_inside(void);

#endif

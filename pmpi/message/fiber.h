/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fibers: work that can be left in the middle and taken up again, each with a
 * stack of its own. A nonblocking call is a blocking one on a fiber, which
 * gives way wherever the blocking call would wait.
 *
 * A fiber may go on in another thread than the one that it was left in: what it
 * runs must not keep the address of a thread-local variable across a wait.
 */
#ifndef APS_PMPI_MESSAGE_FIBER_H
#define APS_PMPI_MESSAGE_FIBER_H

#include <stdbool.h>

struct aps_fiber; /* opaque */

/* Ready to run `run(argument)`, which never returns. NULL: out of memory. */
struct aps_fiber *aps_fiber_create(void (*run)(void *argument), void *argument);

/* Not while it runs; what lies on its stack is forgotten. NULL: nothing. */
void aps_fiber_destroy(struct aps_fiber *fiber);

/* Go on with it until it gives way. Not from a fiber. The arithmetic's state
 * (rounding, traps) is each side's own. */
void aps_fiber_resume(struct aps_fiber *fiber);

/* On a fiber: back to who resumed it. */
void aps_fiber_yield(void);

/* Does this run on a fiber? */
bool aps_fiber_inside(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues: the nonblocking calls of a communicator, carried out one after the
 * other in the order in which the program made them, which MPI makes the same
 * on all ranks. Each queue has a fiber, which the program's own calls of MPI
 * drive, or a thread. Ranks need not have the same.
 */
#ifndef APS_PMPI_QUEUE_QUEUE_H
#define APS_PMPI_QUEUE_QUEUE_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "queue/operation.h"

struct aps_queue; /* opaque */

/* `thread`: with a thread of its own, for which MPI must be initialised with
 * MPI_THREAD_MULTIPLE. `label` says in messages which communicator it is of, and
 * is copied. NULL: out of memory, or no thread could be made. */
struct aps_queue *aps_queue_create(bool thread, const char *label);

/* What messages call its communicator; copied. */
void aps_queue_set_label(struct aps_queue *queue, const char *label);

bool aps_queue_has_thread(const struct aps_queue *queue);

void aps_queue_push(struct aps_queue *queue, struct aps_operation *operation);

/*
 * Only from inside a run: the operations that wait behind it, list[0..most) at
 * most, in their order; returns how many. And take the first `count` of them
 * off: the caller then runs them, too.
 */
size_t aps_queue_peek(const struct aps_queue *queue,
                      struct aps_operation *list[], size_t most);
void aps_queue_take(struct aps_queue *queue, size_t count);

/* Only from inside a run: until something may have changed. */
void aps_queue_pause(const struct aps_queue *queue);

/* How long ago was the last one pushed, in nanoseconds? */
long aps_queue_age(const struct aps_queue *queue);

/* Is nothing left to do? */
bool aps_queue_is_empty(const struct aps_queue *queue);

/*
 * From a call of MPI that can only return when *complete is not 0, which an
 * operation of the queue will see to: carry out operations here, in their order
 * and until then, as long as the queue's thread is not at work. A thread needs
 * some 50 us to wake up. True: something was carried out. Nothing for a queue
 * with a fiber, or on a fiber.
 */
bool aps_queue_help(struct aps_queue *queue, const _Atomic uint32_t *complete);

/* Until everything pushed so far has been carried out. Not from inside a run. As
 * every call that blocks, it drives MPI's progress meanwhile: by `comm`, a
 * communicator of ours. */
void aps_queue_drain(struct aps_queue *queue, MPI_Comm comm);

/* No more will be pushed: the queue goes when it is empty. NULL: nothing. */
void aps_queue_close(struct aps_queue *queue);

/* --- the end of MPI (finish.h) ------------------------------------------- */

/* "2 of world, 1 of comm3": the operations that are not done, by queue; how many
 * they are. */
unsigned long aps_queue_list_unfinished(char *text, size_t size);

/* Has any queue with a thread operations that are not done? */
bool aps_queue_has_busy_thread(void);

/* Carry out none of them any more (queue_thread.h ends their threads). */
void aps_queue_abandon(void);

/* --- driving the fibers -------------------------------------------------- */

extern atomic_int aps_queue_busy; /* queues that wait to be driven */

/* Is there something that the program's calls must drive? */
static inline bool aps_queue_pending(void)
{
    return atomic_load_explicit(&aps_queue_busy, memory_order_relaxed) > 0;
}

/* Let every queue that has a fiber go on as far as it can without waiting.
 * Nothing on a fiber, or while another thread does it. */
void aps_queue_drive(void);

/* The same from a call of MPI in which the program blocks: this thread will
 * push nothing until others go on. */
void aps_queue_drive_blocked(void);

/* Is that so, at this moment? */
bool aps_queue_is_blocked(void);

/* One turn of such a call's wait: drive, and if that has completed nothing give
 * the core away (wait.h). *begin starts as 0. */
void aps_queue_wait(long *begin);

/* The same, where the core is given away by rest(). */
void aps_queue_rest_with(void (*rest)(void));

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues: the nonblocking calls of one communicator, carried out one after the
 * other in the order in which the program made them. MPI requires the same
 * order on all ranks. Each queue has either a fiber, which the program's own
 * calls of MPI drive, or a thread. Ranks may differ in this.
 */
#ifndef APS_PMPI_QUEUE_QUEUE_H
#define APS_PMPI_QUEUE_QUEUE_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "queue/operation.h"

struct aps_queue;

/* Local. Creates a queue. With `thread` it has its own thread, for which MPI
 * must be initialised with MPI_THREAD_MULTIPLE. `label` names the communicator
 * in messages, and is copied. Returns NULL if memory is missing, or no thread
 * could be started. The caller closes the queue. */
struct aps_queue *aps_queue_create(bool thread, const char *label);

/* Sets the name of the communicator in messages. `label` is copied. */
void aps_queue_set_label(struct aps_queue *queue, const char *label);

/* True if the queue has a thread; otherwise a fiber carries it on. */
bool aps_queue_has_thread(const struct aps_queue *queue);

/* Local, never waits. Adds an operation, which must stay until it has run. A thread of
 * the queue wakes; a fiber runs only when it is driven. */
void aps_queue_push(struct aps_queue *queue, struct aps_operation *operation);

/*
 * aps_queue_peek stores the operations that wait after the current one, in
 * their order, to list[0..most), and returns their number. aps_queue_take
 * removes the first `count` of them, which the caller must then run, too. Must
 * be called from inside a run.
 */
size_t aps_queue_peek(const struct aps_queue *queue,
                      struct aps_operation *list[], size_t most);
void aps_queue_take(struct aps_queue *queue, size_t count);

/* Pauses until the state may have changed. Must be called from inside a run. */
void aps_queue_pause(const struct aps_queue *queue);

/* Returns the time since the last push, in nanoseconds. */
long aps_queue_age(const struct aps_queue *queue);

/* True if all operations are done. */
bool aps_queue_is_empty(const struct aps_queue *queue);

/*
 * Carries out operations in this thread, in their order, until *complete is not
 * 0, as long as the queue's thread is idle: a thread needs about 50 us to wake
 * up. The caller is a call of MPI that can only return when an operation of the
 * queue has set *complete. Returns true if an operation was carried out. Does
 * nothing for a queue with a fiber, or on a fiber.
 */
bool aps_queue_help(struct aps_queue *queue, const _Atomic uint32_t *complete);

/* Waits until every operation pushed so far has been carried out, and drives
 * MPI's progress through `comm`, a communicator of the library. Must not be
 * called from inside a run. */
void aps_queue_drain(struct aps_queue *queue, MPI_Comm comm);

/* Local. Closes the queue, to which no operation may be pushed any more. The
 * queue is destroyed once it is empty. NULL is allowed. */
void aps_queue_close(struct aps_queue *queue);

/* --- the end of MPI (finish.h) ------------------------------------------- */

/* Writes the number of unfinished operations by queue, such as "2 of world, 1
 * of comm3". Returns their total number. */
unsigned long aps_queue_list_unfinished(char *text, size_t size);

/* True if a queue with a thread has unfinished operations. */
bool aps_queue_has_busy_thread(void);

/* Makes queues carry out no further operations (queue_thread.h ends their
 * threads). */
void aps_queue_abandon(void);

/* --- driving the fibers -------------------------------------------------- */

extern atomic_int aps_queue_busy; /* number of queues that wait to be driven */

/* True if the program's calls must drive a queue. */
static inline bool aps_queue_pending(void)
{
    return atomic_load_explicit(&aps_queue_busy, memory_order_relaxed) > 0;
}

/* Lets every queue that has a fiber proceed as far as it can without waiting.
 * Does nothing on a fiber, or while another thread drives the queues. */
void aps_queue_drive(void);

/* Drives the queues, like aps_queue_drive, from a call of MPI that tests and does not
 * block. A program that tests in a loop, while no operation ends, gives its core
 * away: other ranks, or the progress thread, may need it. */
void aps_queue_poll(void);

/* Drives the queues, like aps_queue_drive, from a call of MPI in which the
 * program blocks: this thread pushes no operation until other ranks proceed. */
void aps_queue_drive_blocked(void);

/* True if a thread of the program is in such a call now. */
bool aps_queue_is_blocked(void);

/* One turn of such a call's wait: drives the queues, and gives the core away
 * (wait.h) if no operation has completed. *begin starts as 0. */
void aps_queue_wait(long *begin);

/* One turn of such a call's wait: drives the queues, then gives the core away
 * by rest(). */
void aps_queue_rest_with(void (*rest)(void));

#endif

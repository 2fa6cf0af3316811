/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting: spin briefly, then give the core away.
 *
 * MPICH's own waits spin forever; with more ranks than cores each message then
 * costs a scheduler tick. Every wait here also drives MPI's progress, as a
 * blocking MPI call must: a peer may wait for a message that this rank sent
 * before the wait.
 *
 * On a fiber (fiber.h) a wait yields to the thread that resumed the fiber.
 */
#ifndef APS_PMPI_MESSAGE_WAIT_H
#define APS_PMPI_MESSAGE_WAIT_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Completes all requests, also after an error of some of them. Returns the
 * first MPI error code. The requests become MPI_REQUEST_NULL, except those that
 * MPI cannot complete. */
int aps_wait_requests(int count, MPI_Request requests[]);

/* Completes all requests, like aps_wait_requests. Calls `tell` once if the wait
 * takes ten seconds. */
int aps_wait_requests_telling(int count, MPI_Request requests[],
                              void (*tell)(void));

/* Completes all requests, like aps_wait_requests, and writes their
 * statuses[count]. */
int aps_wait_statuses(int count, MPI_Request requests[], MPI_Status statuses[]);

/*
 * A counter in memory that processes share: one process advances it, others
 * wait for it. It wraps. Zero bytes initialise it.
 */
struct aps_wait_count {
    _Alignas(64) _Atomic uint32_t count;
    _Atomic uint32_t sleepers;
};

void aps_wait_advance(struct aps_wait_count *count);

/*
 * Waits until the counter has reached `target`. `comm`, a communicator of the
 * library, is used to drive MPI's progress. With `messages` this rank has its
 * own messages under way, and polls MPI more often. Without, a background
 * thread (below) polls MPI every ten milliseconds only.
 */
void aps_wait_reach(struct aps_wait_count *count, uint32_t target,
                    MPI_Comm comm, bool messages);

/* Drives MPI's progress, of all communicators. */
void aps_wait_poll(MPI_Comm comm);

/* Call this between two tests of a wait's condition. The longer the wait has
 * lasted, the longer the core is given away. *begin starts as 0. */
void aps_wait_back_off(long *begin);

/* Polls MPI and then rests, as aps_wait_poll and aps_wait_back_off do; on a fiber,
 * yields. */
void aps_wait_poll_or_yield(MPI_Comm comm, long *begin);

/*
 * Declares the calling thread a background thread, which may share a core with
 * a thread of the program. While is_awaited() is false it sleeps as soon as it
 * must wait, and at least as long again as it has waited.
 */
void aps_wait_set_background(bool (*is_awaited)(void));

/* Calls `turn` in every wait of the calling thread, between two tests of the
 * condition. `turn` need not return. */
void aps_wait_set_turn(void (*turn)(void));

/* Returns a counter that advances when a wait of any thread ends. While it does
 * not change, no awaited message has arrived. A hint. */
unsigned long aps_wait_ends(void);

/*
 * A background thread works in rounds. Round number `round` (from 0) begins
 * with `under_way` rounds not complete: its waits may sleep for half the time
 * that these take, and up to three quarters, at no cost. *begin starts as 0.
 * This lasts until aps_wait_end_rounds. Other threads ignore both calls.
 */
void aps_wait_begin_round(long *begin, size_t round, size_t under_way);
void aps_wait_end_rounds(void);

/*
 * Calls `tell` once, when a single wait of the calling thread takes ten
 * seconds: the thread is in a call of the program for which other ranks may
 * never come. With NULL the thread is in no such call. Waits on fibers do not
 * count.
 */
void aps_wait_set_timeout(void (*tell)(void));

/* Local. Returns the nanoseconds after which a rank reports that it waits: ten
 * seconds, or the time that aps_wait_set_patience has set before the first
 * wait. */
long aps_wait_patience_ns(void);
void aps_wait_set_patience(int milliseconds);

/* Sets the function that blocking waits of the program's threads call between
 * two tests. It must not wait. */
void aps_wait_set_idle(void (*idle)(void));

/* Tells the waits that `ranks` processes share `cores` cores. A hint. */
void aps_wait_set_ranks(int ranks, int cores);

#endif

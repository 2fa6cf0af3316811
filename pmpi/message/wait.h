/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting: spin briefly, then give the core away.
 *
 * MPICH's own waits spin for ever; with more ranks than cores each message then
 * costs a scheduler tick. Every wait of ours also drives MPI's progress, as a
 * blocking MPI call must: a peer may be stuck in a message that this rank sent
 * before it came here.
 *
 * On a fiber (fiber.h) a wait gives way to who drives it.
 */
#ifndef APS_PMPI_MESSAGE_WAIT_H
#define APS_PMPI_MESSAGE_WAIT_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Complete all requests, also after an error of some of them; an MPI error code,
 * of the first error. Then requests are MPI_REQUEST_NULL, except those that MPI
 * cannot complete. */
int aps_wait_requests(int count, MPI_Request requests[]);

/* The same; where it takes ten seconds, `tell` is called once. */
int aps_wait_requests_telling(int count, MPI_Request requests[],
                              void (*tell)(void));

/* The same; statuses[count] are those of the requests. */
int aps_wait_statuses(int count, MPI_Request requests[], MPI_Status statuses[]);

/*
 * A count in memory that processes share: one of them advances it, others wait
 * for it. It wraps, and starts at zero bytes.
 */
struct aps_wait_count {
    _Alignas(64) _Atomic uint32_t count;
    _Atomic uint32_t sleepers;
};

void aps_wait_advance(struct aps_wait_count *count);

/*
 * Until the count has reached `target`. `comm` is a communicator of ours, used to
 * drive MPI's progress; with `messages` this rank has messages of its own under
 * way, and looks after them more often. Without, a thread of ours (below) looks
 * into MPI every ten milliseconds only.
 */
void aps_wait_reach(struct aps_wait_count *count, uint32_t target,
                    MPI_Comm comm, bool messages);

/* Any look into MPI drives the progress of everything. */
void aps_wait_poll(MPI_Comm comm);

/* Between two looks at what is waited for: the longer the wait has been, the
 * longer the core is given away. *begin starts as 0. */
void aps_wait_back_off(long *begin);

/* Polls MPI and then rests, as aps_wait_poll and aps_wait_back_off do; on a fiber,
 * yields. */
void aps_wait_poll_or_yield(MPI_Comm comm, long *begin);

/*
 * The calling thread works beside the program's own, perhaps on the same core.
 * While the program does not wait for it, as is_awaited() says, it sleeps as
 * soon as it must wait, and at least as long again as it has waited.
 */
void aps_wait_set_background(bool (*is_awaited)(void));

/* `turn` is called within every wait of the calling thread, between two looks at
 * what is waited for, and need not return. */
void aps_wait_set_turn(void (*turn)(void));

/* Advances whenever a wait of any thread has come to its end: while it stands
 * still, nothing that is waited for arrives. A hint. */
unsigned long aps_wait_ends(void);

/*
 * Such a thread works in rounds, and `round`, from 0, begins with `under_way`
 * of them not complete: its waits may sleep for half the time that those take,
 * and up to three quarters, which costs nothing. *begin starts as 0. Until the
 * rounds end. Nothing on others.
 */
void aps_wait_begin_round(long *begin, size_t round, size_t under_way);
void aps_wait_end_rounds(void);

/*
 * From now on, where a single wait of the calling thread takes ten seconds, `tell`
 * is called, once: the thread is in a call of the program for which other ranks may
 * never come. NULL: in no such call. Waits on fibers do not count.
 */
void aps_wait_set_timeout(void (*tell)(void));

/* Local. Returns the nanoseconds after which a rank reports that it waits: ten
 * seconds, or what aps_wait_set_patience has set before the first wait. */
long aps_wait_patience_ns(void);
void aps_wait_set_patience(int milliseconds);

/* What the blocking waits of the program's threads do in between: one function,
 * which must not wait. */
void aps_wait_set_idle(void (*idle)(void));

/* Tell the waits that `ranks` processes share `cores` cores. A hint. */
void aps_wait_set_ranks(int ranks, int cores);

#endif

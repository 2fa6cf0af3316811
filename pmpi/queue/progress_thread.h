/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The progress thread drives the queues (queue.h) while a thread of the program
 * blocks inside MPI in a collective call, which the library cannot divide.
 * Without the progress thread two ranks could wait forever: one in such a call,
 * and the other for a reduction of the first.
 *
 * In a multithreaded program another thread may already block inside MPI when a
 * thread starts a reduction. In such programs the progress thread polls pending
 * queues now and then. It sleeps at all other times.
 */
#ifndef APS_PMPI_QUEUE_PROGRESS_THREAD_H
#define APS_PMPI_QUEUE_PROGRESS_THREAD_H

#include <stdbool.h>

/*
 * Tells the progress thread that this thread is about to block inside MPI; the
 * progress thread drives the queues until aps_progress_thread_end. Returns
 * false if nothing is pending, MPI was not initialised with
 * MPI_THREAD_MULTIPLE, or no thread could be started. The caller then must not
 * call aps_progress_thread_end.
 */
bool aps_progress_thread_begin(void);
void aps_progress_thread_end(void);

/* Ends the thread before MPI ends. A later aps_progress_thread_begin starts a
 * new one. */
void aps_progress_thread_stop(void);

/* Tells the progress thread that several threads of the program call MPI. */
void aps_progress_thread_expect_threads(void);

/* Tells the progress thread that a new operation may be pending. */
void aps_progress_thread_notice(void);

/* True if several threads may call MPI at a time. */
bool aps_progress_thread_is_possible(void);

#endif

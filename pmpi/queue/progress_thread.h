/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The progress thread drives the queues (queue.h) while a thread of the program
 * blocks inside MPI, in a call that the library cannot take apart: a collective
 * one. Without it a rank that waits there for one that waits for a reduction
 * would wait for ever.
 *
 * In a program with threads one may be in there already, and wait for others,
 * when another starts a reduction: there the progress thread looks now and then
 * after whatever is pending. It sleeps at all other times.
 */
#ifndef APS_PMPI_QUEUE_PROGRESS_THREAD_H
#define APS_PMPI_QUEUE_PROGRESS_THREAD_H

#include <stdbool.h>

/*
 * This thread is about to block inside MPI: drive for it until
 * aps_progress_thread_end. False: nothing is pending, or MPI was not
 * initialised with MPI_THREAD_MULTIPLE, or no thread could be made; then there
 * is nothing to end.
 */
bool aps_progress_thread_begin(void);
void aps_progress_thread_end(void);

/* MPI is about to end: the thread ends, until it is needed again. */
void aps_progress_thread_stop(void);

/* The program has threads of its own that call MPI at a time. */
void aps_progress_thread_expect_threads(void);

/* Something new is pending. */
void aps_progress_thread_notice(void);

/* Can MPI be called by several threads at a time? */
bool aps_progress_thread_is_possible(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "queue/progress_thread.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "base/message.h"
#include "queue/queue.h"
#include "base/thread.h"

/* Interval between two looks, to which the kernel adds about 50 us: most
 * collective calls end sooner. */
#define NAP_NS 20000L

/* Interval between two looks if no thread is known to block. */
#define DOZE_NS 1000000L

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* pmpi/LOCKS.md */
static pthread_cond_t needed = PTHREAD_COND_INITIALIZER;
static atomic_int blocked; /* threads of the program that block */
static atomic_bool threads_expected;
/* The lock protects these. */
static bool started;
static pthread_t thread;
/* generation of `thread`: a thread of an older one ends */
static uintptr_t generation;

/* True if a thread of the program blocks in a call that the library sees. */
static bool progress_thread_is_blocked(void)
{
    return atomic_load(&blocked) > 0;
}

/* Returns false if the thread is to end. */
static bool progress_thread_wait_for_work(uintptr_t mine)
{
    bool going_on;

    pthread_mutex_lock(&lock);
    while (generation == mine && !progress_thread_is_blocked() &&
           !(atomic_load(&threads_expected) && aps_queue_pending()))
        pthread_cond_wait(&needed, &lock);
    going_on = generation == mine;
    pthread_mutex_unlock(&lock);
    return going_on;
}

/* Drives the queues as long as operations complete, because the next one may be
 * complete, too. */
static void progress_thread_drive(void)
{
    int before;

    do {
        before = atomic_load(&aps_queue_operations);
        aps_queue_drive_blocked();
    } while (aps_queue_pending() &&
             atomic_load(&aps_queue_operations) < before);
}

static void *progress_thread_serve(void *argument)
{
    const uintptr_t mine = (uintptr_t)argument;
    struct timespec rest = {0};

    while (progress_thread_wait_for_work(mine)) {
        rest.tv_nsec = progress_thread_is_blocked() ? NAP_NS : DOZE_NS;
        nanosleep(&rest, NULL);
        if (progress_thread_is_blocked())
            progress_thread_drive();
        else if (atomic_load(&threads_expected))
            aps_queue_drive();
    }
    return NULL;
}

void aps_progress_thread_stop(void)
{
    pthread_t old;
    bool was_started;

    pthread_mutex_lock(&lock);
    was_started = started;
    old = thread;
    started = false;
    generation++;
    pthread_cond_broadcast(&needed);
    pthread_mutex_unlock(&lock);
    if (was_started)
        pthread_join(old, NULL);
}

bool aps_progress_thread_is_possible(void)
{
    int level = MPI_THREAD_SINGLE;

    return PMPI_Query_thread(&level) == MPI_SUCCESS &&
           level == MPI_THREAD_MULTIPLE;
}

/* Wakes the progress thread for `threads` more threads of the program that
 * block. If the system cannot start a thread, the next call tries again. */
static bool progress_thread_wake(int threads)
{
    static atomic_ullong failures;
    bool helps;

    pthread_mutex_lock(&lock);
    if (!started) {
        generation++;
        started = aps_thread_start(&thread, progress_thread_serve,
                                   (void *)generation) == 0;
    }
    helps = started;
    if (helps) {
        atomic_fetch_add(&blocked, threads);
        pthread_cond_signal(&needed);
    }
    pthread_mutex_unlock(&lock);
    if (!helps && aps_message_is_due(atomic_fetch_add(&failures, 1) + 1))
        aps_message(-1, "a progress thread could not be started: nonblocking "
                        "reductions rest while the program blocks in MPI");
    return helps;
}

void aps_progress_thread_expect_threads(void)
{
    atomic_store(&threads_expected, true);
}

void aps_progress_thread_notice(void)
{
    if (atomic_load_explicit(&threads_expected, memory_order_relaxed) &&
        aps_queue_pending())
        (void)progress_thread_wake(0);
}

bool aps_progress_thread_begin(void)
{
    return aps_queue_pending() && aps_progress_thread_is_possible() &&
           progress_thread_wake(1);
}

void aps_progress_thread_end(void)
{
    atomic_fetch_sub(&blocked, 1);
}

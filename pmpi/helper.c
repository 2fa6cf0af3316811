/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "helper.h"

#include <mpi.h>
#include <pthread.h>
#include <time.h>

#include "queue.h"

/* Most collective calls are over sooner than that. */
#define NAP_NS 50000L

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t needed = PTHREAD_COND_INITIALIZER;
static int blocked; /* threads of the program, under the lock */
static enum { NOT_YET, STARTED, FAILED } thread;

static int how_many(void)
{
    int now;

    pthread_mutex_lock(&lock);
    now = blocked;
    pthread_mutex_unlock(&lock);
    return now;
}

static void *serve(void *nothing)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};

    (void)nothing;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (blocked == 0)
            pthread_cond_wait(&needed, &lock);
        pthread_mutex_unlock(&lock);
        for (;;) {
            nanosleep(&nap, NULL);
            if (how_many() == 0)
                break;
            aps_queue_drive_blocked();
        }
    }
    return NULL;
}

/* The lock is held. */
static void start(void)
{
    pthread_attr_t attributes;
    pthread_t started;

    thread = FAILED;
    if (pthread_attr_init(&attributes) != 0)
        return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&started, &attributes, serve, NULL) == 0)
        thread = STARTED;
    pthread_attr_destroy(&attributes);
}

bool aps_helper_is_possible(void)
{
    int level = MPI_THREAD_SINGLE;

    return PMPI_Query_thread(&level) == MPI_SUCCESS &&
           level == MPI_THREAD_MULTIPLE;
}

bool aps_helper_begin(void)
{
    bool helps;

    if (!aps_queue_pending() || !aps_helper_is_possible())
        return false;
    pthread_mutex_lock(&lock);
    if (thread == NOT_YET)
        start();
    helps = thread == STARTED;
    if (helps && blocked++ == 0)
        pthread_cond_signal(&needed);
    pthread_mutex_unlock(&lock);
    return helps;
}

void aps_helper_end(void)
{
    pthread_mutex_lock(&lock);
    blocked--;
    pthread_mutex_unlock(&lock);
}

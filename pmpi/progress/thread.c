/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "progress/thread.h"

#include <signal.h>

/* MPI's progress runs on it. A program may have thousands of communicators. */
#define STACK_BYTES ((size_t)1024 * 1024)

int aps_thread_start(pthread_t *thread, void *(*run)(void *argument),
                     void *argument)
{
    pthread_attr_t attributes;
    sigset_t all, theirs;
    int rc;

    /* A thread starts with the mask of the thread that starts it. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &theirs);
    rc = pthread_attr_init(&attributes);
    if (rc == 0) {
        pthread_attr_setstacksize(&attributes, STACK_BYTES);
        rc = pthread_create(thread, &attributes, run, argument);
        pthread_attr_destroy(&attributes);
    }
    pthread_sigmask(SIG_SETMASK, &theirs, NULL);
    return rc == 0 ? 0 : -1;
}

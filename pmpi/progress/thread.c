/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "progress/thread.h"

#include <signal.h>

int aps_thread_start(pthread_t *thread, void *(*run)(void *argument),
                     void *argument)
{
    sigset_t all, theirs;
    int rc;

    /* A thread starts with the mask of the thread that starts it. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &theirs);
    rc = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &theirs, NULL);
    return rc == 0 ? 0 : -1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "progress/thread.h"

#include <pthread.h>
#include <signal.h>

int aps_thread_start(void *(*run)(void *argument), void *argument)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, theirs;
    int rc;

    if (pthread_attr_init(&attributes) != 0)
        return -1;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    /* A thread starts with the mask of who starts it. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &theirs);
    rc = pthread_create(&thread, &attributes, run, argument);
    pthread_sigmask(SIG_SETMASK, &theirs, NULL);
    pthread_attr_destroy(&attributes);
    return rc == 0 ? 0 : -1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/thread.h"

#include <link.h>
#include <signal.h>

/* MPI's progress runs on this stack. A program may have thousands of
 * communicators. */
#define STACK_BYTES ((size_t)1024 * 1024)

/* Adds the size of an object's thread-local variables, such as Fortran's
 * threadprivate arrays. */
static int thread_add_locals(struct dl_phdr_info *object, size_t size,
                             void *bytes)
{
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_TLS)
            *(size_t *)bytes +=
                object->dlpi_phdr[i].p_memsz + object->dlpi_phdr[i].p_align;
    return 0;
}

/* Thread-local variables take room on the thread's stack. */
static size_t thread_stack_bytes(void)
{
    size_t bytes = STACK_BYTES;

    dl_iterate_phdr(thread_add_locals, &bytes);
    return bytes;
}

int aps_thread_start(pthread_t *thread, void *(*run)(void *argument),
                     void *argument)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    pthread_attr_t attributes;
    sigset_t all, theirs;
    int rc;

    /* A thread starts with the mask of the thread that creates it. Signals of
     * its own faults reach the program's handlers. */
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &theirs);
    rc = pthread_attr_init(&attributes);
    if (rc == 0) {
        pthread_attr_setstacksize(&attributes, thread_stack_bytes());
        rc = pthread_create(thread, &attributes, run, argument);
        pthread_attr_destroy(&attributes);
    }
    pthread_sigmask(SIG_SETMASK, &theirs, NULL);
    return rc == 0 ? 0 : -1;
}

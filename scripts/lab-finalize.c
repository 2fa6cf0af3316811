/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apsmpi-lab preloads this library into its ranks, so that they end. At the end of
 * a job MPICH closes its UCX endpoints, which needs an answer from the other side,
 * and then waits in a barrier of the process manager, where it does not answer.
 * With UCX up to 1.13 over TCP a rank waits forever if its neighbour's message of
 * disconnection came before it sent its own (openucx/ucx issue 2254).
 *
 * After the first ucp_disconnect_nb() a read from the process manager also lets UCX
 * make progress. Nothing else changes, and nothing without MPICH and UCX. No headers
 * of these are needed: the library only passes pointers on.
 */
#include "config.h"

#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WORKERS_MAX 64
#define NAP_NS 50000

/* MPICH calls these functions, which have the names of UCX's own. */
int ucp_worker_create(void *context, const void *params, void **worker);
void *ucp_disconnect_nb(void *ep);
void ucp_worker_destroy(void *worker);

/* All calls come from inside MPI_Init or MPI_Finalize, one at a time. */
static void *workers[WORKERS_MAX];
static int worker_count;
static const void *mpich; /* address inside MPICH, if there are workers */
static int manager = -1;  /* descriptor of the process manager */

/* Returns UCX's function. `caller`: address inside MPICH. Python loads MPICH into
 * a separate scope, which RTLD_NEXT does not search; MPICH's dependencies are
 * searched instead. */
static void *ucx_function(const char *name, const void *caller)
{
    void *address = dlsym(RTLD_NEXT, name);
    Dl_info where;
    void *library;

    if (address != NULL || dladdr(caller, &where) == 0)
        return address;
    library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL) {
        address = dlsym(library, name);
        dlclose(library);
    }
    return address;
}

/* Stores the next function with this name, which the caller would find without
 * this library. */
static void next_function(const char *name, const void *caller, void *function)
{
    void *address = ucx_function(name, caller);

    if (address == NULL) {
        fprintf(stderr,
                "apsmpi-lab: a rank ends: the MPI library calls UCX's %s, "
                "which none of its dependencies defines\n",
                name);
        abort();
    }
    memcpy(function, &address, sizeof address);
}

int ucp_worker_create(void *context, const void *params, void **worker)
{
    int (*next)(void *, const void *, void **);
    int status;

    next_function("ucp_worker_create", __builtin_return_address(0), &next);
    mpich = __builtin_return_address(0);
    status = next(context, params, worker);
    if (status == 0 && worker_count < WORKERS_MAX)
        workers[worker_count++] = *worker;
    return status;
}

void *ucp_disconnect_nb(void *ep)
{
    const char *descriptor = getenv("PMI_FD");
    void *(*next)(void *);

    next_function("ucp_disconnect_nb", __builtin_return_address(0), &next);
    if (descriptor != NULL)
        manager = atoi(descriptor);
    return next(ep);
}

void ucp_worker_destroy(void *worker)
{
    void (*next)(void *);

    next_function("ucp_worker_destroy", __builtin_return_address(0), &next);
    for (int i = 0; i < worker_count; i++)
        if (workers[i] == worker)
            workers[i--] = workers[--worker_count];
    next(worker);
}

/* Waits for a message of the process manager. */
static void answer_neighbours(void)
{
    const struct timespec nap = {0, NAP_NS};
    struct pollfd said = {manager, POLLIN, 0};
    unsigned (*progress)(void *);

    next_function("ucp_worker_progress", mpich, &progress);
    while (poll(&said, 1, 0) == 0) {
        for (int i = 0; i < worker_count; i++)
            progress(workers[i]);
        nanosleep(&nap, NULL);
    }
}

ssize_t read(int descriptor, void *buffer, size_t size)
{
    static ssize_t (*next)(int, void *, size_t);

    if (next == NULL)
        next_function("read", mpich, &next);
    if (descriptor == manager && worker_count > 0)
        answer_neighbours();
    return next(descriptor, buffer, size);
}

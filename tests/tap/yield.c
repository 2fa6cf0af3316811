/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into the ranks of tests: MPICH polls while it waits, and
 *    keeps its core from the rank that it waits for. With more ranks than cores every
 *    message then takes some time slices of the scheduler. Here a rank yields its core
 *    after each poll that found nothing.
 *
 *    MPICH (ch4:ucx) polls by ucp_worker_progress of UCX; if MPICH is built for
 *    another network, nothing calls this. Open MPI has a parameter (mpi.sh). */
#define _GNU_SOURCE
#include "config.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned progress_fn(void *worker);

progress_fn ucp_worker_progress;

/* UCX is loaded with the program, or later with a module of Python, which hides
 * its names from other libraries. */
static progress_fn *find(void)
{
    progress_fn *found = (progress_fn *)dlsym(RTLD_NEXT, "ucp_worker_progress");
    void *ucp;

    if (!found && (ucp = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD)))
        found = (progress_fn *)dlsym(ucp, "ucp_worker_progress");
    if (!found) {
        fprintf(stderr, "yield: there is no ucp_worker_progress: %s\n",
                dlerror());
        abort();
    }
    return found;
}

__attribute__((visibility("default"))) unsigned
ucp_worker_progress(void *worker)
{
    static _Atomic(progress_fn *) progress;
    progress_fn *next = atomic_load_explicit(&progress, memory_order_relaxed);
    unsigned events;

    if (!next) {
        next = find();
        atomic_store_explicit(&progress, next, memory_order_relaxed);
    }
    events = next(worker);
    if (events == 0)
        sched_yield();
    return events;
}

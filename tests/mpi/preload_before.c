/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tool that is found before the library. It calls PMPI_, or with FRONT=next
 * the next library. HAS_INIT: with an MPI_Init too, which with FRONT_INIT=next
 * calls the next library, and before whose end the tool is not ready.
 */
#include "config.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* Sets *function to `name` in the next library if `variable` is "next";
 * *function does not change otherwise. */
static void choose(const char *variable, const char *name, void *function)
{
    const char *value = getenv(variable);
    void *symbol = dlsym(RTLD_NEXT, name);

    if (value && strcmp(value, "next") == 0)
        memcpy(function, &symbol, sizeof symbol);
}

#ifdef HAS_INIT
static int ready;

EXPORT int MPI_Init(int *argc, char ***argv)
{
    int (*next)(int *, char ***) = PMPI_Init;
    int rc;

    choose("FRONT_INIT", "MPI_Init", &next);
    rc = next(argc, argv);
    ready = 1;
    return rc;
}
#endif

EXPORT int MPI_Allreduce(const void *send, void *receive, int count,
                         MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int (*next)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm) =
        PMPI_Allreduce;

#ifdef HAS_INIT
    if (!ready)
        abort();
#endif
    choose("FRONT", "MPI_Allreduce", &next);
    return next(send, receive, count, type, op, comm);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static struct aps_library library;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The next definition of `name`, or `fallback`, the same function by its
 * profiling name. Pointers to functions and to data do not mix in C: copy. */
#define NEXT(member, name, fallback)                                           \
    do {                                                                       \
        void *symbol = dlsym(RTLD_NEXT, name);                                 \
        library.member = fallback;                                             \
        if (symbol)                                                            \
            memcpy(&library.member, &symbol, sizeof symbol);                   \
    } while (0)

static void resolve(void)
{
    NEXT(init, "MPI_Init", PMPI_Init);
    NEXT(init_thread, "MPI_Init_thread", PMPI_Init_thread);
    NEXT(allreduce, "MPI_Allreduce", PMPI_Allreduce);
#ifdef HAVE_PMPI_ALLREDUCE_C
    NEXT(allreduce_c, "MPI_Allreduce_c", PMPI_Allreduce_c);
#endif
}

const struct aps_library *aps_library(void)
{
    pthread_once(&once, resolve);
    return &library;
}

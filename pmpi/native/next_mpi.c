/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "native/next_mpi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "base/hot.h"
#include "native/foreign.h"

APS_HOT const struct aps_next_mpi *_Atomic aps_next_mpi_resolved;
static struct aps_next_mpi library;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The next definition of a function, or the function by its profiling name.
 * Pointers to functions and to data do not mix in C: copy. */
static void next_mpi_next(const char *name, const char *profiling_name,
                          void *function)
{
    void *symbol = dlsym(RTLD_NEXT, name);

    if (!symbol)
        symbol = dlsym(RTLD_DEFAULT, profiling_name);
    memcpy(function, &symbol, sizeof symbol);
}

static void next_mpi_resolve(void)
{
    (void)aps_foreign();
    next_mpi_next("MPI_Init", "PMPI_Init", &library.init);
    next_mpi_next("MPI_Init_thread", "PMPI_Init_thread", &library.init_thread);
    next_mpi_next("MPI_Pcontrol", "PMPI_Pcontrol", &library.pcontrol);
    next_mpi_next("MPI_Allreduce", "PMPI_Allreduce", &library.allreduce);
    next_mpi_next("MPI_Allreduce_c", "PMPI_Allreduce_c", &library.allreduce_c);
    next_mpi_next("MPI_Iallreduce", "PMPI_Iallreduce", &library.iallreduce);
    next_mpi_next("MPI_Iallreduce_c", "PMPI_Iallreduce_c",
                  &library.iallreduce_c);
    next_mpi_next("MPI_Reduce_scatter_block", "PMPI_Reduce_scatter_block",
                  &library.reduce_scatter_block);
    next_mpi_next("MPI_Reduce_scatter_block_c", "PMPI_Reduce_scatter_block_c",
                  &library.reduce_scatter_block_c);
    next_mpi_next("MPI_Reduce_scatter", "PMPI_Reduce_scatter",
                  &library.reduce_scatter);
    next_mpi_next("MPI_Reduce_scatter_c", "PMPI_Reduce_scatter_c",
                  &library.reduce_scatter_c);
    next_mpi_next("MPI_Allgather", "PMPI_Allgather", &library.allgather);
    next_mpi_next("MPI_Allgather_c", "PMPI_Allgather_c", &library.allgather_c);
    next_mpi_next("MPI_Reduce", "PMPI_Reduce", &library.reduce);
    next_mpi_next("MPI_Reduce_c", "PMPI_Reduce_c", &library.reduce_c);
    next_mpi_next("MPI_Bcast", "PMPI_Bcast", &library.bcast);
    next_mpi_next("MPI_Bcast_c", "PMPI_Bcast_c", &library.bcast_c);
    next_mpi_next("MPI_Ibcast", "PMPI_Ibcast", &library.ibcast);
    next_mpi_next("MPI_Ibcast_c", "PMPI_Ibcast_c", &library.ibcast_c);
    next_mpi_next("MPI_Ireduce_scatter_block", "PMPI_Ireduce_scatter_block",
                  &library.ireduce_scatter_block);
    next_mpi_next("MPI_Ireduce_scatter_block_c", "PMPI_Ireduce_scatter_block_c",
                  &library.ireduce_scatter_block_c);
    next_mpi_next("MPI_Ireduce_scatter", "PMPI_Ireduce_scatter",
                  &library.ireduce_scatter);
    next_mpi_next("MPI_Ireduce_scatter_c", "PMPI_Ireduce_scatter_c",
                  &library.ireduce_scatter_c);
    next_mpi_next("MPI_Iallgather", "PMPI_Iallgather", &library.iallgather);
    next_mpi_next("MPI_Iallgather_c", "PMPI_Iallgather_c",
                  &library.iallgather_c);
    next_mpi_next("MPI_Ireduce", "PMPI_Ireduce", &library.ireduce);
    next_mpi_next("MPI_Ireduce_c", "PMPI_Ireduce_c", &library.ireduce_c);
    next_mpi_next("MPI_Allreduce_init", "PMPI_Allreduce_init",
                  &library.allreduce_init);
    next_mpi_next("MPI_Allreduce_init_c", "PMPI_Allreduce_init_c",
                  &library.allreduce_init_c);
    next_mpi_next("MPI_Start", "PMPI_Start", &library.start);
    next_mpi_next("MPI_Startall", "PMPI_Startall", &library.startall);
    next_mpi_next("MPI_Request_free", "PMPI_Request_free",
                  &library.request_free);
}

const struct aps_next_mpi *aps_next_mpi_resolve(void)
{
    pthread_once(&once, next_mpi_resolve);
    atomic_store_explicit(&aps_next_mpi_resolved, &library,
                          memory_order_release);
    return &library;
}

void aps_next_mpi_function(void *_Atomic *kept, const char *name,
                           void *function)
{
    void *symbol = atomic_load_explicit(kept, memory_order_acquire);

    if (!symbol) {
        char profiling_name[64] = "P";

        (void)aps_foreign();
        strncat(profiling_name, name, sizeof profiling_name - 2);
        next_mpi_next(name, profiling_name, &symbol);
        atomic_store_explicit(kept, symbol, memory_order_release);
    }
    memcpy(function, &symbol, sizeof symbol);
}

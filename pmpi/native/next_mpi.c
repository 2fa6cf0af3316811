/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "native/next_mpi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/hot.h"
#include "native/foreign.h"

APS_HOT const struct aps_next_mpi *_Atomic aps_next_mpi_resolved;
static struct aps_next_mpi library;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct {
    const char *name;
    size_t offset; /* offset of the member, in bytes */
} functions[] = {
#define ROW(name) {"MPI_" #name, offsetof(struct aps_next_mpi, name)},
    APS_NEXT_MPI(ROW)};

/* Returns the next definition of a function, or the function by its profiling
 * name. If the library cannot work with the MPI, ends the process instead. */
static void *next_mpi_look_up(const char *name)
{
    char profiling_name[64] = "P";
    void *symbol;

    (void)aps_foreign();
    symbol = dlsym(RTLD_NEXT, name);
    strncat(profiling_name, name, sizeof profiling_name - 2);
    return symbol ? symbol : dlsym(RTLD_DEFAULT, profiling_name);
}

/* Looks up all functions. C does not convert pointers to data into pointers to
 * functions, so their bytes are copied. */
static void next_mpi_resolve(void)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *symbol = next_mpi_look_up(functions[i].name);

        memcpy((char *)&library + functions[i].offset, &symbol, sizeof symbol);
    }
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
        symbol = next_mpi_look_up(name);
        atomic_store_explicit(kept, symbol, memory_order_release);
    }
    memcpy(function, &symbol, sizeof symbol);
}

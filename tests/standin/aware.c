/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stand-in for an MPI that is CUDA-aware, preloaded after libapsmpi.so: it
 * reports that it is, and gives the real MPI accessible addresses of the
 * stand-in device's memory. With STANDIN_TELL in the environment it prints at
 * the end the number of messages in such memory.
 */
#define _GNU_SOURCE
#include "config.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int MPIX_Query_cuda_support(void);
int MPIX_Query_cuda_support(void)
{
    return 1;
}

static atomic_ulong messages, buffers;

static void find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);

    memcpy(function, &symbol, sizeof symbol);
}

/* Returns the accessible address of the bytes, and counts those of the device. */
static void *at(const void *bytes, atomic_ulong *count)
{
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *(*alias_of)(const void *) = NULL;
    int (*current)(void **) = NULL;
    void *alias = NULL, *context = NULL;

    if (library) {
        find(library, "standin_alias", &alias_of);
        find(library, "cuCtxGetCurrent", &current);
        if (alias_of)
            alias = alias_of(bytes);
        if (current)
            (void)current(&context);
        dlclose(library);
    }
    if (alias && !context) {
        fputs("standin: MPI gets a device's memory in a thread without a "
              "context\n",
              stderr);
        abort();
    }
    if (alias)
        atomic_fetch_add(count, 1);
    return alias ? alias : (void *)(size_t)bytes;
}

static void *message(const void *bytes)
{
    return at(bytes, &messages);
}

static void *buffer(const void *bytes)
{
    return at(bytes, &buffers);
}

/* --- the functions of MPI, each with both names --------------------------- */

#define DEFINE(function, real, parameters, arguments)                          \
    int function parameters                                                    \
    {                                                                          \
        int(*next) parameters;                                                 \
                                                                               \
        find(RTLD_NEXT, real, &next);                                          \
        return next arguments;                                                 \
    }
#define CALL(name, parameters, arguments)                                      \
    DEFINE(MPI_##name, "PMPI_" #name, parameters, arguments)                   \
    DEFINE(PMPI_##name, "PMPI_" #name, parameters, arguments)

CALL(Send,
     (const void *bytes, int count, MPI_Datatype type, int to, int tag,
      MPI_Comm comm),
     (message(bytes), count, type, to, tag, comm))
CALL(Recv,
     (void *bytes, int count, MPI_Datatype type, int from, int tag,
      MPI_Comm comm, MPI_Status *status),
     (message(bytes), count, type, from, tag, comm, status))
CALL(Isend,
     (const void *bytes, int count, MPI_Datatype type, int to, int tag,
      MPI_Comm comm, MPI_Request *request),
     (message(bytes), count, type, to, tag, comm, request))
CALL(Irecv,
     (void *bytes, int count, MPI_Datatype type, int from, int tag,
      MPI_Comm comm, MPI_Request *request),
     (message(bytes), count, type, from, tag, comm, request))

CALL(Allreduce,
     (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
      MPI_Comm comm),
     (buffer(send), buffer(receive), count, type, op, comm))
CALL(Iallreduce,
     (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
      MPI_Comm comm, MPI_Request *request),
     (buffer(send), buffer(receive), count, type, op, comm, request))
CALL(Reduce,
     (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
      int root, MPI_Comm comm),
     (buffer(send), buffer(receive), count, type, op, root, comm))
CALL(Reduce_scatter_block,
     (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
      MPI_Comm comm),
     (buffer(send), buffer(receive), count, type, op, comm))
CALL(Reduce_scatter,
     (const void *send, void *receive, const int counts[], MPI_Datatype type,
      MPI_Op op, MPI_Comm comm),
     (buffer(send), buffer(receive), counts, type, op, comm))
CALL(Allgather,
     (const void *send, int send_count, MPI_Datatype send_type, void *receive,
      int count, MPI_Datatype type, MPI_Comm comm),
     (buffer(send), send_count, send_type, buffer(receive), count, type, comm))
CALL(Bcast,
     (void *bytes, int count, MPI_Datatype type, int root, MPI_Comm comm),
     (buffer(bytes), count, type, root, comm))
#ifdef HAVE_PMPI_ALLREDUCE_C
CALL(Allreduce_c,
     (const void *send, void *receive, MPI_Count count, MPI_Datatype type,
      MPI_Op op, MPI_Comm comm),
     (buffer(send), buffer(receive), count, type, op, comm))
#endif
#ifdef HAVE_PMPI_ALLREDUCE_INIT
CALL(Allreduce_init,
     (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
      MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (buffer(send), buffer(receive), count, type, op, comm, info, request))
#endif

static int finalize(void)
{
    int (*next)(void);

    if (getenv("STANDIN_TELL"))
        fprintf(stderr,
                "standin: %lu messages from or to the device, %lu buffers of "
                "collective calls\n",
                atomic_load(&messages), atomic_load(&buffers));
    find(RTLD_NEXT, "PMPI_Finalize", &next);
    return next();
}

int MPI_Finalize(void)
{
    return finalize();
}

int PMPI_Finalize(void)
{
    return finalize();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that replace MPI's collectives of floats, and those for persistent
 * requests. The compiler compares each function with the declaration in mpi.h.
 */
#include "config.h"

#include <mpi.h>

#include "collective/allreduce.h"
#include "call/run.h"
#include "call/collective.h"
#include "call/start.h"
#include "waiting/persistent.h"
#include "entry/export.h"
#include "native/next_mpi.h"
#include "queue/queue.h"

#define HOT __attribute__((hot)) /* placed next to aps_allreduce */

/* Makes the arguments of a call of the row aps_collective_<row>. */
#define ARGUMENTS(row, ...)                                                    \
    (&(const struct aps_call_arguments){.collective = &aps_collective_##row,   \
                                        __VA_ARGS__})

#define NONBLOCKING_CALL(name, row, parameters, ...)                           \
    EXPORT int MPI_##name parameters                                           \
    {                                                                          \
        return aps_call_start(                                                 \
            ARGUMENTS(row, .form = APS_NONBLOCKING, __VA_ARGS__), request);    \
    }

/* Defines MPI_<name> and its nonblocking form. */
#define COLLECTIVE_CALL(name, nonblocking, row, parameters, ...)               \
    EXPORT int MPI_##name(UNPACK parameters)                                   \
    {                                                                          \
        return aps_call_run(ARGUMENTS(row, __VA_ARGS__));                      \
    }                                                                          \
    NONBLOCKING_CALL(nonblocking, row,                                         \
                     (UNPACK parameters, MPI_Request * request), __VA_ARGS__)
#define UNPACK(...) __VA_ARGS__

#define INIT(name, count_t, is_large)                                          \
    EXPORT int MPI_##name(const void *send, void *receive, count_t count,      \
                          MPI_Datatype type, MPI_Op op, MPI_Comm comm,         \
                          MPI_Info info, MPI_Request *request)                 \
    {                                                                          \
        return aps_persistent_init(                                            \
            ARGUMENTS(allreduce, .form = APS_PERSISTENT, .large = is_large,    \
                      .send = send, .receive = receive, .count = count,        \
                      .type = type, .op = op, .comm = comm),                   \
            info, request);                                                    \
    }

/* clang-format off */
#define COLLECTIVES(suffix, count_t, is_large)                                 \
    NONBLOCKING_CALL(Iallreduce##suffix, allreduce,                            \
        (const void *send, void *receive, count_t count, MPI_Datatype type,    \
         MPI_Op op, MPI_Comm comm, MPI_Request *request),                      \
        .large = is_large, .send = send, .receive = receive, .count = count,   \
        .type = type, .op = op, .comm = comm)                                  \
    COLLECTIVE_CALL(Reduce_scatter_block##suffix,                              \
        Ireduce_scatter_block##suffix, reduce_scatter_block,                   \
        (const void *send, void *receive, count_t count, MPI_Datatype type,    \
         MPI_Op op, MPI_Comm comm),                                            \
        .large = is_large, .send = send, .receive = receive, .count = count,   \
        .type = type, .op = op, .comm = comm)                                  \
    COLLECTIVE_CALL(Reduce_scatter##suffix,                                    \
        Ireduce_scatter##suffix, reduce_scatter,                               \
        (const void *send, void *receive, const count_t counts[],              \
         MPI_Datatype type, MPI_Op op, MPI_Comm comm),                         \
        .large = is_large, .send = send, .receive = receive, .counts = counts, \
        .type = type, .op = op, .comm = comm)                                  \
    COLLECTIVE_CALL(Allgather##suffix, Iallgather##suffix, allgather,          \
        (const void *send, count_t send_count, MPI_Datatype send_type,         \
         void *receive, count_t count, MPI_Datatype type, MPI_Comm comm),      \
        .large = is_large, .send = send, .send_count = send_count,             \
        .send_type = send_type, .receive = receive, .count = count,            \
        .type = type, .comm = comm)                                            \
    COLLECTIVE_CALL(Reduce##suffix, Ireduce##suffix, reduce,                   \
        (const void *send, void *receive, count_t count, MPI_Datatype type,    \
         MPI_Op op, int root, MPI_Comm comm),                                  \
        .large = is_large, .send = send, .receive = receive, .count = count,   \
        .type = type, .op = op, .root = root, .comm = comm)                    \
    COLLECTIVE_CALL(Bcast##suffix, Ibcast##suffix, bcast,                      \
        (void *buffer, count_t count, MPI_Datatype type, int root,             \
         MPI_Comm comm),                                                       \
        .large = is_large, .send = buffer, .receive = buffer, .count = count,  \
        .type = type, .root = root, .comm = comm)

COLLECTIVES(, int, false)
#ifdef HAVE_PMPI_ALLREDUCE_C
COLLECTIVES(_c, MPI_Count, true)
#endif
#ifdef HAVE_PMPI_ALLREDUCE_INIT
INIT(Allreduce_init, int, false)
INIT(Allreduce_init_c, MPI_Count, true)
#endif
/* clang-format on */

EXPORT HOT int MPI_Allreduce(const void *send, void *receive, int count,
                             MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return aps_allreduce(send, receive, count, false, type, op, comm);
}

#ifdef HAVE_PMPI_ALLREDUCE_C
EXPORT HOT int MPI_Allreduce_c(const void *send, void *receive, MPI_Count count,
                               MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return aps_allreduce(send, receive, count, true, type, op, comm);
}
#endif

EXPORT int MPI_Start(MPI_Request *request)
{
    if (!aps_persistent_any_kept())
        return aps_next_mpi()->Start(request);
    return aps_persistent_start(request);
}

EXPORT int MPI_Startall(int count, MPI_Request requests[])
{
    if (!aps_persistent_any_kept())
        return aps_next_mpi()->Startall(count, requests);
    return aps_persistent_startall(count, requests);
}

EXPORT int MPI_Request_free(MPI_Request *request)
{
    if (!aps_persistent_any_kept() && !aps_queue_unfinished())
        return aps_next_mpi()->Request_free(request);
    return aps_persistent_free(request);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that replace MPI's collectives of floats, and those for persistent
 * requests. The compiler compares each function with the declaration in mpi.h.
 */
#include "config.h"

#include <mpi.h>

#include "call/run.h"
#include "call/collective.h"
#include "call/passed.h"
#include "call/start.h"
#include "waiting/persistent.h"
#include "entry/export.h"
#include "native/next_mpi.h"
#include "queue/queue.h"

#define HOT __attribute__((hot)) /* next to each other */

/* Makes the arguments of a call of the row aps_collective_<row>. */
#define ARGUMENTS(row, ...)                                                    \
    (&(const struct aps_call_arguments){.collective = &aps_collective_##row,   \
                                        __VA_ARGS__})

/* Defines MPI_<name> and its nonblocking form. A blocking call that passes like an
 * earlier one goes to MPI at once. */
#define COLLECTIVE_CALL(name, nonblocking, row, COUNTED, parameters, actual,   \
                        ...)                                                   \
    EXPORT HOT int MPI_##name(UNPACK parameters)                               \
    {                                                                          \
        if (aps_passed_takes(APS_COUNTED_##COUNTED,                            \
                             ARGUMENTS(row, __VA_ARGS__)))                     \
            return aps_next_mpi()->name actual;                                \
        return aps_call_run(ARGUMENTS(row, __VA_ARGS__));                      \
    }                                                                          \
    EXPORT int MPI_##nonblocking(UNPACK parameters, MPI_Request *request)      \
    {                                                                          \
        return aps_call_start(                                                 \
            ARGUMENTS(row, .form = APS_NONBLOCKING, __VA_ARGS__), request);    \
    }
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
    COLLECTIVE_CALL(Allreduce##suffix, Iallreduce##suffix,                     \
        allreduce, ALLREDUCE,                                                  \
        (const void *send, void *receive, count_t count, MPI_Datatype type,    \
         MPI_Op op, MPI_Comm comm),                                            \
        (send, receive, count, type, op, comm),                                \
        .large = is_large, .send = send, .receive = receive, .count = count,   \
        .type = type, .op = op, .comm = comm)                                  \
    COLLECTIVE_CALL(Reduce_scatter_block##suffix,                              \
        Ireduce_scatter_block##suffix,                                         \
        reduce_scatter_block, REDUCE_SCATTER_BLOCK,                            \
        (const void *send, void *receive, count_t count, MPI_Datatype type,    \
         MPI_Op op, MPI_Comm comm),                                            \
        (send, receive, count, type, op, comm),                                \
        .large = is_large, .send = send, .receive = receive, .count = count,   \
        .type = type, .op = op, .comm = comm)                                  \
    COLLECTIVE_CALL(Reduce_scatter##suffix, Ireduce_scatter##suffix,           \
        reduce_scatter, REDUCE_SCATTER,                                        \
        (const void *send, void *receive, const count_t counts[],              \
         MPI_Datatype type, MPI_Op op, MPI_Comm comm),                         \
        (send, receive, counts, type, op, comm),                               \
        .large = is_large, .send = send, .receive = receive, .counts = counts, \
        .type = type, .op = op, .comm = comm)                                  \
    COLLECTIVE_CALL(Allgather##suffix, Iallgather##suffix,                     \
        allgather, ALLGATHER,                                                  \
        (const void *send, count_t send_count, MPI_Datatype send_type,         \
         void *receive, count_t count, MPI_Datatype type, MPI_Comm comm),      \
        (send, send_count, send_type, receive, count, type, comm),             \
        .large = is_large, .send = send, .send_count = send_count,             \
        .send_type = send_type, .receive = receive, .count = count,            \
        .type = type, .comm = comm)                                            \
    COLLECTIVE_CALL(Reduce##suffix, Ireduce##suffix, reduce, REDUCE,           \
        (const void *send, void *receive, count_t count, MPI_Datatype type,    \
         MPI_Op op, int root, MPI_Comm comm),                                  \
        (send, receive, count, type, op, root, comm),                          \
        .large = is_large, .send = send, .receive = receive, .count = count,   \
        .type = type, .op = op, .root = root, .comm = comm)                    \
    COLLECTIVE_CALL(Bcast##suffix, Ibcast##suffix, bcast, BCAST,               \
        (void *buffer, count_t count, MPI_Datatype type, int root,             \
         MPI_Comm comm),                                                       \
        (buffer, count, type, root, comm),                                     \
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

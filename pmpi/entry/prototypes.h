/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that replace MPI's and are written out in this room (blocking_
 * table.h has the others), each once:
 *
 *     PROTOTYPE(name without MPI_, parameters (arguments.h), NEXT(member)),
 *
 * where the member is the pointer of struct aps_next_mpi to the same function
 * of the next library, or NO_NEXT. A file that defines PROTOTYPE says what a
 * row becomes, as prototypes.c does; elsewhere a row declares the function, and
 * demands that the pointer has the same type.
 */
#ifndef PROTOTYPE
#include "entry/arguments.h"
#include "entry/export.h"

#define NEXT(member)                                                           \
    __typeof__(((struct aps_next_mpi *)0)->member) /* compared below */
#define NO_NEXT void
#define PROTOTYPE(name, parameters, next)                                      \
    EXPORT int MPI_##name parameters;                                          \
    _Static_assert(                                                            \
        __builtin_types_compatible_p(next, void) ||                            \
            __builtin_types_compatible_p(next, __typeof__(&MPI_##name)),       \
        "struct aps_next_mpi has another type for MPI_" #name);
#endif

/* clang-format off */

/* --- the process --------------------------------------------------------- */

PROTOTYPE(Init, (int *argc, char ***argv), NEXT(init))
PROTOTYPE(Init_thread,
          (int *argc, char ***argv, int required, int *provided),
          NEXT(init_thread))
PROTOTYPE(Finalize, (void), NO_NEXT)
#ifdef HAVE_PMPI_SESSION_INIT
PROTOTYPE(Session_init,
          (info_arg info, errhandler_arg handler, session_at *session), NO_NEXT)
PROTOTYPE(Session_finalize, (session_at *session), NO_NEXT)
#endif
PROTOTYPE(Pcontrol, (const int level, ...), NEXT(pcontrol))

/* --- the all-reduce ------------------------------------------------------ */

#define ALLREDUCE(name, count_t, next)                                         \
    PROTOTYPE(name,                                                            \
              (const void *send, void *receive, count_t count, type_arg type,  \
               op_arg op, comm_arg comm),                                      \
              next)
#define IALLREDUCE(name, count_t, next)                                        \
    PROTOTYPE(name,                                                            \
              (const void *send, void *receive, count_t count, type_arg type,  \
               op_arg op, comm_arg comm, request_at *request),                 \
              next)
#define ALLREDUCE_INIT(name, count_t, next)                                    \
    PROTOTYPE(name,                                                            \
              (const void *send, void *receive, count_t count, type_arg type,  \
               op_arg op, comm_arg comm, info_arg info, request_at *request),  \
              next)

ALLREDUCE(Allreduce, int, NEXT(allreduce))
IALLREDUCE(Iallreduce, int, NEXT(iallreduce))
#ifdef HAVE_PMPI_ALLREDUCE_C
ALLREDUCE(Allreduce_c, count_arg, NEXT(allreduce_c))
#endif
#ifdef HAVE_PMPI_IALLREDUCE_C
IALLREDUCE(Iallreduce_c, count_arg, NEXT(iallreduce_c))
#endif
#ifdef HAVE_PMPI_ALLREDUCE_INIT
ALLREDUCE_INIT(Allreduce_init, int, NEXT(allreduce_init))
ALLREDUCE_INIT(Allreduce_init_c, count_arg, NEXT(allreduce_init_c))
#endif
PROTOTYPE(Start, (request_at *request), NEXT(start))
PROTOTYPE(Startall, (int count, request_at *requests), NEXT(startall))
PROTOTYPE(Request_free, (request_at *request), NEXT(request_free))

/* --- the other collectives ----------------------------------------------- */

#define REDUCE_SCATTER(name, count_t, next)                                    \
    PROTOTYPE(name,                                                            \
              (const void *send, void *receive, const count_t *counts,         \
               type_arg type, op_arg op, comm_arg comm),                       \
              next)
#define ALLGATHER(name, count_t, next)                                         \
    PROTOTYPE(name,                                                            \
              (const void *send, count_t send_count, type_arg send_type,       \
               void *receive, count_t count, type_arg type, comm_arg comm),    \
              next)
#define REDUCE(name, count_t, next)                                            \
    PROTOTYPE(name,                                                            \
              (const void *send, void *receive, count_t count, type_arg type,  \
               op_arg op, int root, comm_arg comm),                            \
              next)

#define IREDUCE_SCATTER(name, count_t, next)                                   \
    PROTOTYPE(name,                                                            \
              (const void *send, void *receive, const count_t *counts,         \
               type_arg type, op_arg op, comm_arg comm, request_at *request),  \
              next)

#define IALLGATHER(name, count_t, next)                                        \
    PROTOTYPE(name,                                                            \
              (const void *send, count_t send_count, type_arg send_type,       \
               void *receive, count_t count, type_arg type, comm_arg comm,     \
               request_at *request),                                           \
              next)
#define IREDUCE(name, count_t, next)                                           \
    PROTOTYPE(name,                                                            \
              (const void *send, void *receive, count_t count, type_arg type,  \
               op_arg op, int root, comm_arg comm, request_at *request),       \
              next)

#define BCAST(name, count_t, next)                                             \
    PROTOTYPE(name,                                                            \
              (void *buffer, count_t count, type_arg type, int root,           \
               comm_arg comm),                                                 \
              next)
#define IBCAST(name, count_t, next)                                            \
    PROTOTYPE(name,                                                            \
              (void *buffer, count_t count, type_arg type, int root,           \
               comm_arg comm, request_at *request),                            \
              next)

ALLREDUCE(Reduce_scatter_block, int, NEXT(reduce_scatter_block))
REDUCE_SCATTER(Reduce_scatter, int, NEXT(reduce_scatter))
IALLREDUCE(Ireduce_scatter_block, int, NEXT(ireduce_scatter_block))
IREDUCE_SCATTER(Ireduce_scatter, int, NEXT(ireduce_scatter))
ALLGATHER(Allgather, int, NEXT(allgather))
IALLGATHER(Iallgather, int, NEXT(iallgather))
REDUCE(Reduce, int, NEXT(reduce))
IREDUCE(Ireduce, int, NEXT(ireduce))
BCAST(Bcast, int, NEXT(bcast))
IBCAST(Ibcast, int, NEXT(ibcast))
#ifdef HAVE_PMPI_REDUCE_SCATTER_BLOCK_C
ALLREDUCE(Reduce_scatter_block_c, count_arg, NEXT(reduce_scatter_block_c))
#endif
#ifdef HAVE_PMPI_REDUCE_SCATTER_C
REDUCE_SCATTER(Reduce_scatter_c, count_arg, NEXT(reduce_scatter_c))
#endif
#ifdef HAVE_PMPI_IREDUCE_SCATTER_BLOCK_C
IALLREDUCE(Ireduce_scatter_block_c, count_arg, NEXT(ireduce_scatter_block_c))
#endif
#ifdef HAVE_PMPI_IREDUCE_SCATTER_C
IREDUCE_SCATTER(Ireduce_scatter_c, count_arg, NEXT(ireduce_scatter_c))
#endif
#ifdef HAVE_PMPI_ALLGATHER_C
ALLGATHER(Allgather_c, count_arg, NEXT(allgather_c))
#endif
#ifdef HAVE_PMPI_IALLGATHER_C
IALLGATHER(Iallgather_c, count_arg, NEXT(iallgather_c))
#endif
#ifdef HAVE_PMPI_REDUCE_C
REDUCE(Reduce_c, count_arg, NEXT(reduce_c))
#endif
#ifdef HAVE_PMPI_IREDUCE_C
IREDUCE(Ireduce_c, count_arg, NEXT(ireduce_c))
#endif
#ifdef HAVE_PMPI_BCAST_C
BCAST(Bcast_c, count_arg, NEXT(bcast_c))
#endif
#ifdef HAVE_PMPI_IBCAST_C
IBCAST(Ibcast_c, count_arg, NEXT(ibcast_c))
#endif

/* clang-format on */

#undef PROTOTYPE
#undef NEXT
#undef NO_NEXT

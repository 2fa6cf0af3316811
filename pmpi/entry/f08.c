/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replaces functions of MPICH's mpi_f08. Its functions without a choice buffer
 * call the profiling names of C, so that no preloaded library sees the call.
 * (Its functions with a choice buffer, mpif.h and `use mpi` call MPI_Allreduce
 * and so on.) This file replaces those that block, so that nonblocking
 * reductions continue during the call, and those that begin and end MPI.
 *
 * All arguments are addresses. The lengths of texts follow the addresses, and
 * each takes as much room as an address. The functions pass all arguments on
 * unchanged.
 */
#include "config.h"

#include <mpi.h>

#include "waiting/blocking.h"
#include "waiting/persistent.h"
#include "comm/comm_queue.h"
#include "entry/export.h"
#include "job/job.h"
#include "job/thread_level.h"
#include "world/lifecycle.h"
#include "world/sessions.h"
#include "native/next_mpi.h"
#include "queue/queue.h"

#define TYPES_1 void *
#define TYPES_2 TYPES_1, void *
#define TYPES_3 TYPES_2, void *
#define TYPES_4 TYPES_3, void *
#define TYPES_5 TYPES_4, void *
#define TYPES_6 TYPES_5, void *
#define TYPES_7 TYPES_6, void *
#define TYPES_8 TYPES_7, void *
#define TYPES_9 TYPES_8, void *
#define TYPES_10 TYPES_9, void *
#define TYPES_11 TYPES_10, void *
#define TYPES_12 TYPES_11, void *
#define NAMED_1 void *a
#define NAMED_2 NAMED_1, void *b
#define NAMED_3 NAMED_2, void *c
#define NAMED_4 NAMED_3, void *d
#define NAMED_5 NAMED_4, void *e
#define NAMED_6 NAMED_5, void *f
#define NAMED_7 NAMED_6, void *g
#define NAMED_8 NAMED_7, void *h
#define NAMED_9 NAMED_8, void *i
#define NAMED_10 NAMED_9, void *j
#define NAMED_11 NAMED_10, void *k
#define NAMED_12 NAMED_11, void *l
#define NAMES_1 a
#define NAMES_2 NAMES_1, b
#define NAMES_3 NAMES_2, c
#define NAMES_4 NAMES_3, d
#define NAMES_5 NAMES_4, e
#define NAMES_6 NAMES_5, f
#define NAMES_7 NAMES_6, g
#define NAMES_8 NAMES_7, h
#define NAMES_9 NAMES_8, i
#define NAMES_10 NAMES_9, j
#define NAMES_11 NAMES_10, k
#define NAMES_12 NAMES_11, l

/* Counts the arguments of MPI_<name>. */
#define SELECT(a, b, c, d, e, f, g, h, i, j, k, l, count, ...) count
#define COUNT(...) SELECT(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
enum {
#define BLOCKING(name, parameters, arguments, instead)                         \
    ARGUMENTS_##name = COUNT parameters,
#define COMPLETION(name, parameters, arguments, count, first, instead)         \
    ARGUMENTS_##name = COUNT parameters,
#define LOOK(name, parameters, arguments) ARGUMENTS_##name = COUNT parameters,
#define COLLECTIVE(name, parameters, arguments) LOOK(name, parameters, )
#define WHOLE(name, parameters, arguments) LOOK(name, parameters, )
#include "entry/blocking_table.h"
};

/* Asserts the number of arguments: Fortran's function has the arguments of
 * MPI_<function>, then an error, then the length of each text. */
#define MATCHES(function, arguments, strings)                                  \
    _Static_assert((arguments) == ARGUMENTS_##function + 1 + (strings),        \
                   "mpi_f08 has other arguments than MPI_" #function);

/* Declares the function of MPI's library for mpi_<name>, as `next`. */
#define NEXT(name, arguments)                                                  \
    static void *_Atomic kept;                                                 \
    void (*next)(TYPES_##arguments);                                           \
    aps_next_mpi_function(&kept, "mpi_" #name, &next)

/* Communicator on which a call blocks, or NO_COMM. The argument of Fortran has
 * only the handle of C. */
#define COMM(argument) (*(const MPI_Comm *)(argument))
#define NO_COMM MPI_COMM_NULL

/* Defines mpi_<name>, which is MPI_<function> and blocks. It has `arguments`
 * arguments, and `strings` of them are texts. */
#define BLOCKS(function, name, arguments, strings, on)                         \
    MATCHES(function, arguments, strings)                                      \
    EXPORT void mpi_##name(TYPES_##arguments);                                 \
    void mpi_##name(NAMED_##arguments)                                         \
    {                                                                          \
        NEXT(name, arguments);                                                 \
        const bool helped = aps_blocking_enter(on);                            \
        next(NAMES_##arguments);                                               \
        aps_blocking_leave(helped);                                            \
    }

/* Defines mpi_<name>, which does not block. */
#define LOOKS(function, name, arguments, strings)                              \
    MATCHES(function, arguments, strings)                                      \
    EXPORT void mpi_##name(TYPES_##arguments);                                 \
    void mpi_##name(NAMED_##arguments)                                         \
    {                                                                          \
        NEXT(name, arguments);                                                 \
        aps_queue_poll();                                                      \
        next(NAMES_##arguments);                                               \
    }

/* Defines mpi_<name>, which makes a persistent request that MPI alone starts
 * and completes. */
#define MAKES(name, arguments)                                                 \
    EXPORT void mpi_##name(TYPES_##arguments);                                 \
    void mpi_##name(NAMED_##arguments)                                         \
    {                                                                          \
        NEXT(name, arguments);                                                 \
        aps_persistent_leave_to_mpi(true);                                     \
        next(NAMES_##arguments);                                               \
        aps_persistent_leave_to_mpi(false);                                    \
    }

/* clang-format off */
BLOCKS(Barrier, barrier_f08_, 2, 0, COMM(a))
BLOCKS(Buffer_detach, buffer_detach_f08_, 3, 0, NO_COMM)
BLOCKS(Cart_create, cart_create_f08_, 7, 0, COMM(a))
BLOCKS(Cart_sub, cart_sub_f08_, 4, 0, COMM(a))
BLOCKS(Comm_accept, comm_accept_f08_, 7, 1, COMM(d))
BLOCKS(Comm_connect, comm_connect_f08_, 7, 1, COMM(d))
BLOCKS(Comm_create, comm_create_f08_, 4, 0, COMM(a))
BLOCKS(Comm_create_group, comm_create_group_f08_, 5, 0, NO_COMM)
BLOCKS(Comm_disconnect, comm_disconnect_f08_, 2, 0, NO_COMM)
BLOCKS(Comm_dup, comm_dup_f08_, 3, 0, COMM(a))
BLOCKS(Comm_dup_with_info, comm_dup_with_info_f08_, 4, 0, COMM(a))
BLOCKS(Comm_join, comm_join_f08_, 3, 0, NO_COMM)
BLOCKS(Comm_spawn, comm_spawn_f08_, 11, 2, COMM(f))
BLOCKS(Comm_spawn_multiple, comm_spawn_multiple_f08_, 12, 2, COMM(g))
BLOCKS(Comm_split, comm_split_f08_, 5, 0, COMM(a))
BLOCKS(Comm_split_type, comm_split_type_f08_, 6, 0, COMM(a))
BLOCKS(Dist_graph_create, dist_graph_create_f08_, 10, 0, COMM(a))
BLOCKS(Dist_graph_create_adjacent, dist_graph_create_adjacent_f08_, 11, 0, COMM(a))
BLOCKS(File_close, file_close_f08_, 2, 0, NO_COMM)
BLOCKS(File_open, file_open_f08_, 7, 1, COMM(a))
BLOCKS(File_preallocate, file_preallocate_f08_, 3, 0, NO_COMM)
BLOCKS(File_seek_shared, file_seek_shared_f08_, 4, 0, NO_COMM)
BLOCKS(File_set_atomicity, file_set_atomicity_f08_, 3, 0, NO_COMM)
BLOCKS(File_set_info, file_set_info_f08_, 3, 0, NO_COMM)
BLOCKS(File_set_size, file_set_size_f08_, 3, 0, NO_COMM)
BLOCKS(File_set_view, file_set_view_f08_, 8, 1, NO_COMM)
BLOCKS(File_sync, file_sync_f08_, 2, 0, NO_COMM)
BLOCKS(Graph_create, graph_create_f08_, 7, 0, COMM(a))
BLOCKS(Intercomm_create, intercomm_create_f08_, 7, 0, COMM(a))
BLOCKS(Intercomm_merge, intercomm_merge_f08_, 4, 0, COMM(a))
BLOCKS(Mprobe, mprobe_f08_, 6, 0, NO_COMM)
BLOCKS(Probe, probe_f08_, 5, 0, NO_COMM)
BLOCKS(Wait, wait_f08_, 3, 0, NO_COMM)
BLOCKS(Waitall, waitall_f08_, 4, 0, NO_COMM)
BLOCKS(Waitany, waitany_f08_, 5, 0, NO_COMM)
BLOCKS(Waitsome, waitsome_f08_, 6, 0, NO_COMM)
BLOCKS(Win_allocate, win_allocate_f08_, 7, 0, COMM(d))
BLOCKS(Win_allocate_shared, win_allocate_shared_f08_, 7, 0, COMM(d))
BLOCKS(Win_complete, win_complete_f08_, 2, 0, NO_COMM)
BLOCKS(Win_create_dynamic, win_create_dynamic_f08_, 4, 0, COMM(b))
BLOCKS(Win_fence, win_fence_f08_, 3, 0, NO_COMM)
BLOCKS(Win_free, win_free_f08_, 2, 0, NO_COMM)
BLOCKS(Win_lock, win_lock_f08_, 5, 0, NO_COMM)
BLOCKS(Win_lock_all, win_lock_all_f08_, 3, 0, NO_COMM)
BLOCKS(Win_set_info, win_set_info_f08_, 3, 0, NO_COMM)
BLOCKS(Win_start, win_start_f08_, 4, 0, NO_COMM)
BLOCKS(Win_wait, win_wait_f08_, 2, 0, NO_COMM)
LOOKS(Improbe, improbe_f08_, 7, 0)
LOOKS(Iprobe, iprobe_f08_, 6, 0)
LOOKS(Request_get_status, request_get_status_f08_, 4, 0)
LOOKS(Test, test_f08_, 4, 0)
LOOKS(Testall, testall_f08_, 5, 0)
LOOKS(Testany, testany_f08_, 6, 0)
LOOKS(Testsome, testsome_f08_, 6, 0)
LOOKS(Win_test, win_test_f08_, 3, 0)
#ifdef HAVE_PMPI_ISEND_C
BLOCKS(Buffer_detach_c, buffer_detach_f08_large_, 3, 0, NO_COMM)
#endif
#ifdef HAVE_PMPI_COMM_CREATE_FROM_GROUP
BLOCKS(Comm_create_from_group, comm_create_from_group_f08_, 7, 1, NO_COMM)
BLOCKS(Intercomm_create_from_groups, intercomm_create_from_groups_f08_, 10, 1, NO_COMM)
#endif
#ifdef HAVE_PMPI_ALLREDUCE_C
BLOCKS(Win_allocate_c, win_allocate_f08_large_, 7, 0, COMM(d))
BLOCKS(Win_allocate_shared_c, win_allocate_shared_f08_large_, 7, 0, COMM(d))
#endif
#ifdef HAVE_PMPI_ALLREDUCE_INIT
MAKES(allreduce_init_f08ts_, 9)
MAKES(allreduce_init_f08ts_large_, 9)
#endif
/* clang-format on */

EXPORT void mpi_request_free_f08_(void *request, void *error);

/* A function of mpif.h may have made the request. */
void mpi_request_free_f08_(void *request, void *error)
{
    NEXT(request_free_f08_, 2);

    if (aps_persistent_any_kept())
        aps_persistent_forget(*(MPI_Request *)request);
    next(request, error);
}

EXPORT void mpi_start_f08_(void *request, void *error);
EXPORT void mpi_startall_f08_(void *count, void *requests, void *error);

void mpi_start_f08_(void *request, void *error)
{
    NEXT(start_f08_, 2);

    if (aps_persistent_any_kept())
        aps_persistent_count_start(*(MPI_Request *)request);
    next(request, error);
}

void mpi_startall_f08_(void *count, void *requests, void *error)
{
    NEXT(startall_f08_, 3);

    for (int i = 0; aps_persistent_any_kept() && i < *(const MPI_Fint *)count;
         i++)
        aps_persistent_count_start(((MPI_Request *)requests)[i]);
    next(count, requests, error);
}

EXPORT void mpi_pcontrol_f08_(const int *level);

void mpi_pcontrol_f08_(const int *level)
{
    (void)MPI_Pcontrol(*level);
}

EXPORT void mpi_finalize_f08_(void *error);

void mpi_finalize_f08_(void *error)
{
    NEXT(finalize_f08_, 1);

    aps_lifecycle_finish();
    next(error);
}

#ifdef HAVE_PMPI_SESSION_INIT
EXPORT void mpi_session_init_f08_(TYPES_4);
EXPORT void mpi_session_finalize_f08_(TYPES_2);

void mpi_session_init_f08_(NAMED_4)
{
    MPI_Fint error = MPI_SUCCESS;
    NEXT(session_init_f08_, 4);

    if (!d) /* the program leaves the error out */
        d = &error;
    next(NAMES_4);
    if (*(const MPI_Fint *)d == MPI_SUCCESS)
        aps_sessions_begin();
}

void mpi_session_finalize_f08_(NAMED_2)
{
    MPI_Fint error = MPI_SUCCESS;
    NEXT(session_finalize_f08_, 2);

    if (!b)
        b = &error;
    aps_sessions_end();
    next(NAMES_2);
    if (*(const MPI_Fint *)b != MPI_SUCCESS) /* the session continues */
        aps_sessions_begin();
}
#endif

EXPORT void mpi_init_f08_(void *error);
EXPORT void mpi_init_thread_f08_(void *required, void *provided, void *error);

void mpi_init_thread_f08_(void *required, void *provided, void *error)
{
    const int asked = *(int *)required;
    int level = aps_thread_level_raise(asked);
    NEXT(init_thread_f08_, 3);

    next(&level, provided, error);
    aps_lifecycle_begin(asked);
    if (aps_job()->begun)
        *(int *)provided = aps_thread_level_shown(*(int *)provided);
}

EXPORT void mpi_query_thread_f08_(void *provided, void *error);

void mpi_query_thread_f08_(void *provided, void *error)
{
    NEXT(query_thread_f08_, 2);

    next(provided, error);
    if (aps_job()->begun)
        *(int *)provided = aps_thread_level_shown(*(int *)provided);
}

void mpi_init_f08_(void *error)
{
    int level = aps_thread_level_raise(MPI_THREAD_SINGLE);
    int provided;

    if (level != MPI_THREAD_SINGLE) {
        NEXT(init_thread_f08_, 3);

        next(&level, &provided, error);
    } else {
        NEXT(init_f08_, 1);

        next(error);
    }
    aps_lifecycle_begin(MPI_THREAD_SINGLE);
}

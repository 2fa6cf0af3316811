/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi_f08 of MPICH: its functions without a choice buffer call the profiling
 * names of C, where no library in front of it sees them (those with one call
 * MPI_Allreduce and so on, like mpif.h and `use mpi`). These stand in front of
 * what blocks, so that reductions go on meanwhile, and of MPI_Init.
 *
 * All arguments are addresses, or behind them the lengths of texts, which take
 * as much room, and go on as they came.
 */
#include "config.h"

#include <mpi.h>

#include "call/blocking.h"
#include "call/persistent.h"
#include "entry/export.h"
#include "job/job.h"
#include "job/lifecycle.h"
#include "job/sessions.h"
#include "progress/queue.h"

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

/* The function that MPI's library has for mpi_<name>, as `next`. */
#define NEXT(name, arguments)                                                  \
    static void *_Atomic kept;                                                 \
    void (*next)(TYPES_##arguments);                                           \
    aps_next_mpi_function(&kept, "mpi_" #name, &next)

/* mpi_<name>, with so many arguments, blocks. */
#define BLOCKS(name, arguments)                                                \
    EXPORT void mpi_##name(TYPES_##arguments);                                 \
    void mpi_##name(NAMED_##arguments)                                         \
    {                                                                          \
        NEXT(name, arguments);                                                 \
        const bool helped = aps_blocking_enter(0);                             \
        next(NAMES_##arguments);                                               \
        aps_blocking_leave(helped);                                            \
    }

/* It only looks. */
#define LOOKS(name, arguments)                                                 \
    EXPORT void mpi_##name(TYPES_##arguments);                                 \
    void mpi_##name(NAMED_##arguments)                                         \
    {                                                                          \
        NEXT(name, arguments);                                                 \
        aps_queue_drive();                                                     \
        next(NAMES_##arguments);                                               \
    }

/* It makes a persistent request, which MPI alone will start and complete. */
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
BLOCKS(barrier_f08_, 2)
BLOCKS(buffer_detach_f08_, 3)
BLOCKS(buffer_detach_f08_large_, 3)
BLOCKS(cart_create_f08_, 7)
BLOCKS(cart_sub_f08_, 4)
BLOCKS(comm_accept_f08_, 7)
BLOCKS(comm_connect_f08_, 7)
BLOCKS(comm_create_f08_, 4)
BLOCKS(comm_create_from_group_f08_, 7)
BLOCKS(comm_create_group_f08_, 5)
BLOCKS(comm_disconnect_f08_, 2)
BLOCKS(comm_dup_f08_, 3)
BLOCKS(comm_dup_with_info_f08_, 4)
BLOCKS(comm_join_f08_, 3)
BLOCKS(comm_spawn_f08_, 11)
BLOCKS(comm_spawn_multiple_f08_, 12)
BLOCKS(comm_split_f08_, 5)
BLOCKS(comm_split_type_f08_, 6)
BLOCKS(dist_graph_create_f08_, 10)
BLOCKS(dist_graph_create_adjacent_f08_, 11)
BLOCKS(file_close_f08_, 2)
BLOCKS(file_open_f08_, 7)
BLOCKS(file_preallocate_f08_, 3)
BLOCKS(file_seek_shared_f08_, 4)
BLOCKS(file_set_atomicity_f08_, 3)
BLOCKS(file_set_info_f08_, 3)
BLOCKS(file_set_size_f08_, 3)
BLOCKS(file_set_view_f08_, 8)
BLOCKS(file_sync_f08_, 2)
BLOCKS(graph_create_f08_, 7)
BLOCKS(intercomm_create_f08_, 7)
BLOCKS(intercomm_create_from_groups_f08_, 10)
BLOCKS(intercomm_merge_f08_, 4)
BLOCKS(mprobe_f08_, 6)
BLOCKS(probe_f08_, 5)
BLOCKS(wait_f08_, 3)
BLOCKS(waitall_f08_, 4)
BLOCKS(waitany_f08_, 5)
BLOCKS(waitsome_f08_, 6)
BLOCKS(win_allocate_f08_, 7)
BLOCKS(win_allocate_f08_large_, 7)
BLOCKS(win_allocate_shared_f08_, 7)
BLOCKS(win_allocate_shared_f08_large_, 7)
BLOCKS(win_complete_f08_, 2)
BLOCKS(win_create_dynamic_f08_, 4)
BLOCKS(win_fence_f08_, 3)
BLOCKS(win_free_f08_, 2)
BLOCKS(win_lock_f08_, 5)
BLOCKS(win_lock_all_f08_, 3)
BLOCKS(win_set_info_f08_, 3)
BLOCKS(win_start_f08_, 4)
BLOCKS(win_wait_f08_, 2)
LOOKS(improbe_f08_, 7)
LOOKS(iprobe_f08_, 6)
LOOKS(request_get_status_f08_, 4)
LOOKS(test_f08_, 4)
LOOKS(testall_f08_, 5)
LOOKS(testany_f08_, 6)
LOOKS(testsome_f08_, 6)
LOOKS(win_test_f08_, 3)
MAKES(allreduce_init_f08ts_, 9)
MAKES(allreduce_init_f08ts_large_, 9)
/* clang-format on */

EXPORT void mpi_request_free_f08_(void *request, void *error);

/* It may have been made by mpif.h's. */
void mpi_request_free_f08_(void *request, void *error)
{
    NEXT(request_free_f08_, 2);

    if (aps_persistent_any())
        aps_persistent_forget((aps_handle) * (MPI_Request *)request);
    next(request, error);
}

EXPORT void mpi_pcontrol_f08_(const int *level);

void mpi_pcontrol_f08_(const int *level)
{
    (void)MPI_Pcontrol(*level);
}

/* MPI is there, if all went well: the error may be left out. */
static void entry_f08_begin(int required)
{
    int initialized = 0;

    if (!aps_job()->foreign && PMPI_Initialized(&initialized) == MPI_SUCCESS &&
        initialized)
        aps_lifecycle_begin(required);
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
    NEXT(session_init_f08_, 4);

    next(NAMES_4);
    aps_sessions_begin();
}

void mpi_session_finalize_f08_(NAMED_2)
{
    NEXT(session_finalize_f08_, 2);

    aps_sessions_end();
    next(NAMES_2);
}
#endif

EXPORT void mpi_init_f08_(void *error);
EXPORT void mpi_init_thread_f08_(void *required, void *provided, void *error);

void mpi_init_thread_f08_(void *required, void *provided, void *error)
{
    const int asked = *(int *)required;
    int level = aps_lifecycle_thread_level(asked);
    NEXT(init_thread_f08_, 3);

    next(&level, provided, error);
    entry_f08_begin(asked);
}

void mpi_init_f08_(void *error)
{
    int level = aps_lifecycle_thread_level(MPI_THREAD_SINGLE);
    int provided;

    if (level != MPI_THREAD_SINGLE) {
        NEXT(init_thread_f08_, 3);

        next(&level, &provided, error);
    } else {
        NEXT(init_f08_, 1);

        next(error);
    }
    entry_f08_begin(MPI_THREAD_SINGLE);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that replace MPI's all-reduces, its start-up, and what
 * persistent requests need. Calls of an MPI that the library was not built for go
 * on untouched.
 */
#include "config.h"

#include "call/allreduce.h"
#include "call/nonblocking.h"
#include "call/persistent.h"
#include "entry/export.h"
#include "job/job.h"
#include "world/lifecycle.h"
#include "native/foreign.h"
#include "native/next_mpi.h"
#include "queue/queue.h"

#define HOT __attribute__((hot)) /* side by side with aps_allreduce */

EXPORT int MPI_Init(int *argc, char ***argv)
{
    const struct aps_next_mpi *next = aps_next_mpi();
    const int none = 0; /* MPI_THREAD_SINGLE */
    const int level = aps_lifecycle_thread_level(none);
    int provided;
    int rc;

    aps_foreign_check_caller(__builtin_return_address(0));
    rc = level == none ? next->Init(argc, argv)
                       : next->Init_thread(argc, argv, level, &provided);
    if (rc == 0 && !aps_job()->foreign)
        aps_lifecycle_begin(none);
    return rc;
}

EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int rc;

    aps_foreign_check_caller(__builtin_return_address(0));
    rc = aps_next_mpi()->Init_thread(
        argc, argv, aps_lifecycle_thread_level(required), provided);
    if (rc == 0 && !aps_job()->foreign)
        aps_lifecycle_begin(required);
    return rc;
}

EXPORT HOT int MPI_Allreduce(const void *send, void *receive, int count,
                             MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return aps_allreduce(send, receive, count, type, op, comm);
}

#ifdef HAVE_PMPI_ALLREDUCE_C
EXPORT HOT int MPI_Allreduce_c(const void *send, void *receive, MPI_Count count,
                               MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return aps_allreduce_c(send, receive, count, type, op, comm);
}
#endif

EXPORT int MPI_Iallreduce(const void *send, void *receive, int count,
                          MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                          MPI_Request *request)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Iallreduce(send, receive, count, type, op, comm,
                                          request);
    return aps_iallreduce(send, receive, count, false, type, op, comm, request);
}

#ifdef HAVE_PMPI_ALLREDUCE_C
EXPORT int MPI_Iallreduce_c(const void *send, void *receive, MPI_Count count,
                            MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                            MPI_Request *request)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Iallreduce_c(send, receive, count, type, op,
                                            comm, request);
    return aps_iallreduce(send, receive, count, true, type, op, comm, request);
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

#ifdef HAVE_PMPI_ALLREDUCE_INIT
EXPORT int MPI_Allreduce_init(const void *send, void *receive, int count,
                              MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                              MPI_Info info, MPI_Request *request)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Allreduce_init(send, receive, count, type, op,
                                              comm, info, request);
    return aps_persistent_init(send, receive, count, false, type, op, comm,
                               info, request);
}

EXPORT int MPI_Allreduce_init_c(const void *send, void *receive,
                                MPI_Count count, MPI_Datatype type, MPI_Op op,
                                MPI_Comm comm, MPI_Info info,
                                MPI_Request *request)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Allreduce_init_c(send, receive, count, type, op,
                                                comm, info, request);
    return aps_persistent_init(send, receive, count, true, type, op, comm, info,
                               request);
}
#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that replace MPI's other collectives, as allreduce.c has the
 * all-reduces: reduce, reduce-scatter, all-gather and broadcast, and nonblocking
 * forms.
 */
#include "config.h"

#include "call/other_collectives.h"
#include "entry/export.h"
#include "job/job.h"
#include "native/next_mpi.h"

EXPORT int MPI_Reduce_scatter_block(const void *send, void *receive, int count,
                                    MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Reduce_scatter_block(send, receive, count, type,
                                                    op, comm);
    return aps_other_reduce_scatter_block(send, receive, count, false, type, op,
                                          comm);
}

EXPORT int MPI_Reduce_scatter(const void *send, void *receive,
                              const int counts[], MPI_Datatype type, MPI_Op op,
                              MPI_Comm comm)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Reduce_scatter(send, receive, counts, type, op,
                                              comm);
    return aps_other_reduce_scatter(send, receive, counts, false, type, op,
                                    comm);
}

EXPORT int MPI_Ireduce_scatter_block(const void *send, void *receive, int count,
                                     MPI_Datatype type, MPI_Op op,
                                     MPI_Comm comm, MPI_Request *request)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Ireduce_scatter_block(send, receive, count, type,
                                                     op, comm, request);
    return aps_other_ireduce_scatter_block(send, receive, count, false, type,
                                           op, comm, request);
}

EXPORT int MPI_Ireduce_scatter(const void *send, void *receive,
                               const int counts[], MPI_Datatype type, MPI_Op op,
                               MPI_Comm comm, MPI_Request *request)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Ireduce_scatter(send, receive, counts, type, op,
                                               comm, request);
    return aps_other_ireduce_scatter(send, receive, counts, false, type, op,
                                     comm, request);
}

EXPORT int MPI_Allgather(const void *send, int send_count,
                         MPI_Datatype send_type, void *receive, int count,
                         MPI_Datatype type, MPI_Comm comm)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Allgather(send, send_count, send_type, receive,
                                         count, type, comm);
    return aps_other_allgather(send, send_count, send_type, receive, count,
                               false, type, comm);
}

EXPORT int MPI_Iallgather(const void *send, int send_count,
                          MPI_Datatype send_type, void *receive, int count,
                          MPI_Datatype type, MPI_Comm comm,
                          MPI_Request *request)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Iallgather(send, send_count, send_type, receive,
                                          count, type, comm, request);
    return aps_other_iallgather(send, send_count, send_type, receive, count,
                                false, type, comm, request);
}

EXPORT int MPI_Reduce(const void *send, void *receive, int count,
                      MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Reduce(send, receive, count, type, op, root,
                                      comm);
    return aps_other_reduce(send, receive, count, false, type, op, root, comm);
}

EXPORT int MPI_Ireduce(const void *send, void *receive, int count,
                       MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                       MPI_Request *request)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Ireduce(send, receive, count, type, op, root,
                                       comm, request);
    return aps_other_ireduce(send, receive, count, false, type, op, root, comm,
                             request);
}

EXPORT int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root,
                     MPI_Comm comm)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Bcast(buffer, count, type, root, comm);
    return aps_other_bcast(buffer, count, false, type, root, comm);
}

EXPORT int MPI_Ibcast(void *buffer, int count, MPI_Datatype type, int root,
                      MPI_Comm comm, MPI_Request *request)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Ibcast(buffer, count, type, root, comm, request);
    return aps_other_ibcast(buffer, count, false, type, root, comm, request);
}

#ifdef HAVE_PMPI_ALLREDUCE_C
EXPORT int MPI_Reduce_scatter_block_c(const void *send, void *receive,
                                      MPI_Count count, MPI_Datatype type,
                                      MPI_Op op, MPI_Comm comm)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Reduce_scatter_block_c(send, receive, count,
                                                      type, op, comm);
    return aps_other_reduce_scatter_block(send, receive, count, true, type, op,
                                          comm);
}

EXPORT int MPI_Reduce_scatter_c(const void *send, void *receive,
                                const MPI_Count counts[], MPI_Datatype type,
                                MPI_Op op, MPI_Comm comm)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Reduce_scatter_c(send, receive, counts, type, op,
                                                comm);
    return aps_other_reduce_scatter(send, receive, counts, true, type, op,
                                    comm);
}

EXPORT int MPI_Ireduce_scatter_block_c(const void *send, void *receive,
                                       MPI_Count count, MPI_Datatype type,
                                       MPI_Op op, MPI_Comm comm,
                                       MPI_Request *request)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Ireduce_scatter_block_c(send, receive, count,
                                                       type, op, comm, request);
    return aps_other_ireduce_scatter_block(send, receive, count, true, type, op,
                                           comm, request);
}

EXPORT int MPI_Ireduce_scatter_c(const void *send, void *receive,
                                 const MPI_Count counts[], MPI_Datatype type,
                                 MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Ireduce_scatter_c(send, receive, counts, type,
                                                 op, comm, request);
    return aps_other_ireduce_scatter(send, receive, counts, true, type, op,
                                     comm, request);
}

EXPORT int MPI_Allgather_c(const void *send, MPI_Count send_count,
                           MPI_Datatype send_type, void *receive,
                           MPI_Count count, MPI_Datatype type, MPI_Comm comm)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Allgather_c(send, send_count, send_type, receive,
                                           count, type, comm);
    return aps_other_allgather(send, send_count, send_type, receive, count,
                               true, type, comm);
}

EXPORT int MPI_Iallgather_c(const void *send, MPI_Count send_count,
                            MPI_Datatype send_type, void *receive,
                            MPI_Count count, MPI_Datatype type, MPI_Comm comm,
                            MPI_Request *request)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Iallgather_c(
            send, send_count, send_type, receive, count, type, comm, request);
    return aps_other_iallgather(send, send_count, send_type, receive, count,
                                true, type, comm, request);
}

EXPORT int MPI_Reduce_c(const void *send, void *receive, MPI_Count count,
                        MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Reduce_c(send, receive, count, type, op, root,
                                        comm);
    return aps_other_reduce(send, receive, count, true, type, op, root, comm);
}

EXPORT int MPI_Ireduce_c(const void *send, void *receive, MPI_Count count,
                         MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                         MPI_Request *request)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Ireduce_c(send, receive, count, type, op, root,
                                         comm, request);
    return aps_other_ireduce(send, receive, count, true, type, op, root, comm,
                             request);
}

EXPORT int MPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype type,
                       int root, MPI_Comm comm)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Bcast_c(buffer, count, type, root, comm);
    return aps_other_bcast(buffer, count, true, type, root, comm);
}

EXPORT int MPI_Ibcast_c(void *buffer, MPI_Count count, MPI_Datatype type,
                        int root, MPI_Comm comm, MPI_Request *request)
{
    if (aps_job()->foreign)
        return aps_next_mpi()->Ibcast_c(buffer, count, type, root, comm,
                                        request);
    return aps_other_ibcast(buffer, count, true, type, root, comm, request);
}
#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The next MPI library: calls are passed on to the next library in the order of
 * preloading, so that a profiler there still sees them.
 *
 * The next library may be of another MPI than this library was built for
 * (foreign.h), if this library's handles are pointers: the registers that hold
 * them go on unchanged, and a callee that expects an int reads the low half of a
 * register, on every ABI that Linux has.
 */
#ifndef APS_PMPI_NATIVE_NEXT_MPI_H
#define APS_PMPI_NATIVE_NEXT_MPI_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct aps_next_mpi {
    int (*init)(int *argc, char ***argv);
    int (*init_thread)(int *argc, char ***argv, int required, int *provided);
    int (*pcontrol)(const int level, ...);
    int (*allreduce)(const void *send, void *receive, int count,
                     MPI_Datatype type, MPI_Op op, MPI_Comm comm);
    int (*iallreduce)(const void *send, void *receive, int count,
                      MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                      MPI_Request *request);
    int (*reduce_scatter_block)(const void *send, void *receive, int count,
                                MPI_Datatype type, MPI_Op op, MPI_Comm comm);
    int (*reduce_scatter)(const void *send, void *receive, const int counts[],
                          MPI_Datatype type, MPI_Op op, MPI_Comm comm);
    int (*allgather)(const void *send, int send_count, MPI_Datatype send_type,
                     void *receive, int count, MPI_Datatype type,
                     MPI_Comm comm);
    int (*reduce)(const void *send, void *receive, int count, MPI_Datatype type,
                  MPI_Op op, int root, MPI_Comm comm);
    int (*ireduce_scatter_block)(const void *send, void *receive, int count,
                                 MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                                 MPI_Request *request);
    int (*ireduce_scatter)(const void *send, void *receive, const int counts[],
                           MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                           MPI_Request *request);
    int (*iallgather)(const void *send, int send_count, MPI_Datatype send_type,
                      void *receive, int count, MPI_Datatype type,
                      MPI_Comm comm, MPI_Request *request);
    int (*ireduce)(const void *send, void *receive, int count,
                   MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                   MPI_Request *request);
    int (*bcast)(void *buffer, int count, MPI_Datatype type, int root,
                 MPI_Comm comm);
    int (*ibcast)(void *buffer, int count, MPI_Datatype type, int root,
                  MPI_Comm comm, MPI_Request *request);
    int (*start)(MPI_Request *request);
    int (*startall)(int count, MPI_Request requests[]);
    int (*request_free)(MPI_Request *request);
    /* NULL where this MPI has none */
    int (*allreduce_init)(const void *send, void *receive, int count,
                          MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                          MPI_Info info, MPI_Request *request);
    int (*allreduce_init_c)(const void *send, void *receive, MPI_Count count,
                            MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                            MPI_Info info, MPI_Request *request);
    int (*allreduce_c)(const void *send, void *receive, MPI_Count count,
                       MPI_Datatype type, MPI_Op op, MPI_Comm comm);
    int (*iallreduce_c)(const void *send, void *receive, MPI_Count count,
                        MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                        MPI_Request *request);
    int (*reduce_scatter_block_c)(const void *send, void *receive,
                                  MPI_Count count, MPI_Datatype type, MPI_Op op,
                                  MPI_Comm comm);
    int (*reduce_scatter_c)(const void *send, void *receive,
                            const MPI_Count counts[], MPI_Datatype type,
                            MPI_Op op, MPI_Comm comm);
    int (*allgather_c)(const void *send, MPI_Count send_count,
                       MPI_Datatype send_type, void *receive, MPI_Count count,
                       MPI_Datatype type, MPI_Comm comm);
    int (*reduce_c)(const void *send, void *receive, MPI_Count count,
                    MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);
    int (*ireduce_scatter_block_c)(const void *send, void *receive,
                                   MPI_Count count, MPI_Datatype type,
                                   MPI_Op op, MPI_Comm comm,
                                   MPI_Request *request);
    int (*ireduce_scatter_c)(const void *send, void *receive,
                             const MPI_Count counts[], MPI_Datatype type,
                             MPI_Op op, MPI_Comm comm, MPI_Request *request);
    int (*iallgather_c)(const void *send, MPI_Count send_count,
                        MPI_Datatype send_type, void *receive, MPI_Count count,
                        MPI_Datatype type, MPI_Comm comm, MPI_Request *request);
    int (*ireduce_c)(const void *send, void *receive, MPI_Count count,
                     MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                     MPI_Request *request);
    int (*bcast_c)(void *buffer, MPI_Count count, MPI_Datatype type, int root,
                   MPI_Comm comm);
    int (*ibcast_c)(void *buffer, MPI_Count count, MPI_Datatype type, int root,
                    MPI_Comm comm, MPI_Request *request);
};

/* Resolved on first use. Thread-safe. */
const struct aps_next_mpi *aps_next_mpi_resolve(void);
extern const struct aps_next_mpi *_Atomic aps_next_mpi_resolved; /* or NULL */

/* MPI's function `name` of all other libraries, looked up once and kept in
 * `*kept`; `function` is the address of a pointer to it. */
void aps_next_mpi_function(void *_Atomic *kept, const char *name,
                           void *function);

static inline const struct aps_next_mpi *aps_next_mpi(void)
{
    const struct aps_next_mpi *library =
        atomic_load_explicit(&aps_next_mpi_resolved, memory_order_acquire);

    return library ? library : aps_next_mpi_resolve();
}

/* MPI_Allreduce, or MPI_Allreduce_c if `large`. */
static inline int aps_next_mpi_allreduce(const struct aps_next_mpi *library,
                                         bool large, const void *send,
                                         void *receive, MPI_Count count,
                                         MPI_Datatype type, MPI_Op op,
                                         MPI_Comm comm)
{
    return large
               ? library->allreduce_c(send, receive, count, type, op, comm)
               : library->allreduce(send, receive, (int)count, type, op, comm);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The next MPI library: calls are passed on to the next library in the order of
 * preloading, so that a profiler there still sees them.
 *
 * The next library may be of another MPI than this library was built for, whose
 * handles are pointers where MPICH's are ints. Handles come in and go out as whole
 * registers here, which works in both cases, and this header knows nothing of
 * mpi.h. (A callee that expects an int looks at the low half of the
 * register, on every ABI that Linux has.)
 */
#ifndef APS_PMPI_NATIVE_NEXT_MPI_H
#define APS_PMPI_NATIVE_NEXT_MPI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef intptr_t aps_handle;

struct aps_next_mpi {
    int (*init)(int *argc, char ***argv);
    int (*init_thread)(int *argc, char ***argv, int required, int *provided);
    int (*pcontrol)(const int level, ...);
    int (*allreduce)(const void *send, void *receive, int count,
                     aps_handle type, aps_handle op, aps_handle comm);
    int (*iallreduce)(const void *send, void *receive, int count,
                      aps_handle type, aps_handle op, aps_handle comm,
                      void *request);
    int (*reduce_scatter_block)(const void *send, void *receive, int count,
                                aps_handle type, aps_handle op,
                                aps_handle comm);
    int (*reduce_scatter)(const void *send, void *receive, const int counts[],
                          aps_handle type, aps_handle op, aps_handle comm);
    int (*allgather)(const void *send, int send_count, aps_handle send_type,
                     void *receive, int count, aps_handle type,
                     aps_handle comm);
    int (*reduce)(const void *send, void *receive, int count, aps_handle type,
                  aps_handle op, int root, aps_handle comm);
    int (*ireduce_scatter_block)(const void *send, void *receive, int count,
                                 aps_handle type, aps_handle op,
                                 aps_handle comm, void *request);
    int (*ireduce_scatter)(const void *send, void *receive, const int counts[],
                           aps_handle type, aps_handle op, aps_handle comm,
                           void *request);
    int (*iallgather)(const void *send, int send_count, aps_handle send_type,
                      void *receive, int count, aps_handle type,
                      aps_handle comm, void *request);
    int (*ireduce)(const void *send, void *receive, int count, aps_handle type,
                   aps_handle op, int root, aps_handle comm, void *request);
    int (*bcast)(void *buffer, int count, aps_handle type, int root,
                 aps_handle comm);
    int (*ibcast)(void *buffer, int count, aps_handle type, int root,
                  aps_handle comm, void *request);
    int (*start)(void *request);
    int (*startall)(int count, void *requests);
    int (*request_free)(void *request);
    /* NULL where this MPI has none */
    int (*allreduce_init)(const void *send, void *receive, int count,
                          aps_handle type, aps_handle op, aps_handle comm,
                          aps_handle info, void *request);
    int (*allreduce_init_c)(const void *send, void *receive, int64_t count,
                            aps_handle type, aps_handle op, aps_handle comm,
                            aps_handle info, void *request);
    int (*allreduce_c)(const void *send, void *receive, int64_t count,
                       aps_handle type, aps_handle op, aps_handle comm);
    int (*iallreduce_c)(const void *send, void *receive, int64_t count,
                        aps_handle type, aps_handle op, aps_handle comm,
                        void *request);
    int (*reduce_scatter_block_c)(const void *send, void *receive,
                                  int64_t count, aps_handle type, aps_handle op,
                                  aps_handle comm);
    int (*reduce_scatter_c)(const void *send, void *receive,
                            const int64_t counts[], aps_handle type,
                            aps_handle op, aps_handle comm);
    int (*allgather_c)(const void *send, int64_t send_count,
                       aps_handle send_type, void *receive, int64_t count,
                       aps_handle type, aps_handle comm);
    int (*reduce_c)(const void *send, void *receive, int64_t count,
                    aps_handle type, aps_handle op, int root, aps_handle comm);
    int (*ireduce_scatter_block_c)(const void *send, void *receive,
                                   int64_t count, aps_handle type,
                                   aps_handle op, aps_handle comm,
                                   void *request);
    int (*ireduce_scatter_c)(const void *send, void *receive,
                             const int64_t counts[], aps_handle type,
                             aps_handle op, aps_handle comm, void *request);
    int (*iallgather_c)(const void *send, int64_t send_count,
                        aps_handle send_type, void *receive, int64_t count,
                        aps_handle type, aps_handle comm, void *request);
    int (*ireduce_c)(const void *send, void *receive, int64_t count,
                     aps_handle type, aps_handle op, int root, aps_handle comm,
                     void *request);
    int (*bcast_c)(void *buffer, int64_t count, aps_handle type, int root,
                   aps_handle comm);
    int (*ibcast_c)(void *buffer, int64_t count, aps_handle type, int root,
                    aps_handle comm, void *request);
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
                                         void *receive, int64_t count,
                                         aps_handle type, aps_handle op,
                                         aps_handle comm)
{
    return large
               ? library->allreduce_c(send, receive, count, type, op, comm)
               : library->allreduce(send, receive, (int)count, type, op, comm);
}

#endif

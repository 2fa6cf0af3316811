/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fortran's functions for Open MPI, whose Fortran bindings call the profiling
 * names of C, so that no library in front of it sees the calls. (MPICH's
 * bindings call MPI_Allreduce.) mpif.h and `use mpi` call mpi_allreduce_, `use
 * mpi_f08` calls mpi_allreduce_f08_; their arguments are the same.
 *
 * A call that passes through continues as a call of C, as it does in Open MPI.
 */
#include "config.h"

#include <mpi.h>

#include "call/collective.h"
#include "call/run.h"
#include "call/start.h"
#include "entry/export.h"
#include "job/job.h"
#include "job/thread_level.h"
#include "world/lifecycle.h"
#include "native/next_mpi.h"

typedef void blocking_fn(const void *send, void *receive, const MPI_Fint *count,
                         const MPI_Fint *type, const MPI_Fint *op,
                         const MPI_Fint *comm, MPI_Fint *error);
typedef void nonblocking_fn(const void *send, void *receive,
                            const MPI_Fint *count, const MPI_Fint *type,
                            const MPI_Fint *op, const MPI_Fint *comm,
                            MPI_Fint *request, MPI_Fint *error);

EXPORT blocking_fn mpi_allreduce_;
EXPORT blocking_fn mpi_allreduce_f08_;
EXPORT nonblocking_fn mpi_iallreduce_;
EXPORT nonblocking_fn mpi_iallreduce_f08_;

/* The addresses of Fortran's MPI_IN_PLACE and MPI_BOTTOM identify them. */
static void *entry_fortran_buffer_of(const void *buffer)
{
    if (buffer && buffer == aps_to_mpi_fortran_in_place_)
        return MPI_IN_PLACE;
    if (buffer && buffer == aps_to_mpi_fortran_bottom_)
        return MPI_BOTTOM;
    return (void *)buffer;
}

/* Stores the error code, unless the program of mpi_f08 has left the error
 * out. */
static void entry_fortran_give(MPI_Fint *error, int rc)
{
    if (error)
        *error = (MPI_Fint)rc;
}

static struct aps_call_arguments
entry_fortran_arguments(enum aps_form form, const void *send,
                        const void *receive, const MPI_Fint *count,
                        const MPI_Fint *type, const MPI_Fint *op,
                        const MPI_Fint *comm)
{
    return (struct aps_call_arguments){
        .collective = &aps_collective_allreduce,
        .form = form,
        .send = entry_fortran_buffer_of(send),
        .receive = entry_fortran_buffer_of(receive),
        .count = *count,
        .type = PMPI_Type_f2c(*type),
        .op = PMPI_Op_f2c(*op),
        .comm = PMPI_Comm_f2c(*comm),
    };
}

static void entry_fortran_allreduce(void *_Atomic *kept, const char *name,
                                    const void *send, void *receive,
                                    const MPI_Fint *count, const MPI_Fint *type,
                                    const MPI_Fint *op, const MPI_Fint *comm,
                                    MPI_Fint *error)
{
    struct aps_call_arguments arguments;
    blocking_fn *next;

    if (aps_job()->foreign) {
        aps_next_mpi_function(kept, name, &next);
        next(send, receive, count, type, op, comm, error);
        return;
    }
    arguments = entry_fortran_arguments(APS_BLOCKING, send, receive, count,
                                        type, op, comm);
    entry_fortran_give(error, aps_call_run(&arguments));
}

void mpi_allreduce_(const void *send, void *receive, const MPI_Fint *count,
                    const MPI_Fint *type, const MPI_Fint *op,
                    const MPI_Fint *comm, MPI_Fint *error)
{
    static void *_Atomic next;

    entry_fortran_allreduce(&next, "mpi_allreduce_", send, receive, count, type,
                            op, comm, error);
}

void mpi_allreduce_f08_(const void *send, void *receive, const MPI_Fint *count,
                        const MPI_Fint *type, const MPI_Fint *op,
                        const MPI_Fint *comm, MPI_Fint *error)
{
    static void *_Atomic next;

    entry_fortran_allreduce(&next, "mpi_allreduce_f08_", send, receive, count,
                            type, op, comm, error);
}

static void entry_fortran_iallreduce(void *_Atomic *kept, const char *name,
                                     const void *send, void *receive,
                                     const MPI_Fint *count,
                                     const MPI_Fint *type, const MPI_Fint *op,
                                     const MPI_Fint *comm, MPI_Fint *request,
                                     MPI_Fint *error)
{
    struct aps_call_arguments arguments;
    nonblocking_fn *next;
    MPI_Request handle = MPI_REQUEST_NULL;
    int rc;

    if (aps_job()->foreign) {
        aps_next_mpi_function(kept, name, &next);
        next(send, receive, count, type, op, comm, request, error);
        return;
    }
    arguments = entry_fortran_arguments(APS_NONBLOCKING, send, receive, count,
                                        type, op, comm);
    rc = aps_call_start(&arguments, &handle);
    *request = PMPI_Request_c2f(handle);
    entry_fortran_give(error, rc);
}

void mpi_iallreduce_(const void *send, void *receive, const MPI_Fint *count,
                     const MPI_Fint *type, const MPI_Fint *op,
                     const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *error)
{
    static void *_Atomic next;

    entry_fortran_iallreduce(&next, "mpi_iallreduce_", send, receive, count,
                             type, op, comm, request, error);
}

void mpi_iallreduce_f08_(const void *send, void *receive, const MPI_Fint *count,
                         const MPI_Fint *type, const MPI_Fint *op,
                         const MPI_Fint *comm, MPI_Fint *request,
                         MPI_Fint *error)
{
    static void *_Atomic next;

    entry_fortran_iallreduce(&next, "mpi_iallreduce_f08_", send, receive, count,
                             type, op, comm, request, error);
}

/* --- the beginning and the end -------------------------------------------- */

/* Defines mpi_init<suffix>, mpi_init_thread<suffix>, mpi_query_thread<suffix>
 * and mpi_finalize<suffix>. */
#define BEGIN_AND_END(suffix)                                                  \
    EXPORT void mpi_init##suffix(MPI_Fint *error);                             \
    EXPORT void mpi_init_thread##suffix(MPI_Fint *required,                    \
                                        MPI_Fint *provided, MPI_Fint *error);  \
    EXPORT void mpi_finalize##suffix(MPI_Fint *error);                         \
    EXPORT void mpi_query_thread##suffix(MPI_Fint *provided, MPI_Fint *error); \
    static void entry_fortran_init##suffix(int required, MPI_Fint *provided,   \
                                           MPI_Fint *error)                    \
    {                                                                          \
        static void *_Atomic kept;                                             \
        MPI_Fint level = aps_thread_level_raise(required);                     \
        void (*next)(MPI_Fint *, MPI_Fint *, MPI_Fint *);                      \
                                                                               \
        aps_next_mpi_function(&kept, "mpi_init_thread" #suffix, &next);        \
        next(&level, provided, error);                                         \
        aps_lifecycle_begin(required);                                         \
        if (aps_job()->begun)                                                  \
            *provided = aps_thread_level_shown(*provided);                     \
    }                                                                          \
    void mpi_query_thread##suffix(MPI_Fint *provided, MPI_Fint *error)         \
    {                                                                          \
        static void *_Atomic kept;                                             \
        void (*next)(MPI_Fint *, MPI_Fint *);                                  \
                                                                               \
        aps_next_mpi_function(&kept, "mpi_query_thread" #suffix, &next);       \
        next(provided, error);                                                 \
        if (aps_job()->begun)                                                  \
            *provided = aps_thread_level_shown(*provided);                     \
    }                                                                          \
    void mpi_init##suffix(MPI_Fint *error)                                     \
    {                                                                          \
        MPI_Fint provided;                                                     \
                                                                               \
        entry_fortran_init##suffix(MPI_THREAD_SINGLE, &provided, error);       \
    }                                                                          \
    void mpi_init_thread##suffix(MPI_Fint *required, MPI_Fint *provided,       \
                                 MPI_Fint *error)                              \
    {                                                                          \
        entry_fortran_init##suffix(*required, provided, error);                \
    }                                                                          \
    void mpi_finalize##suffix(MPI_Fint *error)                                 \
    {                                                                          \
        static void *_Atomic kept;                                             \
        void (*next)(MPI_Fint *);                                              \
                                                                               \
        aps_next_mpi_function(&kept, "mpi_finalize" #suffix, &next);           \
        aps_lifecycle_finish();                                                \
        next(error);                                                           \
    }

BEGIN_AND_END(_)
BEGIN_AND_END(_f08_)

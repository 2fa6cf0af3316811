/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fortran's functions, for an MPI whose Fortran bindings call the profiling
 * names of C, where no library in front of it sees them: Open MPI. (MPICH's call
 * MPI_Allreduce.) mpif.h and `use mpi` come by mpi_allreduce_, `use mpi_f08` by
 * mpi_allreduce_f08_; their arguments are the same.
 *
 * What passes through goes on as a call of C, as it does in Open MPI.
 */
#include "config.h"

#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "allreduce.h"
#include "job.h"

#define EXPORT __attribute__((visibility("default")))

typedef void allreduce_fn(const void *send, void *receive,
                          const MPI_Fint *count, const MPI_Fint *type,
                          const MPI_Fint *op, const MPI_Fint *comm,
                          MPI_Fint *error);

EXPORT allreduce_fn mpi_allreduce_;
EXPORT allreduce_fn mpi_allreduce_f08_;

/* Fortran's MPI_IN_PLACE and MPI_BOTTOM are known by where they lie. */
extern MPI_Fint mpi_fortran_in_place_ __attribute__((weak));
extern MPI_Fint mpi_fortran_bottom_ __attribute__((weak));

static const void *buffer_of(const void *buffer)
{
    if (buffer && buffer == &mpi_fortran_in_place_)
        return MPI_IN_PLACE;
    if (buffer && buffer == &mpi_fortran_bottom_)
        return MPI_BOTTOM;
    return buffer;
}

static allreduce_fn *next_allreduce;
static allreduce_fn *next_allreduce_f08;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Pointers to functions and to data do not mix in C: copy. */
static void resolve(void)
{
    void *symbol = dlsym(RTLD_NEXT, "mpi_allreduce_");

    memcpy(&next_allreduce, &symbol, sizeof symbol);
    symbol = dlsym(RTLD_NEXT, "mpi_allreduce_f08_");
    memcpy(&next_allreduce_f08, &symbol, sizeof symbol);
}

static void allreduce(allreduce_fn **next, const void *send, void *receive,
                      const MPI_Fint *count, const MPI_Fint *type,
                      const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *error)
{
    int rc;

    if (aps_job()->foreign) {
        pthread_once(&once, resolve);
        (*next)(send, receive, count, type, op, comm, error);
        return;
    }
    rc = aps_allreduce(buffer_of(send), (void *)buffer_of(receive), *count,
                       false, (aps_handle)PMPI_Type_f2c(*type),
                       (aps_handle)PMPI_Op_f2c(*op),
                       (aps_handle)PMPI_Comm_f2c(*comm));
    /* mpi_f08 leaves it out where the program does. */
    if (error)
        *error = rc;
}

void mpi_allreduce_(const void *send, void *receive, const MPI_Fint *count,
                    const MPI_Fint *type, const MPI_Fint *op,
                    const MPI_Fint *comm, MPI_Fint *error)
{
    allreduce(&next_allreduce, send, receive, count, type, op, comm, error);
}

void mpi_allreduce_f08_(const void *send, void *receive, const MPI_Fint *count,
                        const MPI_Fint *type, const MPI_Fint *op,
                        const MPI_Fint *comm, MPI_Fint *error)
{
    allreduce(&next_allreduce_f08, send, receive, count, type, op, comm, error);
}

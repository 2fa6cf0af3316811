/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Next MPI library: the library passes calls on to the next library in the
 * order of preloading, so that a profiler there still sees them.
 *
 * If the handles of this library are pointers, the next library may be another
 * MPI (foreign.h). The registers that hold handles are passed on unchanged, and
 * a callee that expects an int reads the low half of a register, on every ABI
 * that Linux has.
 */
#ifndef APS_PMPI_NATIVE_NEXT_MPI_H
#define APS_PMPI_NATIVE_NEXT_MPI_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Functions of MPI that the library looks up on first use, without MPI_. A
 * SIZED one has its large-count variant, too, if MPI has such variants. */
#ifdef HAVE_PMPI_ALLREDUCE_C
#define APS_NEXT_SIZED(FUNCTION, name) FUNCTION(name) FUNCTION(name##_c)
#else
#define APS_NEXT_SIZED(FUNCTION, name) FUNCTION(name)
#endif
#ifdef HAVE_PMPI_ALLREDUCE_INIT
#define APS_NEXT_PERSISTENT(FUNCTION) APS_NEXT_SIZED(FUNCTION, Allreduce_init)
#else
#define APS_NEXT_PERSISTENT(FUNCTION)
#endif
#ifdef HAVE_PMPI_SESSION_INIT
#define APS_NEXT_SESSION(FUNCTION)                                             \
    FUNCTION(Session_init) FUNCTION(Session_finalize)
#else
#define APS_NEXT_SESSION(FUNCTION)
#endif
#define APS_NEXT_MPI(FUNCTION)                                                 \
    FUNCTION(Init)                                                             \
    FUNCTION(Init_thread)                                                      \
    FUNCTION(Query_thread)                                                     \
    FUNCTION(Finalize)                                                         \
    FUNCTION(Pcontrol)                                                         \
    FUNCTION(Start)                                                            \
    FUNCTION(Startall)                                                         \
    FUNCTION(Request_free)                                                     \
    APS_NEXT_SIZED(FUNCTION, Allreduce)                                        \
    APS_NEXT_SIZED(FUNCTION, Iallreduce)                                       \
    APS_NEXT_SIZED(FUNCTION, Reduce_scatter_block)                             \
    APS_NEXT_SIZED(FUNCTION, Ireduce_scatter_block)                            \
    APS_NEXT_SIZED(FUNCTION, Reduce_scatter)                                   \
    APS_NEXT_SIZED(FUNCTION, Ireduce_scatter)                                  \
    APS_NEXT_SIZED(FUNCTION, Allgather)                                        \
    APS_NEXT_SIZED(FUNCTION, Iallgather)                                       \
    APS_NEXT_SIZED(FUNCTION, Reduce)                                           \
    APS_NEXT_SIZED(FUNCTION, Ireduce)                                          \
    APS_NEXT_SIZED(FUNCTION, Bcast)                                            \
    APS_NEXT_SIZED(FUNCTION, Ibcast)                                           \
    APS_NEXT_PERSISTENT(FUNCTION)                                              \
    APS_NEXT_SESSION(FUNCTION)

struct aps_next_mpi {
#define APS_NEXT_MEMBER(name) __typeof__(&PMPI_##name) name;
    APS_NEXT_MPI(APS_NEXT_MEMBER)
#undef APS_NEXT_MEMBER
};

/* Returns the functions, which the first call looks up. Thread-safe. */
const struct aps_next_mpi *aps_next_mpi_resolve(void);
/* NULL before the first use. */
extern const struct aps_next_mpi *_Atomic aps_next_mpi_resolved;

/* Finds the next definition of MPI's function `name`, for functions that are
 * not in APS_NEXT_MPI. It is looked up once and kept in `*kept`. `function`:
 * address of a pointer to the function. */
void aps_next_mpi_function(void *_Atomic *kept, const char *name,
                           void *function);

static inline const struct aps_next_mpi *aps_next_mpi(void)
{
    const struct aps_next_mpi *library =
        atomic_load_explicit(&aps_next_mpi_resolved, memory_order_acquire);

    return library ? library : aps_next_mpi_resolve();
}

/* Calls MPI_<name> of the next library, or MPI_<name>_c if `large`, which is
 * false for all calls if MPI has no large-count variants. */
#ifdef HAVE_PMPI_ALLREDUCE_C
#define APS_NEXT_CALL(large, name, ...)                                        \
    ((large) ? aps_next_mpi()->name##_c(__VA_ARGS__)                           \
             : aps_next_mpi()->name(__VA_ARGS__))
#else
#define APS_NEXT_CALL(large, name, ...)                                        \
    ((void)(large), aps_next_mpi()->name(__VA_ARGS__))
#endif

#endif

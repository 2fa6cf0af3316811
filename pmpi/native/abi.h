/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Differences between the ABIs that the library can be built for: MPICH and its
 * relatives, whose handles are ints, Open MPI, whose handles are pointers, and
 * the MPI standard, whose handles are pointers with small values if they are
 * predefined.
 */
#ifndef APS_PMPI_NATIVE_ABI_H
#define APS_PMPI_NATIVE_ABI_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Name of the ABI that the library was built for. */
#define APS_ABI_STANDARD "the MPI standard's ABI"
#if defined(APS_MPI_MPICH)
#define APS_ABI_NAME "MPICH"
#elif defined(APS_MPI_OPENMPI)
#define APS_ABI_NAME "Open MPI"
#else
#define APS_ABI_NAME APS_ABI_STANDARD
#endif

/* Size of a buffer for MPI_Get_library_version of any MPI, in bytes: MPICH
 * needs 8192, although the mpi.h of Open MPI asks for 256. */
#define APS_ABI_VERSION_MAX 16384

/* Greatest value of a predefined handle in the standard's ABI. */
#define APS_ABI_PREDEFINED_MAX 4095

#ifdef APS_MPI_MPICH
/* True if two handles are of objects of one kind, and if both are built in or both
 * are not. */
static inline bool aps_abi_is_of_kind(unsigned handle, unsigned known)
{
    return ((handle ^ known) & 0xfu << 26) == 0;
}
static inline bool aps_abi_is_stored_like(unsigned handle, unsigned known)
{
    return ((handle ^ known) & 3u << 30) == 0;
}
#endif

/*
 * True if `comm` is a communicator handle, as far as the ABI shows. Check it
 * before reading an attribute: with an invalid handle MPI would call the
 * program's error handler for a call that the program did not make. MPICH's
 * handles have the kind of their object in four bits, and a flag for built-in
 * objects above them. The standard's predefined handles are less than 4096. An
 * invalid handle of Open MPI is certain only if the pointer is null.
 */
static inline bool aps_abi_is_communicator(MPI_Comm comm)
{
#ifdef APS_MPI_MPICH
    return comm != MPI_COMM_NULL &&
           aps_abi_is_of_kind((unsigned)comm, (unsigned)MPI_COMM_WORLD);
#elif defined(APS_MPI_ABI)
    return comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF ||
           (uintptr_t)comm > APS_ABI_PREDEFINED_MAX;
#else
    return comm && comm != MPI_COMM_NULL;
#endif
}

/* True if `type` is, or may be, the handle of a datatype that is not built in,
 * as far as the ABI shows. */
static inline bool aps_abi_may_be_derived(MPI_Datatype type)
{
#ifdef APS_MPI_MPICH
    return type != MPI_DATATYPE_NULL &&
           aps_abi_is_of_kind((unsigned)type, (unsigned)MPI_FLOAT) &&
           !aps_abi_is_stored_like((unsigned)type, (unsigned)MPI_FLOAT);
#elif defined(APS_MPI_ABI)
    return (uintptr_t)type > APS_ABI_PREDEFINED_MAX;
#else
    return type && type != MPI_DATATYPE_NULL;
#endif
}

/* True if `op` is the handle of an operation that the program has made, as far as the
 * ABI shows. */
static inline bool aps_abi_is_own_op(MPI_Op op)
{
#ifdef APS_MPI_MPICH
    return op != MPI_OP_NULL &&
           aps_abi_is_of_kind((unsigned)op, (unsigned)MPI_SUM) &&
           !aps_abi_is_stored_like((unsigned)op, (unsigned)MPI_SUM);
#else
    const MPI_Op predefined[] = {MPI_OP_NULL, MPI_SUM,     MPI_MAX,  MPI_MIN,
                                 MPI_PROD,    MPI_LAND,    MPI_BAND, MPI_LOR,
                                 MPI_BOR,     MPI_LXOR,    MPI_BXOR, MPI_MAXLOC,
                                 MPI_MINLOC,  MPI_REPLACE, MPI_NO_OP};

    for (int i = 0; i < (int)(sizeof predefined / sizeof *predefined); i++) {
        if (op == predefined[i])
            return false;
    }
    return op;
#endif
}

/* True if `type` is, or may be, the handle of a predefined datatype. */
static inline bool aps_abi_may_be_predefined(MPI_Datatype type)
{
#ifdef APS_MPI_MPICH
    return type != MPI_DATATYPE_NULL &&
           aps_abi_is_of_kind((unsigned)type, (unsigned)MPI_FLOAT) &&
           aps_abi_is_stored_like((unsigned)type, (unsigned)MPI_FLOAT);
#else
    return type && type != MPI_DATATYPE_NULL;
#endif
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What differs between the MPIs that the library can be built for: MPICH and
 * its relatives, whose handles are ints, and Open MPI, whose handles are
 * pointers.
 */
#ifndef APS_PMPI_NATIVE_ABI_H
#define APS_PMPI_NATIVE_ABI_H

#include <mpi.h>
#include <stdbool.h>

/* The MPI that this library was built for: "MPICH", "Open MPI". */
extern const char aps_abi_name[];

/* Room for what MPI_Get_library_version of any MPI has to say: MPICH's wants
 * 8192 bytes where Open MPI's mpi.h asks for 256. */
#define APS_ABI_VERSION_MAX 16384

/* Is the MPI of that version, as MPI_Get_library_version words it, one with the
 * ABI that this library was built for? */
bool aps_abi_is_ours(const char *library_version);

/*
 * Is it a communicator's handle? To look at an attribute of what is none would
 * call the error handler a first time, for a call that the program did not
 * make. As far as the ABI lets one tell: MPICH's handles carry the kind of
 * their object in four bits, and whether it is built in above them; of Open
 * MPI's pointers only null ones are wrong for sure.
 */
static inline bool aps_abi_is_communicator(MPI_Comm comm)
{
#ifdef APS_MPI_MPICH
    const unsigned kind = 0xfu << 26;

    return comm != MPI_COMM_NULL &&
           ((unsigned)comm & kind) == ((unsigned)MPI_COMM_WORLD & kind);
#else
    return comm && comm != MPI_COMM_NULL;
#endif
}

/* In the same way: is it, or may it be, the handle of a datatype that is not built
 * in? */
static inline bool aps_abi_may_be_derived(MPI_Datatype type)
{
#ifdef APS_MPI_MPICH
    const unsigned kind = 0xfu << 26, storage = 3u << 30;
    const unsigned known = (unsigned)MPI_FLOAT, asked = (unsigned)type;

    return type != MPI_DATATYPE_NULL && (asked & kind) == (known & kind) &&
           (asked & storage) != (known & storage);
#else
    return type && type != MPI_DATATYPE_NULL;
#endif
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "collective/derived.h"

#include <stdint.h>

#include "call/call.h"
#include "native/sized.h"

bool aps_derived_is_missing(const struct aps_job *job, const void *buffer,
                            MPI_Datatype type)
{
    MPI_Count first = 0, length;

    return !buffer &&
           (aps_call_takes_type(job, type) ||
            PMPI_Type_get_true_extent_x(type, &first, &length) != MPI_SUCCESS ||
            first == 0);
}

/* MPI_Pack of MPICH (4.0.2) does not take MPI_BOTTOM, so the buffer then begins
 * at the first element. */
int aps_derived_hold(const void **buffer, MPI_Datatype *type)
{
    MPI_Aint first, length, back;
    MPI_Datatype held;
    int rc;

    if (*buffer)
        return PMPI_Type_dup(*type, type);
    rc = PMPI_Type_get_true_extent(*type, &first, &length);
    if (rc != MPI_SUCCESS)
        return rc;
    back = -first;
    rc = PMPI_Type_create_hindexed(1, &(int){1}, &back, *type, &held);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = PMPI_Type_commit(&held);
    if (rc != MPI_SUCCESS) {
        PMPI_Type_free(&held);
        return rc;
    }
    *buffer = (const void *)(uintptr_t)first;
    *type = held;
    return rc;
}

int aps_derived_pack(const void *from, MPI_Count count, MPI_Datatype type,
                     unsigned char *packed, size_t size, MPI_Comm comm)
{
    aps_sized place = 0;

    return APS_SIZED(Pack)(from, (aps_sized)(count), type, packed,
                           (aps_sized)(size), &place, comm);
}

int aps_derived_unpack(const unsigned char *packed, size_t size, void *to,
                       MPI_Count count, MPI_Datatype type, MPI_Comm comm)
{
    aps_sized place = 0;

    return APS_SIZED(Unpack)(packed, (aps_sized)(size), &place, to,
                             (aps_sized)(count), type, comm);
}

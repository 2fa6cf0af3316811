/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/exponent.h"

#include "progress/agree.h"
#include "scale/scale.h"
#include "progress/wait.h"

int aps_exponent_agree(MPI_Comm comm, const struct aps_wire *wire,
                       const float *x, size_t n, int *exponent)
{
    float max;

    *exponent = 0;
    if (wire->scale != APS_SCALE_APS)
        return MPI_SUCCESS;
    max = aps_block_magnitude(wire, wire->memory, x, n).max;
    return aps_exponent_agree_all(comm, wire, 1, &max, exponent);
}

int aps_exponent_agree_all(MPI_Comm comm, const struct aps_wire *wire,
                           int count, const float max[], int exponents[])
{
    int ranks, rc;

    for (int i = 0; i < count; i++)
        exponents[i] = 0;
    if (wire->scale != APS_SCALE_APS)
        return MPI_SUCCESS;
    PMPI_Comm_size(comm, &ranks);
    for (int i = 0; i < count; i++)
        exponents[i] = aps_scale_max_exponent(max[i], ranks);
    rc = aps_agree_max(comm, count, exponents);
    for (int i = 0; i < count; i++)
        exponents[i] = aps_scale_aps(&wire->codec.format, exponents[i]);
    return rc;
}

int aps_exponent_begin(MPI_Comm comm, const struct aps_wire *wire, float max,
                       int *greatest, MPI_Request *request)
{
    int ranks;

    *request = MPI_REQUEST_NULL;
    if (wire->scale != APS_SCALE_APS)
        return MPI_SUCCESS;
    PMPI_Comm_size(comm, &ranks);
    *greatest = aps_scale_max_exponent(max, ranks);
    return PMPI_Iallreduce(MPI_IN_PLACE, greatest, 1, MPI_INT, MPI_MAX, comm,
                           request);
}

int aps_exponent_end(const struct aps_wire *wire, const int *greatest,
                     MPI_Request *request, int *exponent)
{
    int rc;

    *exponent = 0;
    if (*request == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    rc = aps_wait_requests(1, request);
    *exponent = aps_scale_aps(&wire->codec.format, *greatest);
    return rc;
}

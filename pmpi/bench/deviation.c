/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "bench/deviation.h"

#include <math.h>

double aps_bench_deviation(const float *reference, const float *sum,
                           const struct aps_bench_piece *pieces, int count)
{
    double difference = 0, size = 0, error;

    for (int p = 0; p < count; p++)
        for (size_t i = 0; i < pieces[p].count; i++) {
            const double x = reference[pieces[p].offset + i];
            const double y = sum[pieces[p].offset + i];

            difference += (x - y) * (x - y);
            size += x * x;
        }
    error = sqrt(difference / size);
    if (isnan(error)) /* MAX of NaN is undefined */
        error = INFINITY;
    PMPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX,
                   MPI_COMM_WORLD);
    return error;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PowerSGD (Vogels, Karimireddy, Jaggi: PowerSGD: Practical Low-Rank Gradient
 * Compression for Distributed Optimization, NeurIPS 2019): two factors of a low
 * rank travel in place of a matrix.
 */
#include "config.h"

#include <stdio.h>

#include "compress/compressor.h"

static size_t powersgd_rank(const struct aps_compressor *compressor,
                            const struct aps_matrix *matrix)
{
    const size_t least =
        matrix->rows < matrix->columns ? matrix->rows : matrix->columns;
    const size_t rank = (size_t)compressor->parameters[APS_POWERSGD_RANK];

    return rank < least ? rank : least;
}

static size_t powersgd_floats(const struct aps_compressor *compressor,
                              const struct aps_matrix *matrix)
{
    return (matrix->rows + matrix->columns) * powersgd_rank(compressor, matrix);
}

static bool powersgd_takes(const struct aps_compressor *compressor,
                           const struct aps_matrix *matrix)
{
    return (double)powersgd_floats(compressor, matrix) *
               compressor->parameters[APS_POWERSGD_MIN_RATIO] <
           (double)matrix->count;
}

static bool powersgd_keeps(const struct aps_compressor *compressor)
{
    return compressor->parameters[APS_POWERSGD_WARM] != 0;
}

static void powersgd_describe(const struct aps_compressor *compressor,
                              char *buffer, size_t size)
{
    snprintf(buffer, size, "powersgd rank %.0f",
             compressor->parameters[APS_POWERSGD_RANK]);
}

const struct aps_compressor_ops aps_compressor_ops_powersgd = {
    .takes = powersgd_takes,
    .floats = powersgd_floats,
    .keeps = powersgd_keeps,
    .feedback = true,
    .describe = powersgd_describe,
};

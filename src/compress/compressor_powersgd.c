/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PowerSGD (Vogels, Karimireddy, Jaggi: PowerSGD: Practical Low-Rank Gradient
 * Compression for Distributed Optimization, NeurIPS 2019): two factors of a low
 * rank travel in place of a matrix, or of a matrix of its largest elements alone
 * (Agarwal et al.'s second way to join both).
 */
#include "config.h"

#include <stdio.h>

#include "compress/compressor.h"
#include "compress/lowrank.h"
#include "compress/select.h"

static size_t powersgd_rank(const struct aps_compressor *compressor,
                            const struct aps_matrix *matrix)
{
    return aps_lowrank_rank(matrix,
                            (size_t)compressor->parameters[APS_POWERSGD_RANK]);
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

static uint64_t powersgd_seed(const struct aps_compressor *compressor)
{
    return (uint64_t)compressor->parameters[APS_POWERSGD_SEED];
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
    .seed = powersgd_seed,
    .keeps = powersgd_keeps,
    .feedback = true,
    .describe = powersgd_describe,
};

/* --- of the largest elements ---------------------------------------------- */

static size_t masked_most(const struct aps_compressor *compressor, size_t count)
{
    return aps_select_count(compressor->parameters[APS_MSTOPK_POWERSGD_DENSITY],
                            count);
}

static bool masked_takes(const struct aps_compressor *compressor,
                         const struct aps_matrix *matrix)
{
    /* Indices have 32 bits. */
    return matrix->count < UINT32_MAX && powersgd_takes(compressor, matrix);
}

static void masked_describe(const struct aps_compressor *compressor,
                            char *buffer, size_t size)
{
    snprintf(buffer, size, "mstopk %g + powersgd rank %.0f",
             compressor->parameters[APS_MSTOPK_POWERSGD_DENSITY],
             compressor->parameters[APS_POWERSGD_RANK]);
}

const struct aps_compressor_ops aps_compressor_ops_mstopk_powersgd = {
    .takes = masked_takes,
    .floats = powersgd_floats,
    .most = masked_most,
    .select = aps_compressor_select_mstopk,
    .seed = powersgd_seed,
    .keeps = powersgd_keeps,
    .feedback = true,
    .describe = masked_describe,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compressors that send some of a layer's elements: MSTopK, the k largest, and
 * those of a magnitude (select.h). Also PowerSGD (Vogels, Karimireddy, Jaggi:
 * PowerSGD: Practical Low-Rank Gradient Compression for Distributed
 * Optimization, NeurIPS 2019): sends two factors of a low rank instead of a
 * matrix, or instead of a matrix of the elements that MSTopK selects (Agarwal
 * et al.'s second way to combine both).
 */
#include "config.h"

#include <stdio.h>

#include "base/print.h"
#include "compress/compressor.h"
#include "compress/lowrank.h"
#include "compress/select.h"

static size_t selecting_most(const struct aps_compressor *compressor,
                             size_t count)
{
    return aps_select_count(compressor->parameters[APS_SELECTING_DENSITY],
                            count);
}

static size_t mstopk_select(const struct aps_compressor *compressor,
                            const struct aps_bracket *bracket, size_t k,
                            const struct aps_cast_options *draw,
                            uint32_t *indices)
{
    struct aps_selection selection;

    (void)compressor;
    aps_select_mstopk(bracket, k, draw, indices, &selection);
    return selection.count;
}

static size_t topk_select(const struct aps_compressor *compressor,
                          const struct aps_bracket *bracket, size_t k,
                          const struct aps_cast_options *draw,
                          uint32_t *indices)
{
    (void)compressor;
    (void)draw;
    return aps_select_topk(bracket, k, indices);
}

static size_t threshold_select(const struct aps_compressor *compressor,
                               const struct aps_bracket *bracket, size_t k,
                               const struct aps_cast_options *draw,
                               uint32_t *indices)
{
    (void)draw;
    return aps_select_threshold(
        bracket, (float)compressor->parameters[APS_THRESHOLD_VALUE], k,
        indices);
}

const struct aps_compressor_ops aps_compressor_ops_mstopk = {
    .most = selecting_most,
    .select = mstopk_select,
    .seed = APS_MSTOPK_SEED,
    .feedback = true,
};

const struct aps_compressor_ops aps_compressor_ops_topk = {
    .most = selecting_most,
    .select = topk_select,
    .feedback = true,
};

const struct aps_compressor_ops aps_compressor_ops_threshold = {
    .most = selecting_most,
    .select = threshold_select,
    .varies = true,
    .feedback = true,
    .described = APS_THRESHOLD_VALUE,
};

/* --- PowerSGD ------------------------------------------------------------- */

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

static void powersgd_describe(const struct aps_compressor *compressor,
                              char *buffer, size_t size)
{
    aps_print(buffer, size, "powersgd rank %.0f",
              compressor->parameters[APS_POWERSGD_RANK]);
}

const struct aps_compressor_ops aps_compressor_ops_powersgd = {
    .takes = powersgd_takes,
    .floats = powersgd_floats,
    .seed = APS_POWERSGD_SEED,
    .keeps = APS_POWERSGD_WARM,
    .feedback = true,
    .describe = powersgd_describe,
};

/* --- PowerSGD of the elements that MSTopK selects -------------------------- */

static size_t masked_most(const struct aps_compressor *compressor, size_t count)
{
    return aps_select_count(compressor->parameters[APS_MSTOPK_POWERSGD_DENSITY],
                            count);
}

static void masked_describe(const struct aps_compressor *compressor,
                            char *buffer, size_t size)
{
    aps_print(buffer, size, "mstopk %g + powersgd rank %.0f",
              compressor->parameters[APS_MSTOPK_POWERSGD_DENSITY],
              compressor->parameters[APS_POWERSGD_RANK]);
}

const struct aps_compressor_ops aps_compressor_ops_mstopk_powersgd = {
    .takes = powersgd_takes,
    .floats = powersgd_floats,
    .most = masked_most,
    .select = mstopk_select,
    .seed = APS_POWERSGD_SEED,
    .keeps = APS_POWERSGD_WARM,
    .feedback = true,
    .describe = masked_describe,
};

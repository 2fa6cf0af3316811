/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compress/lowrank.h"

#include <float.h>

#include "base/fpenv.h"
#include "codec/codec.h"
#include "compress/lowrank_products.h"

size_t aps_lowrank_rank(const struct aps_matrix *matrix, size_t rank)
{
    const size_t side =
        matrix->rows < matrix->columns ? matrix->rows : matrix->columns;

    return rank < side ? rank : side;
}

static const struct aps_lowrank_products *lowrank_products(void)
{
    return aps_lowrank_products(aps_cpu_chosen());
}

void aps_lowrank_left_feedback(const struct aps_matrix *matrix, size_t rank,
                               const float *g, const float *e, float *delta,
                               const float *q, float *p)
{
    fenv_t saved;

    aps_fpenv_enter(&saved);
    lowrank_products()->left(matrix, rank, g, e, delta, q, p);
    aps_fpenv_leave(&saved);
}

void aps_lowrank_left(const struct aps_matrix *matrix, size_t rank,
                      const float *m, const float *q, float *p)
{
    aps_lowrank_left_feedback(matrix, rank, m, NULL, NULL, q, p);
}

void aps_lowrank_right(const struct aps_matrix *matrix, size_t rank,
                       const float *m, const float *p, float *q)
{
    fenv_t saved;

    aps_fpenv_enter(&saved);
    lowrank_products()->right(matrix, rank, m, p, q);
    aps_fpenv_leave(&saved);
}

bool aps_lowrank_is_restorable(const struct aps_matrix *matrix, size_t rank,
                               const float *q)
{
    const struct aps_magnitude greatest =
        aps_magnitude_of(q, matrix->columns * rank);

    return greatest.finite && greatest.max <= FLT_MAX / (2 * (float)rank);
}

void aps_lowrank_restore_feedback(const struct aps_matrix *matrix, size_t rank,
                                  const float *p, const float *q, float share,
                                  const float *delta, float *out,
                                  float *residual)
{
    fenv_t saved;

    aps_fpenv_enter(&saved);
    lowrank_products()->restore(matrix, rank, p, q, share, delta, out,
                                residual);
    aps_fpenv_leave(&saved);
}

void aps_lowrank_restore(const struct aps_matrix *matrix, size_t rank,
                         const float *p, const float *q, float *out)
{
    aps_lowrank_restore_feedback(matrix, rank, p, q, 0, NULL, out, NULL);
}

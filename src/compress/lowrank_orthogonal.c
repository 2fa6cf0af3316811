/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/cpu.h"
#include "base/fpenv.h"
#include "blockwise/lanes.h"
#include "compress/lowrank.h"

#define SUM_LANES 16

/* What is left of a column must be more than so much of it. */
#define LEAST 1e-6

struct kernels {
    double (*dot)(const double *x, const double *y, size_t n);
    void (*subtract)(double factor, const double *x, size_t n, double *y);
};

#define NAME(x) x##_plain
#define TARGET
#define LANES 2
#include "compress/lowrank_orthogonal_variant.h"

#if APS_CPU_X86
#define NAME(x) x##_avx2
#define TARGET APS_TARGET_AVX2
#define LANES 4
#include "compress/lowrank_orthogonal_variant.h"

#define NAME(x) x##_avx512
#define TARGET APS_TARGET_AVX512
#define LANES 8
#include "compress/lowrank_orthogonal_variant.h"
#endif

static const struct kernels *orthogonal_kernels(void)
{
    static const struct kernels *const kernels[APS_CPUS] = {
        [APS_CPU_PLAIN] = &kernels_plain,
#if APS_CPU_X86
        [APS_CPU_AVX2] = &kernels_avx2,
        [APS_CPU_AVX512] = &kernels_avx512,
#endif
    };

    return kernels[aps_cpu_chosen()];
}

/* Elements from column to column in the room: zeros stand behind a column. */
static size_t orthogonal_pitch(size_t n)
{
    return (n + SUM_LANES - 1) / SUM_LANES * SUM_LANES;
}

size_t aps_lowrank_room(size_t n, size_t rank)
{
    return rank * (orthogonal_pitch(n) + 1);
}

/* Give x length 1, or 0. Is it 1? `before` is the square of its length at
 * first. */
static bool orthogonal_normalise(const struct kernels *kernels, double before,
                                 size_t n, double *x)
{
    const double square = kernels->dot(x, x, n);
    const bool enough = square > LEAST * LEAST * before;
    const double factor = enough ? 1 / sqrt(square) : 0;

    for (size_t i = 0; i < n; i++)
        x[i] = enough ? x[i] * factor : 0;
    return enough;
}

size_t aps_lowrank_orthogonalise(size_t n, size_t rank, float *x, double *room)
{
    const struct kernels *kernels = orthogonal_kernels();
    const size_t pitch = orthogonal_pitch(n);
    double *before = room + rank * pitch;
    size_t found = 0;
    fenv_t saved;

    aps_fpenv_enter(&saved);
    for (size_t k = 0; k < rank; k++) {
        double *column = room + k * pitch;

        for (size_t i = 0; i < n; i++)
            column[i] = (double)x[k * n + i];
        memset(column + n, 0, (pitch - n) * sizeof *column);
        before[k] = kernels->dot(column, column, pitch);
    }
    for (size_t k = 0; k < rank; k++) {
        const double *column = room + k * pitch;

        if (!orthogonal_normalise(kernels, before[k], pitch, room + k * pitch))
            continue;
        found++;
        for (size_t l = k + 1; l < rank; l++) {
            double *later = room + l * pitch;

            kernels->subtract(kernels->dot(column, later, pitch), column, pitch,
                              later);
        }
    }
    for (size_t k = 0; k < rank; k++) {
        for (size_t i = 0; i < n; i++)
            x[k * n + i] = (float)room[k * pitch + i];
    }
    aps_fpenv_leave(&saved);
    return found;
}

static bool orthogonal_is_zero(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (x[i] != 0)
            return false;
    }
    return true;
}

void aps_lowrank_prepare(size_t n, size_t rank,
                         const struct aps_lowrank_seed *seed, float *q,
                         double *room)
{
    if (aps_lowrank_orthogonalise(n, rank, q, room) == rank)
        return;
    for (size_t k = 0; k < rank; k++) {
        if (orthogonal_is_zero(q + k * n, n))
            aps_lowrank_draw(n, k, 1, seed, q);
    }
    aps_lowrank_orthogonalise(n, rank, q, room);
}

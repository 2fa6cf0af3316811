/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compress/lowrank.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/fpenv.h"
#include "blockwise/lanes.h"
#include "codec/codec.h"
#include "compress/lowrank_products.h"
#include "number/philox.h"

size_t aps_lowrank_rank(const struct aps_matrix *matrix, size_t rank)
{
    const size_t side =
        matrix->rows < matrix->columns ? matrix->rows : matrix->columns;

    return rank < side ? rank : side;
}

/* --- random factors ------------------------------------------------------- */

/*
 * Draws from N(0, 1) by Box and Muller's method (A Note on the Generation of
 * Random Normal Deviates, 1958): with two words of random bits u and v, the
 * radius is sqrt(-2 ln u), and v determines the angle. Logarithm, sine and
 * cosine are series, of additions, products and quotients in FP64 alone,
 * because a C library's functions differ in their last bits.
 */

#define STAGE 0xffffffffu /* stage of the random bits, which no rounding has */
#define COLUMN_SHIFT 40   /* a column has less than 2^42 elements */
#define GROUPS 64         /* groups of four words, drawn together */

#define LN_2 0.69314718055994530942
#define HALF_PI 1.57079632679489661923

union draw_word {
    double value;
    uint64_t bits;
};

/* Returns w + 0.5, 0 <= w < 2^32: vector units cannot convert unsigned
 * integers. */
APS_INLINE double draw_middle(uint32_t w)
{
    return (double)(int32_t)(w ^ 0x80000000u) + 2147483648.5;
}

/* Returns -2 ln((u + 0.5) / 2^32). */
APS_INLINE double draw_square(uint32_t u)
{
    union draw_word x = {.value = draw_middle(u)};
    /* x = mantissa * 2^exponent, sqrt(1/2) <= mantissa < sqrt(2) */
    const uint64_t half = 0x3fe6a09e667f3bcdu; /* sqrt(1/2) */
    const uint64_t above = x.bits - half + ((uint64_t)1 << 52);
    const int32_t exponent = (int32_t)(above >> 52) - 1;
    double s, square, series;

    x.bits = half + (above & 0xfffffffffffffu);
    s = (x.value - 1) / (x.value + 1);
    square = s * s;
    series = 1.0 / 17;
    series = series * square + 1.0 / 15;
    series = series * square + 1.0 / 13;
    series = series * square + 1.0 / 11;
    series = series * square + 1.0 / 9;
    series = series * square + 1.0 / 7;
    series = series * square + 1.0 / 5;
    series = series * square + 1.0 / 3;
    series = series * square + 1;
    return (double)(32 - exponent) * (2 * LN_2) - 4 * s * series;
}

/* Makes two draws, from a radius and a word. */
APS_INLINE void draw_pair(double radius, uint32_t v, float *first,
                          float *second)
{
    /* The upper two bits are the quadrant, the others an angle x of -pi/4 to
     * pi/4 from its middle. */
    const double x = (draw_middle(v << 2) * 0x1p-32 - 0.5) * HALF_PI;
    const double square = x * x;
    double sine = -1.0 / 39916800, cosine = 1.0 / 479001600;

    sine = sine * square + 1.0 / 362880;
    sine = sine * square - 1.0 / 5040;
    sine = sine * square + 1.0 / 120;
    sine = sine * square - 1.0 / 6;
    sine = (sine * square + 1) * x * radius;
    cosine = cosine * square - 1.0 / 3628800;
    cosine = cosine * square + 1.0 / 40320;
    cosine = cosine * square - 1.0 / 720;
    cosine = cosine * square + 1.0 / 24;
    cosine = cosine * square - 0.5;
    cosine = (cosine * square + 1) * radius;

    const double a = v >> 31 ? -cosine : cosine;
    const double b = v >> 31 ? -sine : sine;

    *first = (float)(v >> 30 & 1 ? -b : a);
    *second = (float)(v >> 30 & 1 ? a : b);
}

/* Makes 2 GROUPS draws, in separate loops: all except sqrt, which may set
 * errno, is vectorised. */
APS_INLINE void draw_pairs(const uint32_t *u, const uint32_t *v, float *first,
                           float *second)
{
    double radius[GROUPS];

    for (int i = 0; i < GROUPS; i++)
        radius[i] = draw_square(u[i]);
    for (int i = 0; i < GROUPS; i++)
        radius[i] = sqrt(radius[i]);
    for (int i = 0; i < GROUPS; i++)
        draw_pair(radius[i], v[i], &first[i], &second[i]);
}

/* Draws GROUPS groups of four elements of a column. */
APS_INLINE void draw_body(const struct aps_stream *stream, uint64_t group,
                          float *x)
{
    uint32_t words[4][GROUPS];
    float drawn[4][GROUPS];

    for (uint32_t i = 0; i < GROUPS; i++) {
        uint32_t word[4];

        aps_stream_group(stream, group + i, word);
        for (int j = 0; j < 4; j++)
            words[j][i] = word[j];
    }
    draw_pairs(words[0], words[1], drawn[0], drawn[1]);
    draw_pairs(words[2], words[3], drawn[2], drawn[3]);
    for (int i = 0; i < GROUPS; i++) {
        for (int j = 0; j < 4; j++)
            x[4 * i + j] = drawn[j][i];
    }
}

#define VARIANT(arg, CPU, name, target)                                        \
    target static void draw_##name(const struct aps_stream *stream,            \
                                   uint64_t group, float *x)                   \
    {                                                                          \
        draw_body(stream, group, x);                                           \
    }

APS_CPU_ROWS(VARIANT, )

void aps_lowrank_draw(size_t n, size_t first, size_t columns,
                      const struct aps_lowrank_seed *seed, float *q)
{
    static void (*const draw[APS_CPUS])(const struct aps_stream *, uint64_t,
                                        float *) = APS_CPU_TABLE(draw_);
    const struct aps_cast_options options = {
        .seed = seed->seed,
        .layer = seed->layer,
        .step = seed->step,
        .stage = STAGE,
        .rank = APS_RANK_ALL,
    };
    const struct aps_stream stream = aps_stream_init(&options);
    float drawn[4 * GROUPS];
    fenv_t saved;

    aps_fpenv_enter(&saved);
    for (size_t k = first; k < first + columns; k++) {
        for (size_t i = 0; i < n; i += 4 * GROUPS) {
            draw[aps_cpu_chosen()](&stream, (uint64_t)k << COLUMN_SHIFT | i / 4,
                                   drawn);
            for (size_t j = 0; j < 4 * GROUPS && i + j < n; j++)
                q[k * n + i + j] = drawn[j];
        }
    }
    aps_fpenv_leave(&saved);
}

/* --- orthonormal factors -------------------------------------------------- */

#define SUM_LANES 16

/* Smallest part of a column that must be left, relative to its length. */
#define LEAST 1e-6

struct kernels {
    double (*dot)(const double *x, const double *y, size_t n);
    void (*subtract)(double factor, const double *x, size_t n, double *y);
};

#define NAME(x) x##_plain
#define TARGET
#define LANES 2
#include "compress/lowrank_orthogonal_variant.h"

#define kernels_neon kernels_plain

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
    static const struct kernels *const kernels[APS_CPUS] =
        APS_CPU_TABLE(&kernels_);

    return kernels[aps_cpu_chosen()];
}

/* Returns the elements from column to column in the room: zeros follow a
 * column. */
static size_t orthogonal_pitch(size_t n)
{
    return (n + SUM_LANES - 1) / SUM_LANES * SUM_LANES;
}

size_t aps_lowrank_room(size_t n, size_t rank)
{
    return rank * (orthogonal_pitch(n) + 1);
}

/* Gives x length 1, or 0. Returns whether it is 1. `before` is the square of
 * its original length. */
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

/* --- products ------------------------------------------------------------- */

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

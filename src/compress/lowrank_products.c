/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compress/lowrank_products.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/size_min.h"

/* lowrank_variant.h has the order of the sums. */
#define SUM_LANES 16
#define SUM_COLUMNS ((size_t)2048)
#define SUM_ROWS ((size_t)128)

/* The most columns of a factor in a tile. */
#define TILE_RANKS_MAX 4

/* Rows of a tile of a right product, and of a restored matrix. */
#define RIGHT_ROWS 4
#define RESTORE_ROWS 4

/* A product goes over the matrix block by block. A block stays in the L2 cache
 * while it is multiplied with the columns of the factors; the number of its
 * sums is: */
#define BLOCK_SUMS ((size_t)4096)
#define BLOCK_RANKS ((size_t)64)       /* columns of a factor for each block */
#define BLOCK_ELEMENTS ((size_t)32768) /* elements of the matrix, about */
#define BLOCK_ROWS ((size_t)256)

/* A block of m, of at most SUM_COLUMNS columns, and some columns of q. */
struct left {
    const float *m, *e; /* e NULL: nothing is added */
    float *delta;
    size_t pitch; /* distance of rows, in all three */
    size_t rows, columns;
    const float *q; /* the first of the columns */
    size_t q_pitch; /* distance of columns */
    const float
        *tail; /* each column's last columns mod SUM_LANES elements, followed by
                  zeros up to SUM_LANES */
    const float *rows_tail; /* the same elements of each row of m + e */
    double *total;          /* sum, to which the product is added column by
                               column */
    size_t total_pitch;
};

/* A block of m, and some columns of p. */
struct right {
    const float *m;
    size_t pitch;
    size_t columns;
    const float *tail; /* each row's last columns mod SUM_LANES elements,
                          followed by zeros up to SUM_LANES */
    const float *p;
    size_t p_pitch;
    float *sum; /* sum; rows of whole vectors, even of the longest */
    size_t sum_pitch;
};

/* Rows of equal length of out. */
struct restore {
    const float *p, *q;
    size_t p_pitch, q_pitch;
    size_t rank;
    size_t pitch; /* distance of rows in out, delta, residual */
    size_t rows, columns;
    float share;
    const float *delta; /* NULL: no residual */
    float *out, *residual;
};

struct kernels {
    size_t ranks; /* most columns of a factor for left and right */
    void (*left)(const struct left *left, int ranks);
    void (*right)(const struct right *right, size_t rows, int ranks);
    void (*add)(const float *sums, size_t n, double *total); /* total += sums */
    void (*restore)(const struct restore *restore);
};

/* In two vectors, cut into blocks: element i of the blocks' lower halves (half
 * 0), or of their upper ones (half block / 2). Modulo the elements of two
 * vectors, because the compiler also checks blocks that are longer than a
 * vector. */
#define FOLD_INDEX(i, block, half)                                             \
    (((i) / ((block) / 2) * (block) + (i) % ((block) / 2) + (half)) %          \
     (2 * LANES))
#define FOLD_4(i, block, half)                                                 \
    FOLD_INDEX(i, block, half), FOLD_INDEX((i) + 1, block, half),              \
        FOLD_INDEX((i) + 2, block, half), FOLD_INDEX((i) + 3, block, half)
#define FOLD_8(i, block, half)                                                 \
    FOLD_4(i, block, half), FOLD_4((i) + 4, block, half)
#define FOLD_16(i, block, half)                                                \
    FOLD_8(i, block, half), FOLD_8((i) + 8, block, half)

/* Returns the elements of u, and then of v, at those places; INDEX is a vector
 * of as many integers. */
#if defined(__clang__)
#define SHUFFLE(u, v, ...) __builtin_shufflevector(u, v, __VA_ARGS__)
#else
#define SHUFFLE(u, v, ...) __builtin_shuffle(u, v, (INDEX){__VA_ARGS__})
#endif

#define NAME(x) x##_plain
#define TARGET
#define LANES 4
#define FOLD_INDICES(block, half) FOLD_4(0, block, half)
#define TILE_RANKS 2
#define TILE_ROWS 1
#include "compress/lowrank_variant.h"

#define kernels_neon kernels_plain

#if APS_CPU_X86
#define NAME(x) x##_avx2
#define TARGET APS_TARGET_AVX2
#define LANES 8
#define FOLD_INDICES(block, half) FOLD_8(0, block, half)
#define TILE_RANKS 2
#define TILE_ROWS 2
#include "compress/lowrank_variant.h"

#define NAME(x) x##_avx512
#define TARGET APS_TARGET_AVX512
#define LANES 16
#define FOLD_INDICES(block, half) FOLD_16(0, block, half)
#define TILE_RANKS 4
#define TILE_ROWS 4
#include "compress/lowrank_variant.h"
#endif

/* --- a matrix, row by row ------------------------------------------------ */

/* Returns the elements of the row after the complete ones. */
static size_t products_rest(const struct aps_matrix *matrix)
{
    return matrix->count % matrix->columns;
}

static size_t products_whole(const struct aps_matrix *matrix)
{
    return matrix->count / matrix->columns;
}

/* Gets a row's last elements, followed by zeros up to SUM_LANES. */
static void products_row_tail(const float *x, size_t rest, float *tail)
{
    memset(tail, 0, SUM_LANES * sizeof *tail);
    for (size_t l = 0; l < rest; l++)
        tail[l] = x[l];
}

/* --- left ---------------------------------------------------------------- */

/* Returns the rows of a block of `columns` columns, at most `most`. */
static size_t left_block_rows(size_t columns, size_t most)
{
    const size_t rows = BLOCK_ELEMENTS / columns;

    return aps_size_min(aps_size_min(rows > 16 ? rows : 16, BLOCK_ROWS), most);
}

/* Fills struct left's tail, of `ranks` columns. */
static void left_tail(const struct left *a, size_t ranks, float *tail)
{
    const size_t rest = a->columns % SUM_LANES;

    for (size_t k = 0; k < ranks; k++)
        products_row_tail(a->q + k * a->q_pitch + (a->columns - rest), rest,
                          tail + k * SUM_LANES);
}

/* Fills struct left's rows_tail, and delta's last elements. */
static void left_rows_tail(const struct left *a, float *tail)
{
    const size_t rest = a->columns % SUM_LANES;
    const size_t rows = rest > 0 ? a->rows : 0;
    size_t at = a->columns - rest;

    for (size_t i = 0; i < rows; i++, at += a->pitch) {
        float *to = tail + i * SUM_LANES;

        products_row_tail(a->m + at, rest, to);
        if (!a->e)
            continue;
        for (size_t l = 0; l < rest; l++)
            a->delta[at + l] = to[l] += a->e[at + l];
    }
}

/* p of rows of equal length, and of at most BLOCK_RANKS columns. */
static void left_rows(const struct kernels *kernels, const struct left *rows,
                      size_t rank, float *p, size_t p_pitch)
{
    const size_t width =
        rows->columns < SUM_COLUMNS ? rows->columns : SUM_COLUMNS;
    const size_t most = left_block_rows(width, BLOCK_SUMS / rank);
    double total[BLOCK_SUMS];
    float tail[SUM_LANES * TILE_RANKS_MAX];
    float rows_tail[SUM_LANES * BLOCK_ROWS];

    for (size_t i = 0; i < rows->rows; i += most) {
        struct left a = *rows;

        a.rows = aps_size_min(rows->rows - i, most);
        a.total_pitch = a.rows;
        a.tail = tail;
        a.rows_tail = rows_tail;
        memset(total, 0, rank * a.rows * sizeof *total);
        for (size_t j = 0; j < rows->columns; j += width) {
            const size_t at = i * rows->pitch + j;

            a.columns = aps_size_min(rows->columns - j, width);
            a.m = rows->m + at;
            a.e = rows->e ? rows->e + at : NULL;
            a.delta = rows->e ? rows->delta + at : NULL;
            left_rows_tail(&a, rows_tail);
            for (size_t k = 0; k < rank; k += kernels->ranks) {
                const size_t ranks = aps_size_min(rank - k, kernels->ranks);

                a.q = rows->q + k * a.q_pitch + j;
                a.total = total + k * a.total_pitch;
                left_tail(&a, ranks, tail);
                kernels->left(&a, (int)ranks);
                if (a.e) { /* the sums are in delta now */
                    a.m = a.delta;
                    a.e = NULL;
                }
            }
        }
        for (size_t k = 0; k < rank; k++) {
            for (size_t l = 0; l < a.rows; l++)
                p[k * p_pitch + i + l] = (float)total[k * a.total_pitch + l];
        }
    }
}

static void products_left(const struct kernels *kernels,
                          const struct aps_matrix *matrix, size_t rank,
                          const float *m, const float *e, float *delta,
                          const float *q, float *p)
{
    const size_t whole = products_whole(matrix), rest = products_rest(matrix);
    const size_t last = whole * matrix->columns;
    size_t ranks;

    for (size_t k = 0; k < rank; k += ranks) {
        struct left a = {
            .m = m,
            .e = e,
            .delta = delta,
            .pitch = matrix->columns,
            .rows = whole,
            .columns = matrix->columns,
            .q = q + k * matrix->columns,
            .q_pitch = matrix->columns,
        };
        float *to = p + k * matrix->rows;

        ranks = aps_size_min(rank - k, BLOCK_RANKS);
        left_rows(kernels, &a, ranks, to, matrix->rows);
        for (size_t l = 0; l < ranks; l++)
            memset(to + l * matrix->rows + whole, 0,
                   (matrix->rows - whole) * sizeof *to);
        if (rest > 0) {
            a.m += last;
            a.e = e ? e + last : NULL;
            a.delta = e ? delta + last : NULL;
            a.rows = 1;
            a.columns = rest;
            left_rows(kernels, &a, ranks, to + whole, matrix->rows);
        }
        if (e) {
            m = delta;
            e = NULL;
        }
    }
}

/* --- right --------------------------------------------------------------- */

/* Fills struct right's tail, of `rows` rows. */
static void right_tail(const struct right *a, size_t rows, float *tail)
{
    const size_t rest = a->columns % SUM_LANES;

    for (size_t i = 0; i < rows && rest > 0; i++)
        products_row_tail(a->m + i * a->pitch + (a->columns - rest), rest,
                          tail + i * SUM_LANES);
}

/* Adds the rows from `row` on, at most SUM_ROWS, for `width` columns of the
 * matrix from `first` on; columns of sums are `pitch` apart. */
static void right_sums(const struct kernels *kernels,
                       const struct aps_matrix *matrix, size_t rank,
                       const float *m, const float *p, size_t first,
                       size_t width, size_t row, float *sums, size_t pitch)
{
    const size_t whole = products_whole(matrix), rest = products_rest(matrix);
    const size_t rows = aps_size_min(whole - row, SUM_ROWS);
    const bool last = rows < SUM_ROWS && rest > first;
    float tail[SUM_LANES * SUM_ROWS], last_tail[SUM_LANES];
    struct right a = {.m = m + row * matrix->columns + first,
                      .pitch = matrix->columns,
                      .columns = width,
                      .tail = tail,
                      .sum_pitch = pitch,
                      .p_pitch = matrix->rows};
    struct right b = a; /* the row after the complete ones */

    right_tail(&a, rows, tail);
    b.m += rows * a.pitch;
    b.tail = last_tail;
    if (last) {
        b.columns = aps_size_min(rest - first, width);
        right_tail(&b, 1, last_tail);
    }
    memset(sums, 0, rank * pitch * sizeof *sums);
    for (size_t k = 0; k < rank; k += kernels->ranks) {
        const int ranks = (int)aps_size_min(rank - k, kernels->ranks);

        a.p = p + k * matrix->rows + row;
        a.sum = sums + k * pitch;
        kernels->right(&a, rows, ranks);
        b.p = a.p + rows;
        b.sum = a.sum;
        if (last)
            kernels->right(&b, 1, ranks);
    }
}

static void products_right(const struct kernels *kernels,
                           const struct aps_matrix *matrix, size_t rank,
                           const float *m, const float *p, float *q)
{
    const size_t rows =
        products_whole(matrix) + (products_rest(matrix) > 0 ? 1 : 0);
    _Alignas(64) float sums[BLOCK_SUMS];
    double total[BLOCK_SUMS];
    size_t ranks, width;

    for (size_t k = 0; k < rank; k += ranks) {
        ranks = aps_size_min(rank - k, BLOCK_RANKS);
        for (size_t j = 0; j < matrix->columns; j += width) {
            /* whole vectors, even of the longest */
            const size_t pitch = aps_size_min(
                (matrix->columns - j + SUM_LANES - 1) / SUM_LANES * SUM_LANES,
                BLOCK_SUMS / ranks / SUM_LANES * SUM_LANES);

            width = aps_size_min(matrix->columns - j, pitch);
            memset(total, 0, ranks * pitch * sizeof *total);
            for (size_t row = 0; row < rows; row += SUM_ROWS) {
                right_sums(kernels, matrix, ranks, m, p + k * matrix->rows, j,
                           width, row, sums, pitch);
                kernels->add(sums, ranks * pitch, total);
            }
            for (size_t l = 0; l < ranks; l++) {
                for (size_t i = 0; i < width; i++)
                    q[(k + l) * matrix->columns + j + i] =
                        (float)total[l * pitch + i];
            }
        }
    }
}

/* --- restore ------------------------------------------------------------- */

static void products_restore(const struct kernels *kernels,
                             const struct aps_matrix *matrix, size_t rank,
                             const float *p, const float *q, float share,
                             const float *delta, float *out, float *residual)
{
    const size_t whole = products_whole(matrix), rest = products_rest(matrix);
    const size_t last = whole * matrix->columns;
    struct restore a = {
        .p = p,
        .q = q,
        .p_pitch = matrix->rows,
        .q_pitch = matrix->columns,
        .rank = rank,
        .pitch = matrix->columns,
        .rows = whole,
        .columns = matrix->columns,
        .share = share,
        .delta = delta,
        .out = out,
        .residual = residual,
    };

    kernels->restore(&a);
    if (rest == 0)
        return;
    a.p += whole;
    a.rows = 1;
    a.columns = rest;
    a.delta = delta ? delta + last : NULL;
    a.out += last;
    a.residual = delta ? residual + last : NULL;
    kernels->restore(&a);
}

/* --- by instruction set -------------------------------------------------- */

#define VARIANT(arg, CPU, name, target)                                        \
    static void left_##name(const struct aps_matrix *matrix, size_t rank,      \
                            const float *m, const float *e, float *delta,      \
                            const float *q, float *p)                          \
    {                                                                          \
        products_left(&kernels_##name, matrix, rank, m, e, delta, q, p);       \
    }                                                                          \
    static void right_##name(const struct aps_matrix *matrix, size_t rank,     \
                             const float *m, const float *p, float *q)         \
    {                                                                          \
        products_right(&kernels_##name, matrix, rank, m, p, q);                \
    }                                                                          \
    static void restore_##name(const struct aps_matrix *matrix, size_t rank,   \
                               const float *p, const float *q, float share,    \
                               const float *delta, float *out,                 \
                               float *residual)                                \
    {                                                                          \
        products_restore(&kernels_##name, matrix, rank, p, q, share, delta,    \
                         out, residual);                                       \
    }

APS_CPU_ROWS(VARIANT, )

#define ROW(arg, CPU, name, target)                                            \
    [APS_CPU_##CPU] = {                                                        \
        .left = left_##name,                                                   \
        .right = right_##name,                                                 \
        .restore = restore_##name,                                             \
    },

const struct aps_lowrank_products *aps_lowrank_products(enum aps_cpu cpu)
{
    static const struct aps_lowrank_products products[APS_CPUS] = {
        APS_CPU_ROWS(ROW, )};

    return aps_cpu_supported(cpu) ? &products[cpu] : NULL;
}

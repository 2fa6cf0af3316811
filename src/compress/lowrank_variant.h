/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The products of a matrix with factors of low rank, for one instruction set;
 * lowrank_products.c includes this once for each, after it has defined
 *
 *     NAME(x)       x with the instruction set's name appended
 *     TARGET        the attribute of functions for it
 *     LANES         floats of a vector register: 4, 8 or 16
 *     FOLD_INDICES(block, half)   FOLD_INDEX of as many i
 *     TILE_RANKS    columns of the factors that a tile has
 *     TILE_ROWS     rows of the matrix that a tile of a left product has
 *
 * The order of all sums depends on the matrix's shape alone, so that all sets
 * give the same bits:
 *
 *     left     element j of a row belongs to lane j mod SUM_LANES. A lane adds
 *              the products of SUM_COLUMNS columns one after the other, from 0,
 *              in FP32; lanes l and l + 8 are added, then l and l + 4, l and
 *              l + 2, l and l + 1; such sums are added one after the other, from
 *              0, in FP64.
 *     right    the products of SUM_ROWS rows are added one after the other, from
 *              0, in FP32; such sums one after the other, from 0, in FP64.
 *     restore  the products are added one after the other, from 0, in FP32.
 *
 * A factor lies column by column. No product is fused with an addition.
 */

#define VECTOR NAME(vector)
#define LOOSE NAME(loose)
#define INDEX NAME(index)
#define QUAD NAME(quad)
#define LEFT_ADD NAME(left_add)
#define RIGHT_ADD NAME(right_add_columns)
#define PARTS (SUM_LANES / LANES) /* vectors that hold the lanes of a sum */
#define INLINE TARGET static inline __attribute__((always_inline))

typedef float VECTOR __attribute__((vector_size(4 * LANES)));
typedef float LOOSE
    __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef float QUAD __attribute__((vector_size(16), aligned(4), may_alias));
typedef int INDEX __attribute__((vector_size(4 * LANES)));

/* In pieces of 16 bytes: large arrays of malloc begin 16 bytes after the start
 * of a cache line, so that every store of 64 bytes would be in two lines. */
INLINE void NAME(store)(float *to, VECTOR x)
{
    for (int i = 0; i < LANES / 4; i++)
        ((QUAD *)to)[i] = ((const QUAD *)&x)[i];
}

/* --- left: p = (m + e) q ------------------------------------------------- */

/* Adds the products of SUM_LANES columns: x by q. `add`: of x + e, which is
 * stored in delta. Rows are `pitch` apart, columns of q `q_pitch`. */
INLINE void LEFT_ADD(const float *x, const float *e, float *delta, size_t pitch,
                     const float *q, size_t q_pitch, int rows, int ranks,
                     bool add, VECTOR (*sum)[TILE_RANKS][PARTS])
{
    for (int s = 0; s < PARTS; s++) {
        VECTOR row[TILE_ROWS];

        for (int i = 0; i < rows; i++) {
            const size_t at = (size_t)i * pitch + (size_t)(s * LANES);

            row[i] = *(const LOOSE *)(x + at);
            if (add)
                row[i] += *(const LOOSE *)(e + at);
        }
        for (int i = 0; i < rows && add; i++)
            NAME(store)
        (delta + (size_t)i * pitch + (size_t)(s * LANES), row[i]);
        for (int k = 0; k < ranks; k++) {
            const VECTOR column =
                *(const LOOSE *)(q + (size_t)k * q_pitch + s * LANES);

            for (int i = 0; i < rows; i++)
                sum[i][k][s] += row[i] * column;
        }
    }
}

/* Folds sums in u and then in v, each in `block` adjacent elements: returns as
 * many, each in half of them, element l and element l + block / 2 added. */
INLINE VECTOR NAME(fold_pair)(VECTOR u, VECTOR v, int block)
{
    switch (block) {
#define CASE(b)                                                                \
    case b:                                                                    \
        return SHUFFLE(u, v, FOLD_INDICES(b, 0)) +                             \
               SHUFFLE(u, v, FOLD_INDICES(b, (b) / 2));
        CASE(16)
        CASE(8)
        CASE(4)
#undef CASE
    default:
        return SHUFFLE(u, v, FOLD_INDICES(2, 0)) +
               SHUFFLE(u, v, FOLD_INDICES(2, 1));
    }
}

/* total[k * pitch + i] += the sum of all lanes of sum[i][k]. */
INLINE void NAME(fold)(VECTOR (*sum)[TILE_RANKS][PARTS], int rows, int ranks,
                       double *total, size_t pitch)
{
    const int sums = rows * ranks;
    VECTOR folded[LANES];
    float lane[LANES];

    for (int i = 0; i < LANES; i++)
        folded[i] = (VECTOR){0};
    for (int i = 0; i < sums; i++) {
        VECTOR *part = sum[i % rows][i / rows];

        for (int half = PARTS / 2; half > 0; half /= 2) {
            for (int s = 0; s < half; s++)
                part[s] += part[s + half];
        }
        folded[i] = part[0];
    }
    for (int block = LANES; block > 1; block /= 2) {
        for (int i = 0; i < block / 2; i++)
            folded[i] =
                NAME(fold_pair)(folded[2 * i], folded[2 * i + 1], block);
    }
    *(LOOSE *)lane = folded[0];
    for (int k = 0; k < ranks; k++) {
        for (int i = 0; i < rows; i++)
            total[(size_t)k * pitch + (size_t)i] += (double)lane[k * rows + i];
    }
}

/* Processes the rows from `first` on. */
INLINE void NAME(left_tile)(const struct left *from, size_t first, int rows,
                            int ranks, bool add)
{
    const struct left copy = *from,
                      *a = &copy; /* is not a target of the stores */
    const float *m = a->m + first * a->pitch;
    const float *e = add ? a->e + first * a->pitch : m;
    float *delta = add ? a->delta + first * a->pitch : NULL;
    VECTOR sum[TILE_ROWS][TILE_RANKS][PARTS] = {{{{0}}}};
    size_t j = 0;

    for (; j + SUM_LANES <= a->columns; j += SUM_LANES) {
        LEFT_ADD(m + j, e + j, add ? delta + j : NULL, a->pitch, a->q + j,
                 a->q_pitch, rows, ranks, add, sum);
    }
    if (j < a->columns) {
        LEFT_ADD(a->rows_tail + first * SUM_LANES, NULL, NULL, SUM_LANES,
                 a->tail, SUM_LANES, rows, ranks, false, sum);
    }
    NAME(fold)(sum, rows, ranks, a->total + first, a->total_pitch);
}

INLINE void NAME(left_rows)(const struct left *a, int ranks, bool add)
{
    size_t i = 0;

    for (; i + TILE_ROWS <= a->rows; i += TILE_ROWS)
        NAME(left_tile)(a, i, TILE_ROWS, ranks, add);
    for (; i < a->rows; i++)
        NAME(left_tile)(a, i, 1, ranks, add);
}

TARGET static void NAME(left_block)(const struct left *a, int ranks)
{
    switch (a->e ? ranks + TILE_RANKS : ranks) {
#define CASE(n)                                                                \
    case n:                                                                    \
        NAME(left_rows)(a, n, false);                                          \
        break;                                                                 \
    case n + TILE_RANKS:                                                       \
        NAME(left_rows)(a, n, true);                                           \
        break;
        CASE(1)
        CASE(2)
#if TILE_RANKS > 2
        CASE(3)
        CASE(4)
#endif
#undef CASE
    }
}

/* --- right: q = m^T p ---------------------------------------------------- */

/* sums += the products of SUM_LANES columns: x by p. */
INLINE void RIGHT_ADD(const float *x, size_t pitch, VECTOR (*p)[RIGHT_ROWS],
                      int rows, int ranks, float *sums, size_t sum_pitch)
{
    for (int s = 0; s < PARTS; s++) {
        VECTOR row[RIGHT_ROWS];

        for (int i = 0; i < rows; i++)
            row[i] = *(const LOOSE *)(x + (size_t)i * pitch + s * LANES);
        for (int k = 0; k < ranks; k++) {
            LOOSE *at = (LOOSE *)(sums + (size_t)k * sum_pitch + s * LANES);
            VECTOR sum = *at;

            for (int i = 0; i < rows; i++)
                sum += row[i] * p[k][i];
            *at = sum;
        }
    }
}

/* sum[k] += the products of rows from `first` on, all columns of the panel;
 * those in a->tail are a whole vector, with zeros at the end. */
INLINE void NAME(right_tile)(const struct right *a, size_t first, int rows,
                             int ranks)
{
    const size_t pitch = a->pitch, columns = a->columns;
    const size_t sum_pitch = a->sum_pitch;
    const float *m = a->m + first * pitch;
    float *to = a->sum;
    VECTOR p[TILE_RANKS][RIGHT_ROWS];
    size_t j = 0;

    for (int k = 0; k < ranks; k++) {
        for (int i = 0; i < rows; i++)
            p[k][i] =
                a->p[(size_t)k * a->p_pitch + first + (size_t)i] - (VECTOR){0};
    }
    for (; j + SUM_LANES <= columns; j += SUM_LANES)
        RIGHT_ADD(m + j, pitch, p, rows, ranks, to + j, sum_pitch);
    if (j < columns)
        RIGHT_ADD(a->tail + first * SUM_LANES, SUM_LANES, p, rows, ranks,
                  to + j, sum_pitch);
}

INLINE void NAME(right_rows)(const struct right *a, size_t rows, int ranks)
{
    size_t i = 0;

    for (; i + RIGHT_ROWS <= rows; i += RIGHT_ROWS)
        NAME(right_tile)(a, i, RIGHT_ROWS, ranks);
    for (; i < rows; i++)
        NAME(right_tile)(a, i, 1, ranks);
}

TARGET static void NAME(right_block)(const struct right *a, size_t rows,
                                     int ranks)
{
    switch (ranks) {
#define CASE(n)                                                                \
    case n:                                                                    \
        NAME(right_rows)(a, rows, n);                                          \
        break;
        CASE(1)
        CASE(2)
#if TILE_RANKS > 2
        CASE(3)
        CASE(4)
#endif
#undef CASE
    }
}

TARGET static void NAME(right_add)(const float *restrict sums, size_t n,
                                   double *restrict total)
{
    for (size_t i = 0; i < n; i++)
        total[i] += (double)sums[i];
}

/* --- restore: out = p q^T ------------------------------------------------ */

/* Gets the sums of LANES columns from j on, for rows of p. `ranks` 0: a->ranks;
 * otherwise a constant, and p's elements are in `held`. */
INLINE void NAME(restore_sums)(const struct restore *a, const float *p,
                               VECTOR (*held)[RESTORE_ROWS], size_t j, int rows,
                               int ranks, VECTOR *sum)
{
    const size_t all = ranks > 0 ? (size_t)ranks : a->rank;

    for (int i = 0; i < rows; i++)
        sum[i] = (VECTOR){0};
    for (size_t k = 0; k < all; k++) {
        const VECTOR q = *(const LOOSE *)(a->q + k * a->q_pitch + j);

        for (int i = 0; i < rows; i++)
            sum[i] +=
                q * (ranks > 0 ? held[k][i]
                               : p[k * a->p_pitch + (size_t)i] - (VECTOR){0});
    }
}

/* Writes one element of out, and its residual. */
INLINE void NAME(restore_element)(const struct restore *a, size_t at, float sum,
                                  bool feedback)
{
    if (feedback)
        a->residual[at] = a->delta[at] - sum * a->share;
    a->out[at] = sum;
}

/* Processes the columns from j on, fewer than LANES, with a vector that ends
 * with the row. */
INLINE void NAME(restore_end)(const struct restore *a, size_t first,
                              VECTOR (*held)[RESTORE_ROWS], size_t j, int rows,
                              int ranks, bool feedback)
{
    const size_t last = a->columns - LANES;
    VECTOR sums[RESTORE_ROWS];

    NAME(restore_sums)(a, a->p + first, held, last, rows, ranks, sums);
    for (int i = 0; i < rows; i++) {
        const size_t row = (first + (size_t)i) * a->pitch;
        float lane[LANES];

        *(LOOSE *)lane = sums[i];
        for (size_t l = j; l < a->columns; l++)
            NAME(restore_element)(a, row + l, lane[l - last], feedback);
    }
}

/* Processes rows that are shorter than a vector. */
INLINE void NAME(restore_short)(const struct restore *a, size_t first, int rows,
                                bool feedback)
{
    for (size_t i = first; i < first + (size_t)rows; i++) {
        for (size_t j = 0; j < a->columns; j++) {
            float sum = 0;

            for (size_t k = 0; k < a->rank; k++)
                sum += a->q[k * a->q_pitch + j] * a->p[k * a->p_pitch + i];
            NAME(restore_element)(a, i * a->pitch + j, sum, feedback);
        }
    }
}

/* Processes the rows from `first` on. */
INLINE void NAME(restore_tile)(const struct restore *from, size_t first,
                               int rows, int ranks, bool feedback)
{
    const struct restore copy = *from, *a = &copy; /* is not a target of the
                                                      stores */
    const float *p = a->p + first;
    VECTOR held[TILE_RANKS][RESTORE_ROWS];
    size_t j = 0;

    for (int k = 0; k < ranks; k++) {
        for (int i = 0; i < rows; i++)
            held[k][i] = p[(size_t)k * a->p_pitch + (size_t)i] - (VECTOR){0};
    }
    for (; j + LANES <= a->columns; j += LANES) {
        const size_t at = first * a->pitch + j;
        VECTOR sum[RESTORE_ROWS];

        NAME(restore_sums)(a, p, held, j, rows, ranks, sum);
        if (feedback) {
            VECTOR residual[RESTORE_ROWS];

            for (int i = 0; i < rows; i++)
                residual[i] =
                    *(const LOOSE *)(a->delta + at + (size_t)i * a->pitch) -
                    sum[i] * a->share;
            for (int i = 0; i < rows; i++)
                NAME(store)
            (a->residual + at + (size_t)i * a->pitch, residual[i]);
        }
        for (int i = 0; i < rows; i++)
            NAME(store)(a->out + at + (size_t)i * a->pitch, sum[i]);
    }
    if (a->columns < LANES)
        NAME(restore_short)(a, first, rows, feedback);
    else if (j < a->columns)
        NAME(restore_end)(a, first, held, j, rows, ranks, feedback);
}

INLINE void NAME(restore_rows)(const struct restore *a, int ranks,
                               bool feedback)
{
    size_t i = 0;

    for (; i + RESTORE_ROWS <= a->rows; i += RESTORE_ROWS)
        NAME(restore_tile)(a, i, RESTORE_ROWS, ranks, feedback);
    for (; i < a->rows; i++)
        NAME(restore_tile)(a, i, 1, ranks, feedback);
}

TARGET static void NAME(restore_block)(const struct restore *a)
{
    const size_t ranks = a->rank <= TILE_RANKS ? a->rank : 0;

    switch (a->delta ? ranks + TILE_RANKS + 1 : ranks) {
#define CASE(n)                                                                \
    case n:                                                                    \
        NAME(restore_rows)(a, n, false);                                       \
        break;                                                                 \
    case n + TILE_RANKS + 1:                                                   \
        NAME(restore_rows)(a, n, true);                                        \
        break;
        CASE(0)
        CASE(1)
        CASE(2)
#if TILE_RANKS > 2
        CASE(3)
        CASE(4)
#endif
#undef CASE
    }
}

static const struct kernels NAME(kernels) = {
    .ranks = TILE_RANKS,
    .left = NAME(left_block),
    .right = NAME(right_block),
    .add = NAME(right_add),
    .restore = NAME(restore_block),
};

#undef NAME
#undef TARGET
#undef LANES
#undef TILE_RANKS
#undef TILE_ROWS
#undef VECTOR
#undef LOOSE
#undef INDEX
#undef QUAD
#undef LEFT_ADD
#undef RIGHT_ADD
#undef FOLD_INDICES
#undef PARTS
#undef INLINE

/* SPDX-License-Identifier: BSD-3-Clause */
/* PowerSGD's steps, of one rank or of several in one process: invariants for
 * all numbers. */
#include "config.h"

#include <float.h>

#include "unit/compress/lowrank_matrix.h"

#define RANKS_MAX 4 /* ranks of a job */

/* The buffers of a step for `ranks` ranks. */
struct steps {
    struct aps_matrix matrix;
    size_t rank;
    size_t ranks;
    uint32_t step;
    float *g[RANKS_MAX], *e[RANKS_MAX]; /* inputs; error memories */
    float *delta, *p, *q, *out;
    float *part; /* a rank's P or Q */
    double *room;
};

static size_t steps_longer(const struct steps *s)
{
    return s->matrix.rows > s->matrix.columns ? s->matrix.rows
                                              : s->matrix.columns;
}

static void steps_init(struct steps *s, struct aps_matrix matrix, size_t rank,
                       size_t ranks)
{
    memset(s, 0, sizeof *s);
    s->matrix = matrix;
    s->rank = aps_lowrank_rank(&matrix, rank);
    s->ranks = ranks;
    for (size_t r = 0; r < ranks; r++) {
        s->g[r] = random_floats(matrix.count);
        s->e[r] = empty_floats(matrix.count);
        memset(s->e[r], 0, matrix.count * sizeof(float));
    }
    s->delta = empty_floats(matrix.count);
    s->out = empty_floats(matrix.count);
    s->p = empty_floats(matrix.rows * s->rank);
    s->q = empty_floats(matrix.columns * s->rank);
    s->part = empty_floats(steps_longer(s) * s->rank);
    s->room =
        malloc(aps_lowrank_room(steps_longer(s), s->rank) * sizeof *s->room);
    aps_lowrank_draw(matrix.columns, 0, s->rank,
                     &(struct aps_lowrank_seed){1, 2, 0}, s->q);
}

static void steps_free(struct steps *s)
{
    for (size_t r = 0; r < s->ranks; r++) {
        free(s->g[r]);
        free(s->e[r]);
    }
    free(s->delta);
    free(s->out);
    free(s->p);
    free(s->q);
    free(s->part);
    free(s->room);
}

/* sum[n] += x[n]; for the first x, sum[n] = x[n]. */
static void add(size_t r, const float *x, size_t n, float *sum)
{
    for (size_t i = 0; i < n; i++)
        sum[i] = r == 0 ? x[i] : sum[i] + x[i];
}

/* Makes one step of all ranks: `out` is the approximate sum of all g + e. */
static void steps_do(struct steps *s)
{
    const struct aps_matrix *m = &s->matrix;
    const size_t rank = s->rank;
    const struct aps_lowrank_seed seed = {1, 2, s->step++};
    float *sum = empty_floats(steps_longer(s) * rank);
    const float share = 1 / (float)s->ranks;

    aps_lowrank_prepare(m->columns, rank, &seed, s->q, s->room);
    for (size_t r = 0; r < s->ranks; r++) {
        aps_lowrank_left_feedback(m, rank, s->g[r], s->e[r], s->e[r], s->q,
                                  s->part);
        add(r, s->part, m->rows * rank, s->p);
    }
    aps_lowrank_orthogonalise(m->rows, rank, s->p, s->room);
    for (size_t r = 0; r < s->ranks; r++) {
        aps_lowrank_right(m, rank, s->e[r], s->p, s->part);
        add(r, s->part, m->columns * rank, sum);
    }
    memcpy(s->q, sum, m->columns * rank * sizeof *sum);
    free(sum);
    for (size_t r = 0; r < s->ranks; r++)
        aps_lowrank_restore_feedback(m, rank, s->p, s->q, share, s->e[r],
                                     s->out, s->e[r]);
}

static void fill(struct steps *s, size_t r, float *m)
{
    memcpy(s->g[r], m, s->matrix.count * sizeof *m);
    free(m);
}

static void forget(struct steps *s)
{
    for (size_t r = 0; r < s->ranks; r++)
        memset(s->e[r], 0, s->matrix.count * sizeof(float));
}

static double error_of_sum(const struct steps *s)
{
    const size_t n = s->matrix.count;
    float *sum = empty_floats(n);

    for (size_t r = 0; r < s->ranks; r++)
        add(r, s->g[r], n, sum);
    const double error = distance(s->out, sum, n);
    free(sum);
    return error;
}

/* --- one step ------------------------------------------------------------- */

static void test_enough_ranks(void)
{
    static const size_t shapes[][3] = {{1, 1, 1},    {1, 9, 1},    {9, 1, 1},
                                       {20, 30, 20}, {64, 147, 3}, {300, 7, 7},
                                       {40, 600, 5}};
    double worst = 0;

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const size_t rows = shapes[i][0], columns = shapes[i][1];
        const struct aps_matrix matrix = {rows, columns, rows * columns};
        struct steps s;

        /* three ranks: their sum has a rank of shapes[i][2] at most */
        steps_init(&s, matrix, shapes[i][2] < 7 ? 3 * shapes[i][2] : 100, 3);
        for (size_t r = 0; r < 3; r++)
            fill(&s, r, random_matrix(rows, columns, shapes[i][2]));
        steps_do(&s);
        worst = fmax(worst, error_of_sum(&s));
        steps_free(&s);
    }
    ok(worst < 1e-5,
       "a rank that is that of the sum's matrix gives the sum: %g", worst);
}

static void test_square(void)
{
    static const size_t counts[] = {2, 3, 5, 7, 10, 999};
    double worst = 0;

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct steps s;

        steps_init(&s, aps_matrix_square(counts[i]), 100, 2);
        steps_do(&s);
        worst = fmax(worst, error_of_sum(&s));
        steps_free(&s);
    }
    ok(worst < 1e-5, "... also where rows are not complete: %g", worst);
}

static void test_deficient(void)
{
    const struct aps_matrix matrix = {60, 80, 60 * 80};
    struct steps s;
    bool finite = true;

    steps_init(&s, matrix, 8, 1);
    fill(&s, 0, random_matrix(60, 80, 2));
    for (int i = 0; i < 5; i++) {
        forget(&s);
        steps_do(&s);
        finite &= error_of_sum(&s) < 1e-5;
    }
    ok(finite, "... also where the matrix has less");
    memset(s.g[0], 0, 60 * 80 * sizeof(float));
    forget(&s);
    steps_do(&s);
    ok(distance(s.out, s.g[0], 60 * 80) == 0 &&
           distance(s.e[0], s.g[0], 60 * 80) == 0,
       "a matrix of zeros gives zeros");
    fill(&s, 0, random_matrix(60, 80, 8));
    forget(&s);
    steps_do(&s);
    ok(error_of_sum(&s) < 1e-5, "... and the next step has its whole rank");
    steps_free(&s);
}

/* --- many steps ----------------------------------------------------------- */

static void test_telescope(void)
{
    const struct aps_matrix matrix = {40, 50, 2000};
    double sum[2000] = {0}, got[2000] = {0}, error = 0, length = 0, e = 0;
    struct steps s;

    steps_init(&s, matrix, 2, 3);
    for (int step = 0; step < 1000; step++) {
        for (size_t r = 0; r < 3; r++) {
            for (size_t i = 0; i < 2000; i++) {
                s.g[r][i] = random_float() + 0.1f;
                sum[i] += (double)s.g[r][i];
            }
        }
        steps_do(&s);
        for (size_t i = 0; i < 2000; i++)
            got[i] += (double)s.out[i];
    }
    for (size_t i = 0; i < 2000; i++) {
        double kept = 0;

        for (size_t r = 0; r < 3; r++)
            kept += (double)s.e[r][i];
        error += pow(got[i] + kept - sum[i], 2);
        length += pow(sum[i], 2);
        e += pow(kept, 2);
    }
    ok(sqrt(error / length) < 1e-5,
       "what was handed out, and what is remembered, is all that came in: %g",
       sqrt(error / length));
    ok(sqrt(e / length) < 0.2, "... and most was handed out: %g remembered",
       sqrt(e / length));
    steps_free(&s);
}

/* Returns a matrix with the singular values 2^-k along random directions. */
static float *matrix_of_values(size_t n, size_t values)
{
    float *u = random_floats(n * values), *v = random_floats(n * values);
    float *m = empty_floats(n * n);
    double *room = malloc(aps_lowrank_room(n, values) * sizeof *room);

    aps_lowrank_orthogonalise(n, values, u, room);
    aps_lowrank_orthogonalise(n, values, v, room);
    for (size_t i = 0; i < n * n; i++) {
        double sum = 0;

        for (size_t k = 0; k < values; k++)
            sum += ldexp((double)u[k * n + i / n] * (double)v[k * n + i % n],
                         -(int)k);
        m[i] = (float)sum;
    }
    free(u);
    free(v);
    free(room);
    return m;
}

/* The best approximation of rank 3 of that matrix leaves the values from the fourth on:
 * sqrt(4^-3 + 4^-4 + ...) = sqrt(4^-3 * 4 / 3), of about sqrt(4 / 3). */
static void test_warm(void)
{
    const struct aps_matrix matrix = {50, 50, 2500};
    struct steps s;
    double cold, warm = 0;

    steps_init(&s, matrix, 3, 1);
    fill(&s, 0, matrix_of_values(50, 12));
    steps_do(&s);
    cold = error_of_sum(&s);
    for (int step = 0; step < 30; step++) {
        forget(&s);
        steps_do(&s);
        warm = error_of_sum(&s);
    }
    ok(fabs(warm - 0.125) < 1e-4 && cold > warm,
       "a Q that goes on finds the largest singular values: %g, at first %g",
       warm, cold);
    steps_free(&s);
}

static void test_rank_changes(void)
{
    const struct aps_matrix matrix = {50, 50, 2500};
    struct steps s;
    double low, high = 0;

    steps_init(&s, matrix, 6, 1);
    fill(&s, 0, matrix_of_values(50, 12));
    s.rank = 2;
    for (int step = 0; step < 20; step++) {
        forget(&s);
        steps_do(&s);
    }
    low = error_of_sum(&s);
    s.rank = 4;
    aps_lowrank_draw(50, 2, 2, &(struct aps_lowrank_seed){1, 2, 20}, s.q);
    for (int step = 0; step < 20; step++) {
        forget(&s);
        steps_do(&s);
        high = error_of_sum(&s);
    }
    s.rank = 2;
    forget(&s);
    steps_do(&s);
    ok(fabs(low - 0.25) < 1e-4 && fabs(high - 0.0625) < 1e-4 &&
           fabs(error_of_sum(&s) - 0.25) < 1e-3,
       "the rank may go up and down: %g, %g, %g", low, high, error_of_sum(&s));
    steps_free(&s);
}

static void test_rank(void)
{
    const struct aps_matrix wide = {3, 10, 30}, high = {10, 2, 20};

    ok(aps_lowrank_rank(&wide, 2) == 2 && aps_lowrank_rank(&wide, 5) == 3 &&
           aps_lowrank_rank(&high, 5) == 2,
       "no factor has more columns than the matrix has rows or columns");
}

/* P's columns are at angles to the axes, so that P Q^T exceeds each element of Q. */
static void test_restorable(void)
{
    const struct aps_matrix matrix = {8, 3, 24};
    float p[8 * 4], q[3 * 4], out[24];
    bool asked_in_vain = false, good = true;

    for (size_t rank = 1; rank <= 4; rank *= 2) {
        memset(p, 0, sizeof p);
        /* Hadamard: columns of +-1 / sqrt(rank) in the first rows. */
        for (size_t k = 0; k < rank; k++)
            for (size_t i = 0; i < rank; i++)
                p[k * 8 + i] =
                    (__builtin_popcountll(i & k) % 2 ? -1.0f : 1.0f) /
                    sqrtf((float)rank);
        for (float most = FLT_MAX; most > FLT_MAX / 64; most *= 0.75f) {
            bool finite = true;

            for (size_t i = 0; i < 3 * rank; i++)
                q[i] = i % 3 == 1 ? most : 1;
            aps_lowrank_restore(&matrix, rank, p, q, out);
            for (size_t i = 0; i < 24; i++)
                finite &= isfinite(out[i]) != 0;
            good &= finite || !aps_lowrank_is_restorable(&matrix, rank, q);
            asked_in_vain |= !finite;
        }
        good &= aps_lowrank_is_restorable(&matrix, rank, q);
    }
    q[5] = NAN;
    good &= !aps_lowrank_is_restorable(&matrix, 2, q);
    ok(good && asked_in_vain, "what is restorable is finite, and finite "
                              "factors may not be restorable");
}

int main(void)
{
    test_restorable();
    test_rank();
    test_enough_ranks();
    test_square();
    test_deficient();
    test_telescope();
    test_warm();
    test_rank_changes();
    return done_testing();
}

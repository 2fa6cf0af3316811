/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PowerSGD's products: every instruction set's, bit by bit against the order of
 * sums that compress/lowrank_variant.h defines, repeated here, and within
 * bounds against FP64.
 */
#include "config.h"

#include <fenv.h>

#include "codec/codec.h"
#include "compress/lowrank_products.h"
#include "unit/compress/lowrank_matrix.h"

static const struct aps_matrix matrices[] = {
    {1, 1, 1},
    {1, 7, 7},
    {7, 1, 7},
    {3, 5, 15},
    {16, 16, 256},
    {17, 33, 561},
    {64, 147, 9408},
    {5, 2048, 10240},
    {3, 2049, 6147},
    {130, 40, 5200},
    {257, 19, 4883},
    {9, 4113, 37017},
    {256, 64, 16384},
    /* squares with incomplete rows, and with none of their last row */
    {2, 2, 3},
    {3, 3, 5},
    {3, 3, 7},
    {4, 4, 10},
    {32, 32, 1000},
    {112, 112, 12345},
    {129, 129, 16513},
    {130, 130, 16770},
    {130, 130, 16800},
    {3, 2100, 2 * 2100 + 2060},
};
#define MATRICES (sizeof matrices / sizeof *matrices)
static const size_t ranks[] = {1, 2, 3, 4, 5, 8, 13, 32, 67};
#define RANKS (sizeof ranks / sizeof *ranks)

/* --- the definition ------------------------------------------------------ */

static float element(const struct aps_matrix *matrix, const float *m, size_t i,
                     size_t j)
{
    const size_t at = i * matrix->columns + j;

    return at < matrix->count ? m[at] : 0;
}

static float left_by_definition(const struct aps_matrix *matrix, const float *m,
                                const float *q, size_t i)
{
    double total = 0;

    for (size_t first = 0; first < matrix->columns; first += 2048) {
        float lane[16] = {0};

        for (size_t j = first; j < matrix->columns && j < first + 2048; j++)
            lane[j % 16] += element(matrix, m, i, j) * q[j];
        for (int half = 8; half > 0; half /= 2) {
            for (int l = 0; l < half; l++)
                lane[l] = lane[l] + lane[l + half];
        }
        total += (double)lane[0];
    }
    return (float)total;
}

static float right_by_definition(const struct aps_matrix *matrix,
                                 const float *m, const float *p, size_t j)
{
    double total = 0;

    for (size_t first = 0; first < matrix->rows; first += 128) {
        float sum = 0;

        for (size_t i = first; i < matrix->rows && i < first + 128; i++)
            sum += element(matrix, m, i, j) * p[i];
        total += (double)sum;
    }
    return (float)total;
}

static float restored_by_definition(const struct aps_matrix *matrix,
                                    size_t rank, const float *p, const float *q,
                                    size_t at)
{
    float sum = 0;

    for (size_t k = 0; k < rank; k++)
        sum += p[k * matrix->rows + at / matrix->columns] *
               q[k * matrix->columns + at % matrix->columns];
    return sum;
}

/* True if `got` is a sum of the products in FP32. `terms` and the sum of the
 * magnitudes bound the rounding error. */
static bool is_close(float got, double exact, double magnitudes, size_t terms)
{
    return fabs((double)got - exact) <=
           ((double)terms + 8) * 0x1p-24 * magnitudes;
}

/* --- one matrix ---------------------------------------------------------- */

struct example {
    const struct aps_matrix *matrix;
    size_t rank;
    float *m, *e, *sum, *p, *q, *restored, *residual; /* expected values */
    float *left, *right;
};

static struct example example_make(const struct aps_matrix *matrix, size_t rank)
{
    struct example x = {
        .matrix = matrix,
        .rank = rank,
        .m = random_floats(matrix->count),
        .e = random_floats(matrix->count),
        .sum = empty_floats(matrix->count),
        .p = random_floats(matrix->rows * rank),
        .q = random_floats(matrix->columns * rank),
        .restored = empty_floats(matrix->count),
        .residual = empty_floats(matrix->count),
        .left = empty_floats(matrix->rows * rank),
        .right = empty_floats(matrix->columns * rank),
    };

    for (size_t i = 0; i < matrix->count; i++) {
        x.sum[i] = x.m[i] + x.e[i];
        x.restored[i] = restored_by_definition(matrix, rank, x.p, x.q, i);
        x.residual[i] = x.m[i] - x.restored[i] * 0.3f;
    }
    for (size_t k = 0; k < rank; k++) {
        for (size_t i = 0; i < matrix->rows; i++)
            x.left[k * matrix->rows + i] =
                left_by_definition(matrix, x.m, x.q + k * matrix->columns, i);
        for (size_t j = 0; j < matrix->columns; j++)
            x.right[k * matrix->columns + j] =
                right_by_definition(matrix, x.m, x.p + k * matrix->rows, j);
    }
    return x;
}

static void example_free(struct example *x)
{
    free(x->m);
    free(x->e);
    free(x->sum);
    free(x->p);
    free(x->q);
    free(x->restored);
    free(x->residual);
    free(x->left);
    free(x->right);
}

/* Checks the definition itself against FP64. */
static bool example_is_close(const struct example *x)
{
    const size_t rows = x->matrix->rows, columns = x->matrix->columns;
    bool close = true;

    for (size_t at = 0; at < rows * x->rank; at++) {
        double exact = 0, magnitudes = 0;

        for (size_t j = 0; j < columns; j++) {
            const double product =
                (double)element(x->matrix, x->m, at % rows, j) *
                (double)x->q[at / rows * columns + j];

            exact += product;
            magnitudes += fabs(product);
        }
        close &= is_close(x->left[at], exact, magnitudes, 128);
    }
    for (size_t at = 0; at < columns * x->rank; at++) {
        double exact = 0, magnitudes = 0;

        for (size_t i = 0; i < rows; i++) {
            const double product =
                (double)element(x->matrix, x->m, i, at % columns) *
                (double)x->p[at / columns * rows + i];

            exact += product;
            magnitudes += fabs(product);
        }
        close &= is_close(x->right[at], exact, magnitudes, 128);
    }
    return close;
}

/* --- variants ------------------------------------------------------------ */

static bool left_agrees(const struct aps_lowrank_products *products,
                        const struct example *x)
{
    const size_t n = x->matrix->rows * x->rank;
    float *p = empty_floats(n);

    products->left(x->matrix, x->rank, x->m, NULL, NULL, x->q, p);
    const bool pass = same_bits(p, x->left, n);
    free(p);
    return pass;
}

static bool right_agrees(const struct aps_lowrank_products *products,
                         const struct example *x)
{
    const size_t n = x->matrix->columns * x->rank;
    float *q = empty_floats(n);

    products->right(x->matrix, x->rank, x->m, x->p, q);
    const bool pass = same_bits(q, x->right, n);
    free(q);
    return pass;
}

/* `delta` is separate, or g, or e. */
static bool left_feedback_agrees(const struct aps_lowrank_products *products,
                                 const struct example *x)
{
    const size_t n = x->matrix->rows * x->rank, count = x->matrix->count;
    float *wanted = empty_floats(n), *p = empty_floats(n);
    bool pass = true;

    products->left(x->matrix, x->rank, x->sum, NULL, NULL, x->q, wanted);
    for (int way = 0; way < 3; way++) {
        float *apart = empty_floats(count);
        float *g = random_floats(count), *e = random_floats(count);
        float *delta = way == 0 ? apart : way == 1 ? g : e;

        memcpy(g, x->m, count * sizeof *g);
        memcpy(e, x->e, count * sizeof *e);
        products->left(x->matrix, x->rank, g, e, delta, x->q, p);
        pass &= same_bits(p, wanted, n) && same_bits(delta, x->sum, count);
        free(apart);
        free(g);
        free(e);
    }
    free(wanted);
    free(p);
    return pass;
}

/* The residual is absent, separate, or in delta; `out` may be in delta. */
static bool restore_agrees(const struct aps_lowrank_products *products,
                           const struct example *x)
{
    const size_t n = x->matrix->count;
    bool pass = true;

    for (int way = 0; way < 4; way++) {
        float *delta = random_floats(n), *apart = empty_floats(n);
        float *out = empty_floats(n);
        float *to = way == 3 ? delta : out;
        float *residual = way == 2 ? delta : apart;

        memcpy(delta, x->m, n * sizeof *delta);
        products->restore(x->matrix, x->rank, x->p, x->q, 0.3f,
                          way == 0 ? NULL : delta, to,
                          way == 0 ? NULL : residual);
        pass &= same_bits(to, x->restored, n) &&
                (way == 0 || same_bits(residual, x->residual, n));
        free(delta);
        free(apart);
        free(out);
    }
    return pass;
}

static void test_variants(void)
{
    static const char *const names[] = {"left", "right", "left with feedback",
                                        "restore"};
    bool pass[APS_CPUS][4], close = true;

    memset(pass, true, sizeof pass);
    for (size_t i = 0; i < MATRICES * RANKS; i++) {
        struct example x = example_make(&matrices[i / RANKS], ranks[i % RANKS]);

        close &= example_is_close(&x);
        for (enum aps_cpu cpu = APS_CPU_PLAIN; cpu < APS_CPUS; cpu++) {
            const struct aps_lowrank_products *products =
                aps_lowrank_products(cpu);

            if (!products)
                continue;
            pass[cpu][0] &= left_agrees(products, &x);
            pass[cpu][1] &= right_agrees(products, &x);
            pass[cpu][2] &= left_feedback_agrees(products, &x);
            pass[cpu][3] &= restore_agrees(products, &x);
        }
        example_free(&x);
    }
    ok(close, "the products are those in FP64, to what rounding explains");
    for (enum aps_cpu cpu = APS_CPU_PLAIN; cpu < APS_CPUS; cpu++) {
        if (!aps_lowrank_products(cpu)) {
            skip(4, "this machine has no %s", aps_cpu_name(cpu));
            continue;
        }
        for (int i = 0; i < 4; i++)
            ok(pass[cpu][i], "%s: %s, bit by bit, of all shapes and ranks",
               aps_cpu_name(cpu), names[i]);
    }
}

/* --- environment, and special values -------------------------------------- */

static void test_environment(void)
{
    struct example x = example_make(&matrices[6], 4);
    float *p = empty_floats(64 * 4), *q = empty_floats(147 * 4);
    float *out = empty_floats(64 * 147);

    fesetround(FE_UPWARD);
    aps_lowrank_left(x.matrix, 4, x.m, x.q, p);
    aps_lowrank_right(x.matrix, 4, x.m, x.p, q);
    aps_lowrank_restore(x.matrix, 4, x.p, x.q, out);
    const int direction = fegetround();
    fesetround(FE_TONEAREST);
    ok(same_bits(p, x.left, 64 * 4) && same_bits(q, x.right, 147 * 4) &&
           same_bits(out, x.restored, 64 * 147),
       "the caller's rounding direction does not matter");
    ok(direction == FE_UPWARD, "... and is left as it was");
    free(p);
    free(q);
    free(out);
    example_free(&x);
}

static void test_finite(void)
{
    static const uint32_t special[] = {0x7f800000, 0xff800000, 0x7fc00000,
                                       0xff800001};
    const struct aps_matrix matrix = {5, 37, 5 * 37};
    float *q = random_floats(37 * 3), *p = empty_floats(5 * 3);
    bool seen = true, spread = true;

    memset(q + 37, 0, 37 * sizeof *q); /* 0 times INF is NaN */
    for (size_t i = 0; i < matrix.count; i++) {
        float *m = random_floats(matrix.count);

        m[0] = 3.4e38f;
        seen &= aps_magnitude_of(m, matrix.count).finite;
        memcpy(&m[i], &special[i % 4], sizeof *m);
        seen &= !aps_magnitude_of(m, matrix.count).finite &&
                aps_magnitude_of(m, i).finite;
        aps_lowrank_left(&matrix, 3, m, q, p);
        for (size_t k = 0; k < 3; k++)
            spread &= !isfinite(p[k * 5 + i / 37]);
        free(m);
    }
    ok(seen, "an INF or a NaN is seen, wherever it is");
    ok(spread, "... and every column of a left product has one in its row");
    free(q);
    q = random_floats(10000);
    q[9999] = INFINITY;
    ok(!aps_magnitude_of(q, 10000).finite && aps_magnitude_of(q, 9999).finite &&
           aps_magnitude_of(q, 0).finite,
       "... also far back, and not where nothing is");
    free(q);
    free(p);
}

int main(void)
{
    test_variants();
    test_environment();
    test_finite();
    return done_testing();
}

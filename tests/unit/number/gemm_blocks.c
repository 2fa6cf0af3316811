/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of operands in blocks: every variant against blocks that the test
 * makes, whose elements are multiplied and summed as integers.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "unit/number/gemm_matrices.h"

#define K_MAX 1300

/* --- blocks, from their papers and specifications -------------------------- */

/* Elements are multiples of 2^-point; emax is the exponent of the largest power
 * of two among them. */
struct elements {
    const char *name;
    int block;
    int mantissa; /* bits after the leading one; fixed point: all */
    int emin;     /* floats: exponent of the smallest normal one */
    int emax;
    double max;
    bool fixed;
};
static const struct elements elements[] = {
    {"bfp7/64", 64, 7, 0, 0, 127, true},
    {"bfp3/64", 64, 3, 0, 0, 7, true},
    {"bfp15/64", 64, 15, 0, 0, 32767, true},
    {"bfp7/576", 576, 7, 0, 0, 127, true},
    {"bfp24/32", 32, 24, 0, 0, 16777215, true},
    {"mx-int8", 32, 6, 0, 0, 127. / 64, false},
    {"mx-e5m2", 32, 2, -14, 15, 57344, false},
    {"mx-e4m3fn", 32, 3, -6, 8, 448, false},
    {"mx-e3m2fn", 32, 2, -2, 4, 28, false},
    {"mx-e2m3fn", 32, 3, 0, 2, 7.5, false},
    {"mx-e2m1fn", 32, 1, 0, 2, 6, false},
};

static const struct elements *elements_of(const struct aps_format *format)
{
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        if (strcmp(elements[i].name, aps_format_name(format)) == 0)
            return &elements[i];
    }
    bail_out("no elements of %s", aps_format_name(format));
    return NULL;
}

/* Rounds x to a multiple of its step, ties to even, at most the largest. */
static double rounded_element(const struct elements *e, double x)
{
    int exponent = x == 0 || e->fixed ? 0 : ilogb(x);
    double step;

    if (exponent < e->emin || strcmp(e->name, "mx-int8") == 0)
        exponent = e->emin;
    step = e->fixed ? 1 : ldexp(1, exponent - e->mantissa);
    return copysign(fmin(rint(fabs(x) / step) * step, e->max), x);
}

/* Makes one block of n values, y times 2^scale. False if the block is NaN. */
static bool make_block(const struct elements *e, const float *x, int n,
                       double *y, int *scale)
{
    float max = 0;
    int exponent;

    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            return false;
        max = fmaxf(max, fabsf(x[i]));
    }
    if (e->fixed) { /* max < 2^exponent */
        frexp(max, &exponent);
        if (exponent < -125 || max == 0)
            exponent = -125;
        *scale = exponent - e->mantissa;
    } else {
        exponent = max == 0 ? -127 : ilogb(max) - e->emax;
        *scale = exponent < -127 ? -127 : exponent;
    }
    for (int i = 0; i < n; i++)
        y[i] = rounded_element(e, ldexp(x[i], -*scale));
    return true;
}

/* Returns the sum of a block's products. With fixed-point elements it is an
 * integer below 2^63. */
static float add_up_block(const struct elements *ea, const float *x,
                          const struct elements *eb, const float *y, int n)
{
    double left[576], right[576];
    int left_scale, right_scale;
    long double sum = 0;

    if (!make_block(ea, x, n, left, &left_scale) ||
        !make_block(eb, y, n, right, &right_scale))
        return NAN;
    for (int i = 0; i < n; i++)
        sum += (long double)left[i] * (long double)right[i];
    if ((double)sum != sum)
        bail_out("a sum of %s and %s is not exact", ea->name, eb->name);
    return (float)ldexp((double)sum, left_scale + right_scale);
}

/* Computes the product by the definition in aps.h; `to` holds C already. */
static void multiply_by_definition(const struct aps_gemm_arguments *g,
                                   float *to)
{
    const struct elements *ea = elements_of(g->format);
    const struct elements *eb =
        elements_of(g->format_b ? g->format_b : g->format);
    const struct aps_format *r = g->accumulator;
    float x[K_MAX], y[K_MAX];

    for (int64_t i = 0; i < g->m; i++) {
        for (int64_t j = 0; j < g->n; j++) {
            float *z = &to[i * g->ldc + j];
            float before = g->beta == 0 ? 0 : rounded(r, g->beta * *z);
            float s = 0, kept = 0, total = 0;
            int64_t blocks = 0;

            for (int64_t k = 0; k < g->k; k++) {
                x[k] = element(g->a, g->lda, g->transpose_a, i, k);
                y[k] = element(g->b, g->ldb, g->transpose_b, k, j);
            }
            for (int64_t k = 0; k < g->k; k += ea->block) {
                int n = (int)(g->k - k < ea->block ? g->k - k : ea->block);

                add_rounded(r, g->kahan, add_up_block(ea, x + k, eb, y + k, n),
                            &s, &kept);
                blocks++;
                if (g->chunk > 0 &&
                    (blocks % g->chunk == 0 || k + ea->block >= g->k)) {
                    total = rounded(r, total + s);
                    s = 0;
                }
            }
            s = rounded(r, g->alpha * (g->chunk > 0 ? total : s));
            if (g->k == 0)
                *z = before;
            else
                *z = g->beta == 0 ? s : rounded(r, s + before);
        }
    }
}

/* --- products ------------------------------------------------------------- */

static struct aps_gemm_arguments arguments_of(const char *format_a,
                                              const char *format_b, int64_t m,
                                              int64_t n, int64_t k)
{
    struct aps_gemm_arguments g = arguments(format_a, "fp32", m, n, k);

    g.format_b = format_b ? aps_format_get(format_b, NULL) : NULL;
    return g;
}

static const struct {
    const char *a, *b;
} pairs[] = {
    {"bfp7/64", NULL},          {"bfp3/64", NULL},
    {"bfp7/64", "bfp15/64"},    {"bfp15/64", "bfp3/64"},
    {"bfp7/576", "bfp7/576"},   {"bfp24/32", NULL},
    {"bfp24/32", "mx-e4m3fn"},  {"mx-int8", NULL},
    {"mx-e5m2", NULL},          {"mx-e4m3fn", NULL},
    {"mx-e4m3fn", "mx-e5m2"},   {"mx-e3m2fn", NULL},
    {"mx-e2m3fn", "mx-e4m3fn"}, {"mx-e2m1fn", NULL},
};

static void test_formats(enum aps_cpu cpu)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct aps_gemm_arguments g =
            arguments_of(pairs[i].a, pairs[i].b, 5, 19, 150 + (int64_t)i * 31);
        bool pass;

        fill(false);
        pass = transposes_agree(cpu, g);
        g.accumulator = aps_format_get(formats[i % FORMATS], NULL);
        g.beta = 0.3f;
        pass &= transposes_agree(cpu, g);
        g.chunk = 2;
        g.alpha = -1.7f;
        pass &= transposes_agree(cpu, g);
        g.chunk = 0;
        g.kahan = true;
        pass &= transposes_agree(cpu, g);
        ok(pass, "%s: products of %s and %s", aps_cpu_name(cpu), pairs[i].a,
           pairs[i].b ? pairs[i].b : pairs[i].a);
    }
}

/* Around the sizes of vectors, tiles and blocks; high and narrow matrices, too. */
static void test_sizes(enum aps_cpu cpu)
{
    static const int64_t sizes[][3] = {
        {1, 1, 1},   {1, 1, 0},   {4, 16, 64},   {5, 17, 63},  {3, 2, 65},
        {200, 3, 2}, {2, 300, 9}, {129, 257, 3}, {9, 31, 513}, {7, 18, 1153},
    };

    fill(false);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bool pass = true;

        for (int j = 0; j < 3; j++) {
            struct aps_gemm_arguments g = arguments_of(
                j == 1 ? "bfp7/576" : "bfp7/64", j == 2 ? "bfp15/64" : NULL,
                sizes[i][0], sizes[i][1], sizes[i][2]);

            pass &= transposes_agree(cpu, g);
            g.chunk = 3;
            pass &= transposes_agree(cpu, g);
        }
        ok(pass, "%s: %d x %d by %d x %d", aps_cpu_name(cpu), (int)sizes[i][0],
           (int)sizes[i][2], (int)sizes[i][2], (int)sizes[i][1]);
    }
}

/* A NaN reaches all results that use its block, and no others. */
static void test_specials(enum aps_cpu cpu)
{
    struct aps_gemm_arguments g = arguments_of("bfp7/64", NULL, 3, 4, 130);
    bool pass = true;

    fill(true);
    pass = transposes_agree(cpu, g);
    ok(pass, "%s: any floats", aps_cpu_name(cpu));
    fill(false);
    a[130 + 70] = INFINITY;
    ok(agrees(cpu, &g) && !isnan(c[0]) && !isnan(c[8]),
       "%s: an INF in row 1 of A leaves other rows alone", aps_cpu_name(cpu));
    ok(isnan(c[4]) && isnan(c[5]) && isnan(c[7]), "... and its own are NaN");
}

/* nvfp4, whose blocks have scales that are not powers of two: the floats of
 * aps_cast_array for a line. */
static void test_nvfp4(enum aps_cpu cpu)
{
    struct aps_gemm_arguments g = arguments_of("nvfp4", NULL, 3, 5, 100);
    float x[100], y[100];

    fill(false);
    for (int64_t i = 0; i < g.m; i++) {
        for (int64_t j = 0; j < g.n; j++) {
            float s = 0;

            for (int64_t k = 0; k < g.k; k++) {
                x[k] = element(g.a, g.lda, false, i, k);
                y[k] = element(g.b, g.ldb, false, k, j);
            }
            if (aps_cast_array(g.format, x, 100, NULL, x, NULL) < 0 ||
                aps_cast_array(g.format, y, 100, NULL, y, NULL) < 0)
                bail_out("aps_cast_array");
            for (int64_t k = 0; k < g.k; k += 16) {
                double p = 0;

                for (int64_t l = k; l < k + 16 && l < g.k; l++)
                    p += (double)x[l] * (double)y[l];
                s += (float)p;
            }
            expected[i * g.ldc + j] = s;
        }
    }
    ok(aps_gemm_on(cpu, &g, NULL) == 0 &&
           same_floats(c, expected, (size_t)(g.m * g.n)),
       "%s: products of nvfp4", aps_cpu_name(cpu));
}

/* --- meaning and errors ---------------------------------------------------- */

/* Blocks of two values of one mantissa bit: 1, 0.4 becomes 1, 0 and 3, 2
 * becomes 2, 2 (ties to even, and 3/2 is beyond the largest). */
static void test_meaning(void)
{
    static const float x[] = {1, 0.4f, 3, 2}, y[] = {1, 1, 1, 1};
    struct aps_gemm_arguments g = arguments_of("bfp1/2", "bfp7/2", 1, 1, 4);
    float z = 42;

    g.a = x;
    g.b = y;
    g.ldb = 1;
    g.c = &z;
    g.ldc = 1;
    ok(aps_gemm(&g, NULL) == 0 && z == 1 + 2 + 2,
       "two blocks of two, one after the other");
    ok(z == 5, "... are added up: %g", (double)z);
}

static void refuse(const char *name, const char *format_a, const char *format_b,
                   const char *accumulator, const char *text)
{
    struct aps_gemm_arguments g = arguments_of(format_a, format_b, 4, 5, 6);
    struct aps_error error = {.text = ""};

    g.accumulator = aps_format_get(accumulator, NULL);
    c[0] = 42;
    errno = 0;
    ok(aps_gemm(&g, &error) < 0 && errno == EINVAL && c[0] == 42,
       "%s: refused, nothing written", name);
    ok(strncmp(error.text, text, strlen(text)) == 0, "... with its cause: %s",
       error.text);
}

static void test_errors(void)
{
    refuse("blocks that differ", "bfp7/64", "bfp15/32", "fp32",
           "aps_gemm: format 'bfp7/64' is in blocks of 64 and format_b "
           "'bfp15/32' in blocks of 32: blocks of A and B run along k and must "
           "have the same length");
    refuse("blocks by floats", "bfp7/64", "e5m2", "fp32",
           "aps_gemm: format 'bfp7/64' is in blocks of 64 and format_b 'e5m2' "
           "in blocks of 1: blocks of A and B run along k and must have the "
           "same length");
    refuse("floats of two formats", "e4m3", "e5m2", "fp32",
           "aps_gemm: format_b is 'e5m2' and format 'e4m3': only formats in "
           "blocks may differ");
    refuse("sums in blocks", "bfp7/64", NULL, "bfp7/64",
           "aps_gemm: accumulator 'bfp7/64' is in blocks of 64 values");
}

int main(void)
{
    for (enum aps_cpu cpu = APS_CPU_PLAIN; cpu < APS_CPUS; cpu++) {
        if (!aps_gemm_blocks_kernel(cpu)) {
            skip(1, "this machine has no %s", aps_cpu_name(cpu));
            continue;
        }
        test_formats(cpu);
        test_sizes(cpu);
        test_specials(cpu);
        test_nvfp4(cpu);
    }
    test_meaning();
    test_errors();
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares sums and matrix products in a format on one core with plain loops
 * that round with aps_cast. Time is the thread's CPU time.
 *
 *     gemm [SIZE]        C = A x B, SIZE x SIZE; default 512
 *
 * A product counts as 2 SIZE^3 operations, roundings not counted. A sum is of 8
 * terms of 2^18 floats, in GB/s of terms read. APSMPI_CPU=plain|avx2|avx512
 * chooses the variant.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "number/format.h"
#include "base/cpu.h"

#define REPEATS 5
#define TERMS 8
#define SUM_COUNT ((size_t)1 << 18)
#define PLAIN_SIZE 128 /* size of the plain loop's product, which is slow */
#define PLAIN_COUNT 65536

static const struct {
    const char *format;
    const char *accumulator;
    bool kahan;
} cases[] = {
    {"e5m2", "e5m2", false},   {"e4m3", "e5m10", false},
    {"e5m10", "e5m10", false}, {"e5m10", "e5m10", true},
    {"e5m10", "e8m23", false}, {"e8m7", "e8m7", false},
    {"e8m7", "e8m7", true},    {"e8m23", "e8m23", false},
    {"e8m23", "e8m23", true},
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static float *random_floats(size_t n)
{
    float *x = malloc(n * sizeof *x);
    uint32_t state = 1;

    if (!x) {
        perror("gemm");
        exit(1);
    }
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (float)(int32_t)state * 0x1p-31f;
    }
    return x;
}

/* --- plain loops --------------------------------------------------------- */

static float add(const struct aps_format *format, bool kahan, float x, float s,
                 float *c)
{
    if (!kahan)
        return aps_cast(format, s + x);
    float y = aps_cast(format, x - *c);
    float t = aps_cast(format, s + y);

    *c = aps_cast(format, aps_cast(format, t - s) - y);
    return t;
}

static void plain_gemm(const struct aps_gemm_arguments *g)
{
    for (int64_t i = 0; i < g->m; i++) {
        for (int64_t j = 0; j < g->n; j++) {
            float s = 0, c = 0;

            for (int64_t k = 0; k < g->k; k++) {
                float x = aps_cast(g->format,
                                   g->a[i * g->lda + k] * g->b[k * g->ldb + j]);

                s = add(g->accumulator, g->kahan, x, s, &c);
            }
            g->c[i * g->ldc + j] = s;
        }
    }
}

static void plain_sum(const struct aps_format *format, bool kahan, size_t n,
                      const float *const x[], float *out)
{
    for (size_t i = 0; i < n; i++) {
        float s = 0, c = 0;

        for (size_t t = 0; t < TERMS; t++)
            s = add(format, kahan, x[t][i], s, &c);
        out[i] = s;
    }
}

/* --- the table ------------------------------------------------------------ */

/* Returns the seconds of the fastest of a few runs. */
static double best_gemm(struct aps_gemm_arguments g, int64_t size, bool plain)
{
    double best = 1e9;

    g.m = g.n = g.k = size;
    for (int r = 0; r < (plain ? 1 : REPEATS); r++) {
        double start = now();

        if (plain)
            plain_gemm(&g);
        else if (aps_gemm(&g, NULL) < 0)
            exit(1);
        double seconds = now() - start;
        best = seconds < best ? seconds : best;
    }
    return best;
}

static double best_sum(const struct aps_format *format, bool kahan, size_t n,
                       const float *const x[], float *out, bool plain)
{
    double best = 1e9;

    for (int r = 0; r < REPEATS; r++) {
        double start = now();

        if (plain)
            plain_sum(format, kahan, n, x, out);
        else if ((kahan ? aps_sum_kahan : aps_sum)(format, TERMS, n, x, out,
                                                   NULL) < 0)
            exit(1);
        double seconds = now() - start;
        best = seconds < best ? seconds : best;
    }
    return best;
}

static double operations(int64_t size)
{
    return 2e-9 * (double)size * (double)size * (double)size;
}

static double gigabytes(size_t n)
{
    return 1e-9 * (double)(n * TERMS * sizeof(float));
}

int main(int argc, char **argv)
{
    const int64_t size = argc > 1 ? atoi(argv[1]) : 512;
    const size_t room = size > PLAIN_SIZE ? (size_t)(size * size)
                                          : (size_t)PLAIN_SIZE * PLAIN_SIZE;
    const float *x[TERMS];
    float *a = random_floats(room), *b = random_floats(room);
    float *c = random_floats(room), *out = random_floats(SUM_COUNT);

    for (size_t t = 0; t < TERMS; t++)
        x[t] = random_floats(SUM_COUNT);
    printf("%s: products of %d x %d in GFLOP/s, sums of %d terms in GB/s, and "
           "plain loops\n",
           aps_cpu_name(aps_cpu_chosen()), (int)size, (int)size, TERMS);
    printf("  %-8s %-12s %-6s %8s %8s %8s %8s %8s %8s\n", "format",
           "accumulator", "kahan", "product", "plain", "ratio", "sum", "plain",
           "ratio");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct aps_gemm_arguments g = {
            .size = sizeof g,
            .alpha = 1,
            .kahan = cases[i].kahan,
            .a = a,
            .lda = size,
            .b = b,
            .ldb = size,
            .c = c,
            .ldc = size,
        };

        g.format = aps_format_get(cases[i].format, NULL);
        g.accumulator = aps_format_get(cases[i].accumulator, NULL);
        if (!g.format || !g.accumulator)
            return 1;
        double product = operations(size) / best_gemm(g, size, false);
        g.lda = g.ldb = g.ldc = PLAIN_SIZE;
        double plain_product =
            operations(PLAIN_SIZE) / best_gemm(g, PLAIN_SIZE, true);
        double sum = gigabytes(SUM_COUNT) /
                     best_sum(g.accumulator, g.kahan, SUM_COUNT, x, out, false);
        double plain_sums =
            gigabytes(PLAIN_COUNT) /
            best_sum(g.accumulator, g.kahan, PLAIN_COUNT, x, out, true);

        printf("  %-8s %-12s %-6s %8.2f %8.3f %7.0fx %8.2f %8.3f %7.0fx\n",
               cases[i].format, cases[i].accumulator, g.kahan ? "on" : "off",
               product, plain_product, product / plain_product, sum, plain_sums,
               sum / plain_sums);
    }
    for (size_t t = 0; t < TERMS; t++)
        free((float *)x[t]);
    free(a);
    free(b);
    free(c);
    free(out);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "product.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/message.h"
#include "base/plural.h"
#include "rules/gemm.h"
#include "setting.h"

/* Products of the process so far, and those that a rule has rewritten. */
static atomic_long products, rewritten;

/* Returns false for a letter that BLAS does not know. */
static bool read_transpose(char letter, bool *transpose)
{
    switch (letter) {
    case 'N':
    case 'n':
        *transpose = false;
        return true;
    case 'T':
    case 't':
    case 'C': /* for real numbers, like 'T' */
    case 'c':
        *transpose = true;
        return true;
    default:
        return false;
    }
}

bool aps_blas_product_compute(const struct aps_blas_product *p)
{
    const struct aps_policy_gemm *rules = aps_gemm_setting(), *rule;
    struct aps_cast_options cast = APS_CAST_OPTIONS_INIT;
    struct aps_gemm_arguments g;
    struct aps_error error;
    bool transpose_a, transpose_b;
    long number;

    if (!rules || !read_transpose(p->transpose_a, &transpose_a) ||
        !read_transpose(p->transpose_b, &transpose_b))
        return false;
    /* A thread that sees the number also sees what aps_gemm_setting has read. */
    number = atomic_fetch_add_explicit(&products, 1, memory_order_release);
    rule = aps_gemm_rule(rules, number, (long)p->m, (long)p->n, (long)p->k);
    if (!rule)
        return false;
    cast.rounding = rule->rounding;
    cast.seed = rule->seed;
    cast.rank = aps_gemm_rank();
    cast.layer = (uint32_t)((uint64_t)number >> 32);
    cast.step = (uint32_t)number;
    g = (struct aps_gemm_arguments){
        .size = sizeof g,
        .format = &rule->format,
        .format_b = &rule->format_b,
        .accumulator = &rule->accumulator,
        .kahan = rule->kahan,
        .chunk = rule->chunk,
        .transpose_a = transpose_a,
        .transpose_b = transpose_b,
        .m = p->m,
        .n = p->n,
        .k = p->k,
        .alpha = p->alpha,
        .a = p->a,
        .lda = p->lda,
        .b = p->b,
        .ldb = p->ldb,
        .beta = p->beta,
        .c = p->c,
        .ldc = p->ldc,
        .cast = &cast,
    };
    if (p->column_major) {
        /* A matrix stored by columns is the transpose of the one stored by
         * rows, and C' = op(B)' op(A)'. */
        struct aps_gemm_arguments by_columns = g;

        g.format = by_columns.format_b;
        g.format_b = by_columns.format;
        g.m = by_columns.n;
        g.n = by_columns.m;
        g.a = by_columns.b;
        g.lda = by_columns.ldb;
        g.transpose_a = by_columns.transpose_b;
        g.b = by_columns.a;
        g.ldb = by_columns.lda;
        g.transpose_b = by_columns.transpose_a;
    }
    if (aps_gemm(&g, &error) == 0) {
        atomic_fetch_add_explicit(&rewritten, 1, memory_order_release);
        return true;
    }
    if (errno == EINVAL)
        return false;
    /* The next BLAS would return other numbers. */
    aps_message(-1, "%s", error.text);
    abort();
}

__attribute__((destructor)) static void summarize(void)
{
    const long done = atomic_load_explicit(&rewritten, memory_order_acquire);
    const long all = atomic_load_explicit(&products, memory_order_acquire);

    if (all > 0 && aps_gemm_summary())
        aps_message(-1, "%ld product%s of matrices, %ld rewritten", all,
                    aps_plural((size_t)all), done);
}

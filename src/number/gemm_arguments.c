/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of a product, checked. */
#include "config.h"

#include "number/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "number/struct_version.h"

/* One matrix as it is stored. */
struct matrix {
    const char *name;
    const float *x;
    int64_t rows;
    int64_t columns;
    int64_t ld;
    bool used; /* read or written at all */
};

static int check_matrix(const char *who, const struct matrix *matrix,
                        struct aps_error *error)
{
    int64_t elements;

    if (matrix->ld < 1 || matrix->ld < matrix->columns)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: ld%s is %" PRId64 " and must be at least "
                             "%" PRId64 ", the length of a row",
                             who, matrix->name, matrix->ld,
                             matrix->columns > 1 ? matrix->columns : 1);
    if (!matrix->used || matrix->rows == 0 || matrix->columns == 0)
        return 0;
    if (!matrix->x)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: %s is NULL for %" PRId64 " x %" PRId64
                             " elements",
                             who, matrix->name, matrix->rows, matrix->columns);
    if (__builtin_mul_overflow(matrix->rows, matrix->ld, &elements) ||
        elements > (int64_t)(PTRDIFF_MAX / sizeof(float)))
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: %s is beyond memory: %" PRId64
                             " rows of %" PRId64 " floats",
                             who, matrix->name, matrix->rows, matrix->ld);
    return 0;
}

static int check_size(const char *who, const char *name, int64_t size,
                      struct aps_error *error)
{
    if (size < 0)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: %s is negative: %" PRId64, who, name, size);
    return 0;
}

/* The formats of A and B: two floats' formats alike, or two in blocks of the same
 * length. *b is that of B. */
static int check_formats(const char *who, const struct aps_format *a,
                         const struct aps_format **b, struct aps_error *error)
{
    if (aps_check_operand(who, "format", a, error) < 0)
        return -1;
    if (!*b)
        *b = a;
    if (aps_check_operand(who, "format_b", *b, error) < 0)
        return -1;
    if (a->block != (*b)->block)
        return aps_error_set(
            error, EINVAL, NULL, 0, 0,
            "%s: format '%s' is in blocks of %d and format_b "
            "'%s' in blocks of %d: blocks of A and B run along "
            "k and must have the same length",
            who, a->name, a->block, (*b)->name, (*b)->block);
    if (a->block == 1 && strcmp(a->name, (*b)->name) != 0)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: format_b is '%s' and format '%s': only "
                             "formats in blocks may differ",
                             who, (*b)->name, a->name);
    return 0;
}

int aps_check_gemm(const char *who, const struct aps_gemm_arguments *given,
                   struct aps_gemm_arguments *arguments,
                   struct aps_error *error)
{
    static const struct aps_gemm_arguments defaults = APS_GEMM_ARGUMENTS_INIT;
    static const struct aps_struct_version kind = {
        .name = "aps_gemm_arguments",
        .init = "APS_GEMM_ARGUMENTS_INIT",
        .first = offsetof(struct aps_gemm_arguments, chunk),
        .size = sizeof defaults,
        .defaults = &defaults,
    };
    struct aps_gemm_arguments result, *g = &result;

    if (!given)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: the arguments are NULL", who);
    if (aps_struct_version_read(who, &kind, given, g, error) < 0)
        return -1;
    bool output = g->m > 0 && g->n > 0;
    bool product = output && g->k > 0 && g->alpha != 0;
    struct matrix a = {"a", g->a, g->m, g->k, g->lda, product};
    struct matrix b = {"b", g->b, g->k, g->n, g->ldb, product};
    struct matrix c = {"c", g->c, g->m, g->n, g->ldc, output};

    if (g->transpose_a) {
        a.rows = g->k;
        a.columns = g->m;
    }
    if (g->transpose_b) {
        b.rows = g->n;
        b.columns = g->k;
    }
    if (check_formats(who, g->format, &g->format_b, error) < 0 ||
        aps_check_format(who, "accumulator", g->accumulator, error) < 0 ||
        check_size(who, "m", g->m, error) < 0 ||
        check_size(who, "n", g->n, error) < 0 ||
        check_size(who, "k", g->k, error) < 0 ||
        check_size(who, "chunk", g->chunk, error) < 0 ||
        check_matrix(who, &a, error) < 0 || check_matrix(who, &b, error) < 0 ||
        check_matrix(who, &c, error) < 0)
        return -1;
    if (product && (g->c == g->a || g->c == g->b))
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: c is %s, which it must not overlap", who,
                             g->c == g->a ? "a" : "b");
    if (g->kahan && g->chunk > 0)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: a sum is by Kahan or in chunks, not both: "
                             "chunk is %" PRId64,
                             who, g->chunk);
    *arguments = result;
    return 0;
}

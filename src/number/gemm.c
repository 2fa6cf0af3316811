/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "number/gemm.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fpenv.h"
#include "base/size_min.h"
#include "number/check.h"
#include "number/gemm_kernel.h"
#include "number/gemm_lines.h"
#include "number/struct_version.h"

#define WHO "aps_gemm"

/* --- arguments ----------------------------------------------------------- */

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

/* Checks the formats of A and B: equal formats of floats, or two in blocks of
 * the same length. *b becomes the format of B. */
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

/* *cast becomes the completed options of A and B. */
static int check_cast(const struct aps_gemm_arguments *g,
                      struct aps_cast_options *cast, struct aps_error *error)
{
    if (aps_check_options(WHO, g->format, g->cast, cast, error) < 0 ||
        aps_check_options(WHO, g->format_b, g->cast, cast, error) < 0 ||
        aps_check_rounding(WHO, g->format, cast->rounding, error) < 0 ||
        aps_check_rounding(WHO, g->format_b, cast->rounding, error) < 0)
        return -1;
    if (cast->rounding != APS_ROUND_NEAREST &&
        cast->rounding != APS_ROUND_STOCHASTIC)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             WHO ": operands are rounded to nearest or "
                                 "stochastically, not by rounding %d",
                             (int)cast->rounding);
    if (cast->scale_exponent != 0)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             WHO ": operands have no scale: the scale exponent "
                                 "is %" PRId32 " and must be 0",
                             cast->scale_exponent);
    return 0;
}

/* --- blocks -------------------------------------------------------------- */

/* Elements (i, j) at x[i * down + j * right]: a transpose swaps the two. */
struct view {
    const float *x;
    size_t down;
    size_t right;
};

/* A, or the transpose of B: rows along k, and how they are rounded. */
struct operand {
    struct view x;
    const struct aps_format *format;
    struct aps_cast_options cast; /* those for row 0 */
};

/* The product that is computed, perhaps the transpose of the requested one. */
struct product {
    struct operand a;
    struct operand b;
    struct view c;
    float *out; /* c.x, to be written */
    size_t m;
    size_t n;
    size_t k;
    float alpha;
    float beta;
};

static size_t whole_vectors(size_t n)
{
    return (n + APS_GEMM_VECTOR - 1) / APS_GEMM_VECTOR * APS_GEMM_VECTOR;
}

static struct view transposed(struct view view)
{
    return (struct view){view.x, view.right, view.down};
}

static struct view view_init(const float *x, int64_t ld, bool transpose)
{
    struct view view = {x, (size_t)ld, 1};

    return transpose ? transposed(view) : view;
}

/* Vectors run along columns: if C has many rows and few columns, compute its
 * transpose. The bits are the same, because a product does not depend on the
 * order of its factors and the sums keep their order. */
static void product_init(const struct aps_gemm_arguments *g,
                         const struct aps_cast_options *cast,
                         struct product *product)
{
    struct product p = {
        .a = {view_init(g->a, g->lda, g->transpose_a), g->format, *cast},
        .b = {view_init(g->b, g->ldb, !g->transpose_b), g->format_b, *cast},
        .c = view_init(g->c, g->ldc, false),
        .out = g->c,
        .m = (size_t)g->m,
        .n = (size_t)g->n,
        .k = g->alpha == 0 ? 0 : (size_t)g->k,
        .alpha = g->alpha,
        .beta = g->beta,
    };

    p.b.cast.stage++;
    if (p.n < APS_GEMM_COLUMNS && p.n < p.m) {
        struct product high = p;

        p.a = high.b;
        p.b = high.a;
        p.c = transposed(high.c);
        p.m = high.n;
        p.n = high.m;
    }
    *product = p;
}

/* to[rows][pitch] = the part of the view that starts at (i, j); zeros after its
 * columns. */
static void pack(const struct view *view, size_t i, size_t j, size_t rows,
                 size_t columns, size_t pitch, float *to)
{
    for (size_t r = 0; r < rows; r++) {
        const float *from = view->x + (i + r) * view->down + j * view->right;

        for (size_t s = 0; s < columns; s++)
            to[r * pitch + s] = from[s * view->right];
        for (size_t s = columns; s < pitch; s++)
            to[r * pitch + s] = 0;
    }
}

/* Writes the finished sums of the block at (i, j) to C. */
static void store(const struct product *p, const struct aps_gemm_block *block,
                  size_t i, size_t j, size_t columns)
{
    const struct aps_quantizer *q = &block->sum;
    const float *sums = block->chunk > 0 ? block->c : block->s;

    for (size_t r = 0; r < block->rows; r++) {
        for (size_t s = 0; s < columns; s++) {
            size_t at = (i + r) * p->c.down + (j + s) * p->c.right;
            float y = 0;

            if (p->k > 0)
                y = aps_quantize(q, p->alpha * sums[r * block->columns + s]);
            if (p->beta != 0) {
                float before = aps_quantize(q, p->beta * p->c.x[at]);

                y = p->k > 0 ? aps_quantize(q, y + before) : before;
            }
            p->out[at] = y;
        }
    }
}

/* Returns the depth of a block, in whole groups. */
static size_t depth_of(const struct aps_gemm_block *block)
{
    const size_t groups = APS_GEMM_DEPTH / block->group;

    return (groups > 0 ? groups : 1) * block->group;
}

/* Computes one block of C from beginning to end. */
static void compute_block(const struct product *p, aps_gemm_fn kernel,
                          struct aps_gemm_block *block, size_t i, size_t j)
{
    size_t columns = aps_size_min(APS_GEMM_COLUMNS, p->n - j);
    const struct view b = transposed(p->b.x);

    block->rows = aps_size_min(APS_GEMM_ROWS, p->m - i);
    block->columns = whole_vectors(columns);
    size_t size = block->rows * block->columns;

    memset(block->s, 0, size * sizeof *block->s);
    if (block->kahan || block->chunk > 0)
        memset(block->c, 0, size * sizeof *block->c);
    for (size_t k = 0; k < p->k; k += block->depth) {
        block->depth = aps_size_min(depth_of(block), p->k - k);
        block->at = block->chunk > 0 ? k / block->group % block->chunk : 0;
        block->last = k + block->depth == p->k;
        pack(&p->a.x, i, k, block->rows, block->depth, block->depth, block->a);
        pack(&b, k, j, block->depth, columns, block->columns, block->b);
        kernel(block);
    }
    store(p, block, i, j, columns);
}

/* Allocates memory for the largest block of the product, as one piece that
 * starts at block->a. */
static float *allocate(const struct product *p, struct aps_gemm_block *block)
{
    size_t rows = aps_size_min(APS_GEMM_ROWS, p->m);
    size_t columns = whole_vectors(aps_size_min(APS_GEMM_COLUMNS, p->n));
    size_t depth = aps_size_min(depth_of(block), p->k);
    size_t a = whole_vectors(rows * depth);
    size_t total = a + depth * columns + 2 * rows * columns;
    float *room =
        aligned_alloc(APS_GEMM_VECTOR * sizeof *room, total * sizeof *room);

    if (!room)
        return NULL;
    block->a = room;
    block->b = block->a + a;
    block->s = block->b + depth * columns;
    block->c = block->s + rows * columns;
    return room;
}

static void compute(const struct product *p, aps_gemm_fn kernel,
                    struct aps_gemm_block *block)
{
    for (size_t j = 0; j < p->n; j += APS_GEMM_COLUMNS) {
        for (size_t i = 0; i < p->m; i += APS_GEMM_ROWS)
            compute_block(p, kernel, block, i, j);
    }
}

/* Rounds rows of an operand from `first` on, and writes them to y, as the view
 * `to` of it. */
static int cast_strip(const struct operand *operand, size_t first, size_t count,
                      size_t length, const struct view *to, float *y,
                      float *room, struct aps_error *error)
{
    const struct view *view = &operand->x;
    const struct aps_gemm_lines lines = {count, length, view->down,
                                         view->right};
    const struct aps_gemm_lines rounded = {count, length, to->down, to->right};
    struct aps_cast_options cast = operand->cast;

    cast.offset += first * aps_gemm_line_elements(operand->format, length);
    return aps_gemm_cast_lines(operand->format, &cast, &lines,
                               view->x + first * view->down, &rounded, y, room,
                               error);
}

/* Computes the blocks of C one after the other, from rows and columns that are
 * rounded along all of k, as the format's blocks and the random numbers run. */
static int compute_from_lines(const struct product *p, aps_gemm_fn kernel,
                              struct aps_gemm_block *block,
                              struct aps_error *error)
{
    const size_t rows = aps_size_min(APS_GEMM_ROWS, p->m);
    const size_t columns = aps_size_min(APS_GEMM_COLUMNS, p->n);
    struct product part = *p;
    int rc = 0;
    float *a = calloc(rows, (p->k + 1) * sizeof *a);
    float *b = calloc(columns, (p->k + 1) * sizeof *b);
    float *line = calloc(aps_gemm_lines_room(p->k), sizeof *line);

    part.a.x = (struct view){a, p->k, 1};
    part.b.x = (struct view){b, 1, columns};
    if (!a || !b || !line)
        rc = aps_error_set(error, ENOMEM, NULL, 0, 0, WHO ": out of memory");
    for (size_t j = 0; j < p->n && rc == 0; j += columns) {
        part.n = aps_size_min(columns, p->n - j);
        rc = cast_strip(&p->b, j, part.n, p->k, &part.b.x, b, line, error);
        for (size_t i = 0; i < p->m && rc == 0; i += rows) {
            part.m = aps_size_min(rows, p->m - i);
            part.c.x = p->c.x + i * p->c.down + j * p->c.right;
            part.out = p->out + i * p->c.down + j * p->c.right;
            rc = cast_strip(&p->a, i, part.m, p->k, &part.a.x, a, line, error);
            if (rc == 0)
                compute_block(&part, kernel, block, 0, 0);
        }
    }
    free(a);
    free(b);
    free(line);
    return rc;
}

int aps_gemm_on(enum aps_cpu cpu, const struct aps_gemm_arguments *given,
                struct aps_error *error)
{
    struct aps_gemm_arguments g;
    struct aps_cast_options cast;
    struct aps_gemm_block block;
    struct product product;
    aps_gemm_fn kernel;
    fenv_t saved;
    float *room;
    int rc = 0;

    if (aps_check_gemm(WHO, given, &g, error) < 0 ||
        check_cast(&g, &cast, error) < 0)
        return -1;
    if (g.m == 0 || g.n == 0)
        return 0;
    product_init(&g, &cast, &product);
    block.group = (size_t)g.format->block;
    room = allocate(&product, &block);
    if (!room)
        return aps_error_set(error, ENOMEM, NULL, 0, 0, WHO ": out of memory");

    aps_fpenv_enter(&saved);
    if (block.group == 1)
        block.product = aps_quantizer_init(g.format);
    block.sum = aps_quantizer_init(g.accumulator);
    block.kahan = g.kahan;
    block.chunk = (size_t)g.chunk;
    kernel =
        block.group > 1 ? aps_gemm_blocks_kernel(cpu) : aps_gemm_kernel(cpu);
    if (product.k > 0 &&
        (block.group > 1 || cast.rounding != APS_ROUND_NEAREST))
        rc = compute_from_lines(&product, kernel, &block, error);
    else
        compute(&product, kernel, &block);
    aps_fpenv_leave(&saved);
    free(room);
    return rc;
}

int aps_gemm(const struct aps_gemm_arguments *arguments,
             struct aps_error *error)
{
    return aps_gemm_on(aps_cpu_chosen(), arguments, error);
}

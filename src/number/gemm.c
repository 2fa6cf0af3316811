/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "number/gemm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fpenv.h"
#include "base/size_min.h"
#include "number/check.h"
#include "number/gemm_lines.h"

#define WHO "aps_gemm"

/* --- blocks -------------------------------------------------------------- */

/* Elements (i, j) at x[i * down + j * right]: a transpose swaps the two. */
struct view {
    const float *x;
    size_t down;
    size_t right;
};

/* The product that is computed; perhaps the transpose of the one asked for. */
struct product {
    struct view a;
    struct view b;
    struct view c;
    float *out; /* c.x, to be written */
    size_t m;
    size_t n;
    size_t k;
    float alpha;
    float beta;
    const struct aps_format *format_a;
    const struct aps_format *format_b;
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

/*
 * Columns are what vectors hold: where C is high and narrow, compute its
 * transpose. The bits are the same, since a product has no order and the sums
 * keep theirs.
 */
static void product_init(const struct aps_gemm_arguments *g,
                         struct product *product)
{
    struct product p = {
        .a = view_init(g->a, g->lda, g->transpose_a),
        .b = view_init(g->b, g->ldb, g->transpose_b),
        .c = view_init(g->c, g->ldc, false),
        .out = g->c,
        .m = (size_t)g->m,
        .n = (size_t)g->n,
        .k = g->alpha == 0 ? 0 : (size_t)g->k,
        .alpha = g->alpha,
        .beta = g->beta,
        .format_a = g->format,
        .format_b = g->format_b,
    };

    if (p.n < APS_GEMM_COLUMNS && p.n < p.m) {
        struct product high = p;

        p.a = transposed(high.b);
        p.b = transposed(high.a);
        p.c = transposed(high.c);
        p.m = high.n;
        p.n = high.m;
        p.format_a = high.format_b;
        p.format_b = high.format_a;
    }
    *product = p;
}

/* to[rows][pitch] = the part of the view that starts at (i, j); zeros behind
 * its columns. */
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

/* The finished sums of the block at (i, j) to C. */
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

/* Whole groups. */
static size_t depth_of(const struct aps_gemm_block *block)
{
    const size_t groups = APS_GEMM_DEPTH / block->group;

    return (groups > 0 ? groups : 1) * block->group;
}

/* One block of C from beginning to end. */
static void compute_block(const struct product *p, aps_gemm_fn kernel,
                          struct aps_gemm_block *block, size_t i, size_t j)
{
    size_t columns = aps_size_min(APS_GEMM_COLUMNS, p->n - j);

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
        pack(&p->a, i, k, block->rows, block->depth, block->depth, block->a);
        pack(&p->b, k, j, block->depth, columns, block->columns, block->b);
        kernel(block);
    }
    store(p, block, i, j, columns);
}

/* Room for the largest block of the product: one piece, which block->a begins.
 */
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

/* Rows of A, or columns of B by its transpose, from `first` on, rounded; as the
 * view `to` of lines of the same length. */
static int cast_strip(const struct aps_format *format, const struct view *view,
                      size_t first, size_t count, size_t length,
                      const struct view *to, float *y, float *room,
                      struct aps_error *error)
{
    const struct aps_gemm_lines lines = {count, length, view->down,
                                         view->right};
    const struct aps_gemm_lines rounded = {count, length, to->down, to->right};

    return aps_gemm_cast_lines(format, &lines, view->x + first * view->down,
                               &rounded, y, room, error);
}

/* A block of C after the other, from rows and columns that are rounded over all
 * of k, where blocks run. */
static int compute_in_blocks(const struct product *p, aps_gemm_fn kernel,
                             struct aps_gemm_block *block,
                             struct aps_error *error)
{
    const struct view columns_of_b = transposed(p->b);
    const size_t rows = aps_size_min(APS_GEMM_ROWS, p->m);
    const size_t columns = aps_size_min(APS_GEMM_COLUMNS, p->n);
    struct product part = *p;
    int rc = 0;
    float *a = calloc(rows, (p->k + 1) * sizeof *a);
    float *b = calloc(columns, (p->k + 1) * sizeof *b);
    float *line = calloc(aps_gemm_lines_room(p->k), sizeof *line);

    part.a = (struct view){a, p->k, 1};
    part.b = (struct view){b, columns, 1};
    if (!a || !b || !line)
        rc = aps_error_set(error, ENOMEM, NULL, 0, 0, WHO ": out of memory");
    for (size_t j = 0; j < p->n && rc == 0; j += columns) {
        const struct view to = transposed(part.b);

        part.n = aps_size_min(columns, p->n - j);
        rc = cast_strip(p->format_b, &columns_of_b, j, part.n, p->k, &to, b,
                        line, error);
        for (size_t i = 0; i < p->m && rc == 0; i += rows) {
            part.m = aps_size_min(rows, p->m - i);
            part.c.x = p->c.x + i * p->c.down + j * p->c.right;
            part.out = p->out + i * p->c.down + j * p->c.right;
            rc = cast_strip(p->format_a, &p->a, i, part.m, p->k, &part.a, a,
                            line, error);
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
    struct aps_gemm_block block;
    struct product product;
    fenv_t saved;
    float *room;
    int rc = 0;

    if (aps_check_gemm(WHO, given, &g, error) < 0)
        return -1;
    if (g.m == 0 || g.n == 0)
        return 0;
    product_init(&g, &product);
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
    if (block.group > 1 && product.k > 0)
        rc = compute_in_blocks(&product, aps_gemm_blocks_kernel(cpu), &block,
                               error);
    else
        compute(&product, aps_gemm_kernel(cpu), &block);
    aps_fpenv_leave(&saved);
    free(room);
    return rc;
}

int aps_gemm(const struct aps_gemm_arguments *arguments,
             struct aps_error *error)
{
    return aps_gemm_on(aps_cpu_chosen(), arguments, error);
}

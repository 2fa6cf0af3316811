/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "number/gemm_kernel.h"

#include <string.h>

#include "number/gemm_sums.h"

/* Rows that share a row of B in the L1 cache; rows of a tile of sums that stays
 * in registers while a block of terms is added. */
#define STRIP 4

APS_INLINE void round_inputs(const struct aps_quantizer *quantizer, size_t n,
                             float *x)
{
    const struct aps_quantizer q = *quantizer;

    for (size_t i = 0; i < n; i++)
        x[i] = aps_quantize(&q, x[i]);
}

/* Adds the products of one element of A with a row of B. */
APS_INLINE void add_products(const struct aps_quantizer *product,
                             const struct aps_quantizer *sum,
                             bool product_exact, bool sum_exact, bool kahan,
                             float a, const float *restrict b, size_t columns,
                             float *restrict s, float *restrict c)
{
    for (size_t j = 0; j < columns; j++) {
        float x = aps_quantize_step(product, product_exact, a * b[j]);

        aps_gemm_add(sum, sum_exact, kahan, x, j, s, c);
    }
}

APS_INLINE void block_body(const struct aps_gemm_block *block,
                           bool product_exact, bool sum_exact, bool kahan)
{
    const struct aps_quantizer product = block->product;
    const struct aps_quantizer sum = block->sum;
    const size_t columns = block->columns / APS_GEMM_VECTOR * APS_GEMM_VECTOR;
    const size_t depth = block->depth;
    const size_t chunk = block->chunk;
    const float *a = block->a;

    for (size_t first = 0; first < block->rows; first += STRIP) {
        size_t last = first + STRIP < block->rows ? first + STRIP : block->rows;
        size_t at = block->at;

        for (size_t k = 0; k < depth; k++) {
            for (size_t i = first; i < last; i++)
                add_products(&product, &sum, product_exact, sum_exact, kahan,
                             a[i * depth + k], block->b + k * columns, columns,
                             block->s + i * columns,
                             kahan ? block->c + i * columns : NULL);
            if (kahan || chunk == 0 ||
                (++at < chunk && !(block->last && k == depth - 1)))
                continue;
            for (size_t i = first; i < last; i++)
                aps_gemm_add_chunk(&sum, sum_exact, columns,
                                   block->s + i * columns,
                                   block->c + i * columns);
            at = 0;
        }
    }
}

/* e8m23 has a loop of its own, because it needs no rounding. */
APS_INLINE void block_of_formats(const struct aps_gemm_block *block, bool kahan)
{
    if (block->product.exact && block->sum.exact)
        block_body(block, true, true, kahan);
    else if (block->product.exact)
        block_body(block, true, false, kahan);
    else if (block->sum.exact)
        block_body(block, false, true, kahan);
    else
        block_body(block, false, false, kahan);
}

#define VARIANT(arg, CPU, name, target)                                        \
    target static void gemm_##name(const struct aps_gemm_block *block)         \
    {                                                                          \
        round_inputs(&block->product, block->rows * block->depth, block->a);   \
        round_inputs(&block->product, block->depth * block->columns,           \
                     block->b);                                                \
        if (block->kahan)                                                      \
            block_of_formats(block, true);                                     \
        else                                                                   \
            block_of_formats(block, false);                                    \
    }

APS_CPU_ROWS(VARIANT, )

aps_gemm_fn aps_gemm_kernel(enum aps_cpu cpu)
{
    static const aps_gemm_fn kernels[APS_CPUS] = APS_CPU_TABLE(gemm_);

    return aps_cpu_supported(cpu) ? kernels[cpu] : NULL;
}

/* --- formats in blocks ---------------------------------------------------- */

/*
 * t[STRIP][columns], a tile of two vectors: the sum of `depth` terms of a
 * block, in FP64 from 0 in their order. The products of floats are exact in
 * FP64, so that it does not matter whether a compiler fuses them with the sums.
 * Vectors are as long as those of the instruction set, because longer ones
 * would not stay in registers.
 */
#define TILE(lanes)                                                            \
    typedef float floats##lanes                                                \
        __attribute__((vector_size((lanes) * sizeof(float))));                 \
    typedef double doubles##lanes                                              \
        __attribute__((vector_size((lanes) * sizeof(double))));                \
    APS_INLINE void add_up_tile##lanes(const float *const a[STRIP],            \
                                       const float *b, size_t depth,           \
                                       size_t columns, float *t)               \
    {                                                                          \
        doubles##lanes s[STRIP][2] = {{{0}}};                                  \
                                                                               \
        for (size_t k = 0; k < depth; k++) {                                   \
            for (int h = 0; h < 2; h++) {                                      \
                floats##lanes x;                                               \
                doubles##lanes y;                                              \
                                                                               \
                memcpy(&x, b + k * columns + h * (lanes), sizeof x);           \
                y = __builtin_convertvector(x, doubles##lanes);                \
                for (int i = 0; i < STRIP; i++)                                \
                    s[i][h] += y * (double)a[i][k];                            \
            }                                                                  \
        }                                                                      \
        for (int i = 0; i < STRIP; i++) {                                      \
            for (int h = 0; h < 2; h++) {                                      \
                const floats##lanes x =                                        \
                    __builtin_convertvector(s[i][h], floats##lanes);           \
                                                                               \
                memcpy(t + (size_t)i * columns + h * (lanes), &x, sizeof x);   \
            }                                                                  \
        }                                                                      \
    }
TILE(2)
TILE(4)
TILE(8)

/* t[STRIP][columns] = the sums of `depth` terms of a block from k on, in the
 * rows from `first` on. A row beyond the last repeats the last. */
APS_INLINE void add_up(const struct aps_gemm_block *block, size_t first,
                       size_t k, size_t depth, size_t columns, int lanes,
                       float *t)
{
    const float *a[STRIP];

    for (size_t i = 0; i < STRIP; i++) {
        size_t row = first + i < block->rows ? first + i : block->rows - 1;

        a[i] = block->a + row * block->depth + k;
    }
    for (size_t j = 0; j < columns; j += 2 * (size_t)lanes) {
        const float *b = block->b + k * columns + j;

        if (lanes == 8)
            add_up_tile8(a, b, depth, columns, t + j);
        else if (lanes == 4)
            add_up_tile4(a, b, depth, columns, t + j);
        else
            add_up_tile2(a, b, depth, columns, t + j);
    }
}

APS_INLINE void blocks_body(const struct aps_gemm_block *block, bool exact,
                            bool kahan, int lanes)
{
    const struct aps_quantizer sum = block->sum;
    const size_t columns = block->columns / APS_GEMM_VECTOR * APS_GEMM_VECTOR;
    const size_t depth = block->depth;
    const size_t chunk = block->chunk;
    float t[STRIP * APS_GEMM_COLUMNS];

    for (size_t first = 0; first < block->rows; first += STRIP) {
        size_t last = first + STRIP < block->rows ? first + STRIP : block->rows;
        size_t at = block->at;

        for (size_t k = 0, length; k < depth; k += length) {
            length = block->group < depth - k ? block->group : depth - k;
            add_up(block, first, k, length, columns, lanes, t);
            for (size_t i = first; i < last; i++) {
                for (size_t j = 0; j < columns; j++)
                    aps_gemm_add(&sum, exact, kahan,
                                 t[(i - first) * columns + j], j,
                                 block->s + i * columns,
                                 kahan ? block->c + i * columns : NULL);
            }
            if (kahan || chunk == 0 ||
                (++at < chunk && !(block->last && k + length == depth)))
                continue;
            for (size_t i = first; i < last; i++)
                aps_gemm_add_chunk(&sum, exact, columns, block->s + i * columns,
                                   block->c + i * columns);
            at = 0;
        }
    }
}

enum { LANES_PLAIN = 2, LANES_NEON = 2, LANES_AVX2 = 4, LANES_AVX512 = 8 };

#define BLOCKS_VARIANT(arg, CPU, name, target)                                 \
    target static void gemm_blocks_##name(const struct aps_gemm_block *block)  \
    {                                                                          \
        if (block->kahan && block->sum.exact)                                  \
            blocks_body(block, true, true, LANES_##CPU);                       \
        else if (block->kahan)                                                 \
            blocks_body(block, false, true, LANES_##CPU);                      \
        else if (block->sum.exact)                                             \
            blocks_body(block, true, false, LANES_##CPU);                      \
        else                                                                   \
            blocks_body(block, false, false, LANES_##CPU);                     \
    }

APS_CPU_ROWS(BLOCKS_VARIANT, )

aps_gemm_fn aps_gemm_blocks_kernel(enum aps_cpu cpu)
{
    static const aps_gemm_fn kernels[APS_CPUS] = APS_CPU_TABLE(gemm_blocks_);

    return aps_cpu_supported(cpu) ? kernels[cpu] : NULL;
}

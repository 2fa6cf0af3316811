/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "number/gemm.h"
#include "number/gemm_sums.h"

/* Rows that share a row of B while it is in the L1 cache. */
#define STRIP 4

APS_INLINE void round_inputs(const struct aps_quantizer *quantizer, size_t n,
                             float *x)
{
    const struct aps_quantizer q = *quantizer;

    for (size_t i = 0; i < n; i++)
        x[i] = aps_quantize(&q, x[i]);
}

/* The products of one element of A with a row of B. */
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

/* e8m23 has a loop of its own: nothing is left to round there. */
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

#define VARIANT(name, target)                                                  \
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

VARIANT(plain, )
#if APS_CPU_X86
VARIANT(avx2, APS_TARGET_AVX2)
VARIANT(avx512, APS_TARGET_AVX512)
#endif

aps_gemm_fn aps_gemm_kernel(enum aps_cpu cpu)
{
    static const aps_gemm_fn kernels[APS_CPUS] = {
        [APS_CPU_PLAIN] = gemm_plain,
#if APS_CPU_X86
        [APS_CPU_AVX2] = gemm_avx2,
        [APS_CPU_AVX512] = gemm_avx512,
#endif
    };

    return aps_cpu_supported(cpu) ? kernels[cpu] : NULL;
}

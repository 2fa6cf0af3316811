/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work of one thread of the C API's kernels: casts, sums and matrix products,
 * for host and device like in cuda/threads.h. A unit is an element of the result,
 * or some elements of a column of C.
 */
#ifndef APS_CUDA_SUMS_H
#define APS_CUDA_SUMS_H

#include "number/format.h"
#include "cuda/aps_cuda.h"
#include "cuda/decode.h"
#include "cuda/encode.h"
#include "number/quantize.h"

/* --- casts --------------------------------------------------------------- */

struct aps_cast_work {
    struct aps_encode_work encode; /* x, n, rounding */
    struct aps_decode_work decode; /* y */
    bool any;                      /* any rounding and scaling */
};

APS_INLINE struct aps_cast_work
aps_cast_work_init(const struct aps_format *format, const float *x, size_t n,
                   const struct aps_cast_options *options, float *y)
{
    const struct aps_scaling scaling = {options->scale_exponent, 1, false};
    enum aps_encode_way encode;
    enum aps_decode_way decode;
    struct aps_cast_work w;

    w.encode = aps_encode_work_init(format, x, n, scaling, options, false, NULL,
                                    &encode);
    w.decode = aps_decode_work_init(format, NULL, n, scaling, 0, y, &decode);
    w.any = encode == APS_ENCODE_ANY;
    return w;
}

APS_INLINE void aps_cast_element(const struct aps_cast_work *w, uint32_t i)
{
    uint32_t bits = aps_threads_load_float(w->encode.x, i);
    struct aps_threads_seen seen = {};
    uint32_t code;

    if (w->encode.rounding == APS_ROUND_CPD) {
        /* without codes, because overflows may have none */
        bits = aps_cpd_cast_scaled(&w->encode.format, bits, w->encode.power,
                                   w->decode.power);
    } else {
        code = w->any ? aps_encode_any(&w->encode, bits, i, false, &seen)
                      : aps_encode_nearest(&w->encode, bits);
        bits = w->decode.divide ? aps_decode_quotient(&w->decode, code)
                                : aps_decode_value(&w->decode, code);
    }
    aps_threads_store_float(w->decode.x, i, bits);
}

/* --- sums ---------------------------------------------------------------- */

struct aps_sum_work {
    struct aps_quantizer quantizer;
    const unsigned char *x[APS_CUDA_TERMS];
    unsigned char *out;
    uint32_t terms;
    uint32_t n;
    uint64_t chunk; /* terms of a chunk; 0: one sum */
};

APS_INLINE void aps_sum_element(const struct aps_sum_work *w, bool kahan,
                                uint32_t i)
{
    const struct aps_quantizer *q = &w->quantizer;
    float s = 0, c = 0; /* c: Kahan's, or the total of whole chunks */
    uint64_t at = 0;

    for (uint32_t t = 0; t < w->terms; t++) {
        float x = aps_float_from_bits(aps_threads_load_float(w->x[t], i));

        if (kahan)
            aps_quantize_add_kahan(q, q->exact, x, &s, &c);
        else
            s = aps_quantize_add(q, q->exact, s, x);
        if (w->chunk == 0 || (++at < w->chunk && t + 1 < w->terms))
            continue;
        c = aps_quantize_add(q, q->exact, c, s);
        s = 0;
        at = 0;
    }
    aps_threads_store_float(
        w->out, i, aps_float_bits(aps_quantize_nan(w->chunk > 0 ? c : s)));
}

/* --- products ------------------------------------------------------------ */

/* Elements (i, j) at x[i * down + j * right]. */
struct aps_view {
    const float *x;
    uint64_t down;
    uint64_t right;
};

struct aps_gemm_work {
    struct aps_quantizer product;
    struct aps_quantizer sum;
    struct aps_view a;
    struct aps_view b;
    float *c;
    uint64_t ldc;
    uint64_t m;
    uint64_t n;
    uint64_t k;     /* 0 if there is no product to add */
    uint64_t chunk; /* terms of a chunk; 0: one sum */
    float alpha;
    float beta;
};

/* Rows of C that share the elements of B they read. */
#define APS_GEMM_UNIT 4

APS_INLINE struct aps_view aps_view_init(const float *x, int64_t ld,
                                         bool transpose)
{
    struct aps_view view;

    view.x = x;
    view.down = transpose ? 1 : (uint64_t)ld;
    view.right = transpose ? (uint64_t)ld : 1;
    return view;
}

/* For the host only. */
static inline struct aps_gemm_work
aps_gemm_work_init(const struct aps_gemm_arguments *g)
{
    struct aps_gemm_work w;

    w.product = aps_quantizer_init(g->format);
    w.sum = aps_quantizer_init(g->accumulator);
    w.a = aps_view_init(g->a, g->lda, g->transpose_a);
    w.b = aps_view_init(g->b, g->ldb, g->transpose_b);
    w.c = g->c;
    w.ldc = (uint64_t)g->ldc;
    w.m = (uint64_t)g->m;
    w.n = (uint64_t)g->n;
    w.k = g->alpha == 0 ? 0 : (uint64_t)g->k;
    w.chunk = (uint64_t)g->chunk;
    w.alpha = g->alpha;
    w.beta = g->beta;
    return w;
}

/* Writes the finished sum at (i, j) to C. */
APS_INLINE void aps_gemm_store(const struct aps_gemm_work *w, uint64_t i,
                               uint64_t j, float s)
{
    const struct aps_quantizer *q = &w->sum;
    float *c = &w->c[i * w->ldc + j];
    float y = 0;

    if (w->k > 0)
        y = aps_quantize(q, w->alpha * s);
    if (w->beta != 0) {
        float before = aps_quantize(q, w->beta * *c);

        y = w->k > 0 ? aps_quantize(q, y + before) : before;
    }
    *c = y;
}

/* Computes rows i, i + 1, ... i + APS_GEMM_UNIT - 1, as far as they exist, of
 * column j. */
APS_INLINE void aps_gemm_unit(const struct aps_gemm_work *w, bool kahan,
                              uint64_t i, uint64_t j)
{
    const struct aps_quantizer *product = &w->product;
    const struct aps_quantizer *sum = &w->sum;
    float s[APS_GEMM_UNIT] = {0, 0, 0, 0};
    float c[APS_GEMM_UNIT] = {0, 0, 0, 0}; /* Kahan's, or totals of chunks */
    uint64_t at = 0;

    for (uint64_t k = 0; k < w->k; k++) {
        float b = aps_quantize(product, w->b.x[k * w->b.down + j * w->b.right]);

        for (int r = 0; r < APS_GEMM_UNIT; r++) {
            /* a row beyond the last repeats it, and is not stored */
            uint64_t row = i + (uint64_t)r < w->m ? i + (uint64_t)r : w->m - 1;
            float a =
                aps_quantize(product, w->a.x[row * w->a.down + k * w->a.right]);
            float x = aps_quantize_step(product, product->exact, a * b);

            if (kahan)
                aps_quantize_add_kahan(sum, sum->exact, x, &s[r], &c[r]);
            else
                s[r] = aps_quantize_add(sum, sum->exact, s[r], x);
        }
        if (w->chunk == 0 || (++at < w->chunk && k + 1 < w->k))
            continue;
        for (int r = 0; r < APS_GEMM_UNIT; r++) {
            c[r] = aps_quantize_add(sum, sum->exact, c[r], s[r]);
            s[r] = 0;
        }
        at = 0;
    }
    for (int r = 0; r < APS_GEMM_UNIT; r++) {
        if (i + (uint64_t)r < w->m)
            aps_gemm_store(w, i + (uint64_t)r, j, w->chunk > 0 ? c[r] : s[r]);
    }
}

#endif

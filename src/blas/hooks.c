/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names by which programs call BLAS's product of float matrices: Fortran's and
 * C's, with 32-bit and 64-bit integers, plain and in the spelling of the
 * OpenBLAS inside numpy's and scipy's wheels.
 */
#include "config.h"

#include <stdatomic.h>
#include <stdint.h>

#include "next.h"
#include "product.h"

#define EXPORT __attribute__((visibility("default")))

/* Values of the CBLAS enumerations. */
enum { ROW_MAJOR = 101, COLUMN_MAJOR = 102 };
enum { NO_TRANSPOSE = 111, TRANSPOSE, CONJUGATE_TRANSPOSE, CONJUGATE };

/* Set at the first call that passes through, and then used for all callers. */
typedef _Atomic(aps_next_fn) next_slot;

static aps_next_fn next_of(next_slot *slot, const char *name, aps_next_fn self,
                           const void *caller)
{
    aps_next_fn next = atomic_load_explicit(slot, memory_order_acquire);

    if (!next) {
        next = aps_next_find(name, self, caller);
        atomic_store_explicit(slot, next, memory_order_release);
    }
    return next;
}

#define NEXT(name)                                                             \
    next_of(&next_##name, #name, (aps_next_fn)name, __builtin_return_address(0))

/* --- Fortran ------------------------------------------------------------- */

/* Fortran callers add the lengths of both texts, and C callers do not. The hook
 * ignores them, and passes on the length 1 that they always have. */
#define FORTRAN(name, integer)                                                 \
    static next_slot next_##name;                                              \
    EXPORT void name(const char *transpose_a, const char *transpose_b,         \
                     const integer *m, const integer *n, const integer *k,     \
                     const float *alpha, const float *a, const integer *lda,   \
                     const float *b, const integer *ldb, const float *beta,    \
                     float *c, const integer *ldc);                            \
    void name(const char *transpose_a, const char *transpose_b,                \
              const integer *m, const integer *n, const integer *k,            \
              const float *alpha, const float *a, const integer *lda,          \
              const float *b, const integer *ldb, const float *beta, float *c, \
              const integer *ldc)                                              \
    {                                                                          \
        const struct aps_blas_product product = {                              \
            true, *transpose_a, *transpose_b, *m, *n,  *k, *alpha, a, *lda,    \
            b,    *ldb,         *beta,        c,  *ldc};                       \
                                                                               \
        if (aps_blas_product_compute(&product))                                \
            return;                                                            \
        typedef void (*next_fn)(const char *, const char *, const integer *,   \
                                const integer *, const integer *,              \
                                const float *, const float *, const integer *, \
                                const float *, const integer *, const float *, \
                                float *, const integer *, size_t, size_t);     \
        ((next_fn)NEXT(name))(transpose_a, transpose_b, m, n, k, alpha, a,     \
                              lda, b, ldb, beta, c, ldc, 1, 1);                \
    }

FORTRAN(sgemm_, int32_t)
FORTRAN(scipy_sgemm_, int32_t)
FORTRAN(sgemm_64_, int64_t)
FORTRAN(sgemm64_, int64_t)
FORTRAN(scipy_sgemm_64_, int64_t)

/* --- C ------------------------------------------------------------------- */

/* Returns Fortran's letter; '?' for a wrong value. */
static char transpose_letter(int transpose)
{
    switch (transpose) {
    case NO_TRANSPOSE:
    case CONJUGATE: /* OpenBLAS; for real numbers, nothing */
        return 'N';
    case TRANSPOSE:
    case CONJUGATE_TRANSPOSE:
        return 'T';
    default:
        return '?';
    }
}

static bool order_known(int order)
{
    return order == ROW_MAJOR || order == COLUMN_MAJOR;
}

#define CBLAS(name, integer)                                                   \
    static next_slot next_##name;                                              \
    EXPORT void name(int order, int transpose_a, int transpose_b, integer m,   \
                     integer n, integer k, float alpha, const float *a,        \
                     integer lda, const float *b, integer ldb, float beta,     \
                     float *c, integer ldc);                                   \
    void name(int order, int transpose_a, int transpose_b, integer m,          \
              integer n, integer k, float alpha, const float *a, integer lda,  \
              const float *b, integer ldb, float beta, float *c, integer ldc)  \
    {                                                                          \
        const struct aps_blas_product product = {                              \
            order == COLUMN_MAJOR,                                             \
            transpose_letter(transpose_a),                                     \
            transpose_letter(transpose_b),                                     \
            m,                                                                 \
            n,                                                                 \
            k,                                                                 \
            alpha,                                                             \
            a,                                                                 \
            lda,                                                               \
            b,                                                                 \
            ldb,                                                               \
            beta,                                                              \
            c,                                                                 \
            ldc};                                                              \
                                                                               \
        if (order_known(order) && aps_blas_product_compute(&product))          \
            return;                                                            \
        typedef void (*next_fn)(int, int, int, integer, integer, integer,      \
                                float, const float *, integer, const float *,  \
                                integer, float, float *, integer);             \
        ((next_fn)NEXT(name))(order, transpose_a, transpose_b, m, n, k, alpha, \
                              a, lda, b, ldb, beta, c, ldc);                   \
    }

CBLAS(cblas_sgemm, int32_t)
CBLAS(scipy_cblas_sgemm, int32_t)
CBLAS(cblas_sgemm64_, int64_t)
CBLAS(cblas_sgemm_64, int64_t)
CBLAS(scipy_cblas_sgemm64_, int64_t)

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "number/sum.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/fpenv.h"
#include "base/plural.h"
#include "number/check.h"
#include "number/quantize.h"

/* Elements summed at a time: the partial sums, the compensations and a block of
 * a term stay in the L1 cache. */
#define BLOCK 1024

/* --- kernels ------------------------------------------------------------- */

struct block {
    float s[BLOCK]; /* partial sums */
    float c[BLOCK]; /* Kahan's compensations, or the sums of whole chunks */
};

APS_INLINE void add_term(const struct aps_quantizer *quantizer, bool exact,
                         bool kahan, const aps_loose_float *x, size_t n,
                         struct block *block)
{
    const struct aps_quantizer q = *quantizer;
    float *restrict s = block->s;
    float *restrict c = block->c;

    for (size_t i = 0; i < n; i++) {
        if (kahan)
            aps_quantize_add_kahan(&q, exact, x[i], &s[i], &c[i]);
        else
            s[i] = aps_quantize_add(&q, exact, s[i], x[i]);
    }
}

/* Ends a chunk: c = Q(c + s), s = 0. */
APS_INLINE void fold_chunk(const struct aps_quantizer *quantizer, size_t n,
                           struct block *block)
{
    const struct aps_quantizer q = *quantizer;
    float *restrict s = block->s;
    float *restrict c = block->c;

    for (size_t i = 0; i < n; i++) {
        c[i] = aps_quantize_add(&q, q.exact, c[i], s[i]);
        s[i] = 0;
    }
}

APS_INLINE void sum_body(const struct aps_format *format, bool kahan,
                         size_t chunk, size_t terms, size_t n,
                         const float *const x[], float *out)
{
    const struct aps_quantizer q = aps_quantizer_init(format);
    aps_loose_float *to = (void *)out;
    struct block block;

    for (size_t at = 0; at < n; at += BLOCK) {
        size_t count = n - at < BLOCK ? n - at : BLOCK;
        const float *sums = chunk > 0 ? block.c : block.s;
        size_t left = chunk;

        memset(block.s, 0, count * sizeof *block.s);
        memset(block.c, 0, count * sizeof *block.c);
        for (size_t t = 0; t < terms; t++) {
            const aps_loose_float *term = (const void *)(x[t] + at);

            if (kahan && q.exact)
                add_term(&q, true, true, term, count, &block);
            else if (kahan)
                add_term(&q, false, true, term, count, &block);
            else if (q.exact)
                add_term(&q, true, false, term, count, &block);
            else
                add_term(&q, false, false, term, count, &block);
            if (chunk > 0 && (--left == 0 || t + 1 == terms)) {
                fold_chunk(&q, count, &block);
                left = chunk;
            }
        }
        for (size_t i = 0; i < count; i++)
            to[at + i] = aps_quantize_nan(sums[i]);
    }
}

#define VARIANT(arg, CPU, name, target)                                        \
    target static void sum_##name(const struct aps_format *format, bool kahan, \
                                  size_t chunk, size_t terms, size_t n,        \
                                  const float *const x[], float *out)          \
    {                                                                          \
        sum_body(format, kahan, chunk, terms, n, x, out);                      \
    }

APS_CPU_ROWS(VARIANT, )

aps_sum_fn aps_sum_kernel(enum aps_cpu cpu)
{
    static const aps_sum_fn kernels[APS_CPUS] = APS_CPU_TABLE(sum_);

    return aps_cpu_supported(cpu) ? kernels[cpu] : NULL;
}

/* --- the API ------------------------------------------------------------- */

int aps_check_sum(const char *who, const struct aps_format *format,
                  size_t terms, size_t n, const float *const x[],
                  const float *out, struct aps_error *error)
{
    if (aps_check_format(who, "format", format, error) < 0 ||
        aps_check_count(who, "terms", terms, error) < 0 ||
        aps_check_count(who, "n", n, error) < 0)
        return -1;
    if (n == 0)
        return 0;
    if (!out)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: out is NULL for %zu element%s", who, n,
                             aps_plural(n));
    if (terms > 0 && !x)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: x is NULL for %zu term%s", who, terms,
                             aps_plural(terms));
    for (size_t t = 0; t < terms; t++) {
        if (!x[t])
            return aps_error_set(error, EINVAL, NULL, 0, 0,
                                 "%s: x[%zu] is NULL for %zu element%s", who, t,
                                 n, aps_plural(n));
    }
    return 0;
}

int aps_check_chunk(const char *who, size_t chunk, struct aps_error *error)
{
    if (chunk == 0)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: chunk is 0 and must be at least 1", who);
    return 0;
}

static int sum(const char *who, const struct aps_format *format, bool kahan,
               size_t chunk, size_t terms, size_t n, const float *const x[],
               float *out, struct aps_error *error)
{
    fenv_t saved;

    if (aps_check_sum(who, format, terms, n, x, out, error) < 0)
        return -1;
    aps_fpenv_enter(&saved);
    aps_sum_kernel(aps_cpu_chosen())(format, kahan, chunk, terms, n, x, out);
    aps_fpenv_leave(&saved);
    return 0;
}

/* In parentheses, because macros have the same names. */
int(aps_sum)(const struct aps_format *format, size_t terms, size_t n,
             const float *const x[], float *out, struct aps_error *error)
{
    return sum("aps_sum", format, false, 0, terms, n, x, out, error);
}

int(aps_sum_kahan)(const struct aps_format *format, size_t terms, size_t n,
                   const float *const x[], float *out, struct aps_error *error)
{
    return sum("aps_sum_kahan", format, true, 0, terms, n, x, out, error);
}

int(aps_sum_chunked)(const struct aps_format *format, size_t chunk,
                     size_t terms, size_t n, const float *const x[], float *out,
                     struct aps_error *error)
{
    static const char who[] = "aps_sum_chunked";

    if (aps_check_chunk(who, chunk, error) < 0)
        return -1;
    return sum(who, format, false, chunk, terms, n, x, out, error);
}

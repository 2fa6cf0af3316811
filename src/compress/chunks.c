/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compress/chunks.h"

#include <float.h>
#include <string.h>

#include "compress/magnitudes.h"
#include "compress/select.h"

size_t aps_chunks_count(size_t n, size_t size)
{
    return n / size + (n % size != 0);
}

/* Returns the elements of chunk c. */
static size_t chunks_size(size_t c, size_t n, size_t size)
{
    const size_t left = n - c * size;

    return left < size ? left : size;
}

void aps_chunks_norms(const float *x, size_t n, size_t size, float *norms)
{
    const size_t count = aps_chunks_count(n, size);

    for (size_t c = 0; c < count; c++) {
        double sum =
            aps_magnitudes_of(x + c * size, chunks_size(c, n, size)).sum;

        norms[c] = sum < (double)FLT_MAX ? (float)sum : FLT_MAX;
    }
}

size_t aps_chunks_choose(float *norms, size_t count, size_t keep,
                         const struct aps_bracket_work *work, uint32_t *chosen)
{
    struct aps_bracket bracket;

    for (size_t c = 0; c < count; c++)
        norms[c] = norms[c] < FLT_MAX ? norms[c] : FLT_MAX;
    aps_bracket_begin(norms, NULL, count, keep, NULL, work, aps_cpu_chosen(),
                      &bracket);
    return aps_select_topk(&bracket, keep, chosen);
}

size_t aps_chunks_gather(const float *x, size_t n, size_t size,
                         const uint32_t *chosen, size_t keep, float *packed)
{
    size_t at = 0;

    for (size_t i = 0; i < keep; i++) {
        size_t elements = chunks_size(chosen[i], n, size);

        memcpy(packed + at, x + chosen[i] * size, elements * sizeof *x);
        at += elements;
    }
    return at;
}

void aps_chunks_scatter(const float *packed, size_t n, size_t size,
                        const uint32_t *chosen, size_t keep, float *x)
{
    size_t at = 0, next = 0;

    for (size_t i = 0; i < keep; i++) {
        size_t first = chosen[i] * size;
        size_t elements = chunks_size(chosen[i], n, size);

        memset(x + next, 0, (first - next) * sizeof *x);
        memcpy(x + first, packed + at, elements * sizeof *x);
        at += elements;
        next = first + elements;
    }
    memset(x + next, 0, (n - next) * sizeof *x);
}

void aps_chunks_clear(float *x, size_t n, size_t size, const uint32_t *chosen,
                      size_t keep)
{
    for (size_t i = 0; i < keep; i++)
        memset(x + chosen[i] * size, 0,
               chunks_size(chosen[i], n, size) * sizeof *x);
}

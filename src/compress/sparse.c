/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compress/sparse.h"

#include <string.h>

#define PIECE ((size_t)1 << 15) /* elements of a sum: 128 KiB */

void aps_sparse_gather(const float *x, const uint32_t *indices, size_t k,
                       float *values)
{
    for (size_t i = 0; i < k; i++)
        values[i] = x[indices[i]];
}

void aps_sparse_take(float *delta, const uint32_t *indices, size_t k,
                     const float *values, const float *sent)
{
    if (!sent) {
        for (size_t i = 0; i < k; i++)
            delta[indices[i]] = 0;
        return;
    }
    for (size_t i = 0; i < k; i++)
        delta[indices[i]] = values[i] - sent[i];
}

/* Adds the elements of a rank from number `at` on that are before `end`;
 * returns the number of the next one. */
static size_t sparse_add(const struct aps_sparse *rank, size_t at, size_t end,
                         float *sum)
{
    for (; at < rank->count && rank->indices[at] < end; at++)
        sum[rank->indices[at]] += rank->values[at];
    return at;
}

void aps_sparse_sum(const struct aps_sparse *ranks, size_t count, size_t n,
                    size_t *at, float *sum)
{
    for (size_t r = 0; r < count; r++)
        at[r] = 0;
    for (size_t first = 0; first < n; first += PIECE) {
        const size_t size = n - first < PIECE ? n - first : PIECE;

        memset(sum + first, 0, size * sizeof *sum);
        for (size_t r = 0; r < count; r++)
            at[r] = sparse_add(&ranks[r], at[r], first + size, sum);
    }
}

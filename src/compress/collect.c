/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The compiler vectorises the loops over all elements (KERNEL_CFLAGS in
 * configure.ac), except the search for few among many (collect_masks.h).
 */
#include "config.h"

#include "compress/collect.h"

#include "compress/collect_masks.h"
#include "number/bits.h"

/* Most elements of the loops whose counters have 32 bits. */
#define CHUNK ((size_t)1 << 30)

/* Found elements that are written at once. */
#define COLLECT_ALWAYS 3

typedef uint64_t (*collect_mask_fn)(const aps_collect_u32 *x, size_t n,
                                    uint32_t lo);

/* --- bodies -------------------------------------------------------------- */

/* Writes the elements of a mask, the elements from `at` on, after `found`
 * have been found. COLLECT_ALWAYS are written, even if there are fewer,
 * because the branch of a loop with a varying number of iterations would be
 * mispredicted. */
APS_INLINE size_t collect_unmask(size_t at, uint64_t mask, uint32_t first,
                                 uint32_t *index, size_t found)
{
    const size_t count = (size_t)__builtin_popcountll(mask);
    const uint64_t last = (uint64_t)1 << (APS_COLLECT_MASK - 1);

    if (mask == UINT64_MAX) {
        for (size_t i = 0; i < APS_COLLECT_MASK; i++)
            index[found + i] = first + (uint32_t)(at + i);
        return found + APS_COLLECT_MASK;
    }
    for (size_t i = 0; i < COLLECT_ALWAYS || i < count; i++) {
        index[found + i] =
            first + (uint32_t)(at + (size_t)__builtin_ctzll(mask | last));
        mask &= mask - 1;
    }
    return found + count;
}

/* bits NULL and above NULL: emit. */
APS_INLINE size_t collect_body(collect_mask_fn mask_of, const float *x,
                               size_t n, uint32_t first, uint32_t lo,
                               uint32_t hi, uint32_t *index, uint32_t *bits,
                               size_t *above)
{
    const aps_collect_u32 *in = (const void *)x;
    size_t found = 0;

    for (size_t at = 0; at < n; at += APS_COLLECT_MASK) {
        const size_t left = n - at;
        const size_t size = left < APS_COLLECT_MASK ? left : APS_COLLECT_MASK;
        uint64_t mask = mask_of(in + at, size, lo);

        if (above && hi < APS_FLOAT_INF) {
            uint64_t beyond = mask_of(in + at, size, hi);

            *above += (size_t)__builtin_popcountll(beyond);
            mask &= ~beyond;
        }
        found = collect_unmask(at, mask, first, index, found);
    }
    for (size_t i = 0; bits && i < found; i++)
        bits[i] = (uint32_t)aps_collect_magnitude(in, index[i] - first);
    return found;
}

APS_INLINE size_t collect_count_body(const float *x, size_t n, uint32_t lo)
{
    const aps_collect_u32 *in = (const void *)x;
    size_t count = 0;

    for (size_t at = 0; at < n; at += CHUNK) {
        size_t chunk = n - at < CHUNK ? n - at : CHUNK;
        uint32_t some = 0;

        for (size_t i = 0; i < chunk; i++)
            some += aps_collect_magnitude(in + at, i) >= (int32_t)lo;
        count += some;
    }
    return count;
}

APS_INLINE void collect_neighbours_body(const float *x, size_t n, uint32_t lo,
                                        uint32_t hi, uint32_t *below,
                                        uint32_t *above)
{
    const aps_collect_u32 *in = (const void *)x;
    int32_t greatest = -1, least = INT32_MAX;

    for (size_t i = 0; i < n; i++) {
        int32_t a = aps_collect_magnitude(in, i);
        int32_t under = a | -(a >= (int32_t)lo); /* or -1 */
        /* or INT32_MAX */
        int32_t over = a | (-(a < (int32_t)hi) & INT32_MAX);

        greatest = under > greatest ? under : greatest;
        least = over < least ? over : least;
    }
    *below = (uint32_t)greatest; /* -1 is UINT32_MAX */
    *above = least == INT32_MAX ? UINT32_MAX : (uint32_t)least;
}

APS_INLINE void collect_histogram_body(const float *x, size_t n, uint32_t lo,
                                       unsigned shift, uint32_t *counters)
{
    const aps_collect_u32 *in = (const void *)x;

    for (size_t i = 0; i < n; i++) {
        uint32_t from = (uint32_t)aps_collect_magnitude(in, i) - lo;
        uint32_t bin = from >> shift;

        bin = bin < APS_COLLECT_BINS ? bin : APS_COLLECT_BINS;
        counters[i % APS_COLLECT_COPIES * (APS_COLLECT_BINS + 1) + bin]++;
    }
}

/* --- variants ------------------------------------------------------------ */

#define VARIANT(arg, CPU, name, target)                                        \
    target static size_t collect_##name(                                       \
        const float *x, size_t n, uint32_t first, uint32_t lo, uint32_t hi,    \
        uint32_t *index, uint32_t *bits, size_t *above)                        \
    {                                                                          \
        return collect_body(aps_collect_mask_##name, x, n, first, lo, hi,      \
                            index, bits, above);                               \
    }                                                                          \
    target static size_t collect_emit_##name(const float *x, size_t n,         \
                                             uint32_t first, uint32_t lo,      \
                                             uint32_t *index)                  \
    {                                                                          \
        return collect_body(aps_collect_mask_##name, x, n, first, lo, 0,       \
                            index, NULL, NULL);                                \
    }                                                                          \
    target static size_t collect_count_##name(const float *x, size_t n,        \
                                              uint32_t lo)                     \
    {                                                                          \
        return collect_count_body(x, n, lo);                                   \
    }                                                                          \
    target static void collect_neighbours_##name(                              \
        const float *x, size_t n, uint32_t lo, uint32_t hi, uint32_t *below,   \
        uint32_t *above)                                                       \
    {                                                                          \
        collect_neighbours_body(x, n, lo, hi, below, above);                   \
    }                                                                          \
    target static void collect_histogram_##name(const float *x, size_t n,      \
                                                uint32_t lo, unsigned shift,   \
                                                uint32_t *counters)            \
    {                                                                          \
        collect_histogram_body(x, n, lo, shift, counters);                     \
    }                                                                          \
    static const struct aps_collect collect_passes_##name = {                  \
        collect_##name,           collect_emit_##name,                         \
        collect_count_##name,     collect_neighbours_##name,                   \
        collect_histogram_##name,                                              \
    };

APS_CPU_ROWS(VARIANT, )

const struct aps_collect *aps_collect_for(enum aps_cpu cpu)
{
    static const struct aps_collect *const passes[APS_CPUS] =
        APS_CPU_TABLE(&collect_passes_);

    return aps_cpu_supported(cpu) ? passes[cpu] : NULL;
}

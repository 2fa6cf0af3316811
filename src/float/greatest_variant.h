/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The greatest magnitude of a long array, for vectors of one length; float.c
 * includes this once for each, after it has defined
 *
 *     NAME(x)   x with the vectors' name appended
 *     LANES     floats of a vector register: 8 or 16
 *
 * A long array is read in strands, a cache line of each in turn, so that lines
 * of several pages are fetched at a time; each is prefetched STRAND_AHEAD
 * floats before its use. Measured on Intel's Emerald Rapids, two processes at
 * once: 0.86 of the time from memory, 0.98 from the L2 cache. If prefetches are
 * not worth it, there are no strands, whose effect was not measured.
 */

#define VECTOR NAME(greatest_vector)
#define VECTORS NAME(greatest_vectors)
#define LINE ((size_t)64 / sizeof(float)) /* floats of a cache line */
#define STRANDS ((size_t)4)
#define STRAND_ARRAY                                                           \
    ((size_t)16 * 1024) /* shortest array with strands, in
                                            floats */
#define STRAND_AHEAD ((size_t)384)

typedef int32_t VECTOR __attribute__((vector_size(4 * LANES)));

/* Updates the lanes' greatest magnitudes with one more cache line. */
APS_INLINE void VECTORS(const aps_any_float *x, VECTOR *greatest)
{
    const VECTOR magnitude = (VECTOR){0} + (int32_t)~APS_FLOAT_SIGN;

    for (size_t i = 0; i < LINE; i += LANES) {
        VECTOR next, more;

        memcpy(&next, x + i, sizeof next);
        next &= magnitude;
        more = next > *greatest;
        *greatest = (next & more) | (*greatest & ~more);
    }
}

/* aps_kernel_greatest of a long array, prefetched line by line, because a core
 * cannot wait for a whole chunk at once. */
APS_INLINE uint32_t NAME(greatest)(const aps_any_float *x, size_t n)
{
    const size_t strand =
        aps_tile_asks() && n >= STRAND_ARRAY ? n / STRANDS / LINE * LINE : 0;
    const size_t done = STRANDS * strand;
    const size_t whole =
        done + (n - done) / (STRANDS * LINE) * (STRANDS * LINE);
    VECTOR greatest[STRANDS] = {{0}}; /* independent of each other */
    uint32_t result = aps_kernel_greatest(x + whole, n - whole);

    for (size_t i = 0; i < strand; i += LINE)
        for (size_t j = 0; j < STRANDS; j++) {
            const aps_any_float *const y = x + j * strand + i;

            aps_tile_ask(y + STRAND_AHEAD, LINE);
            VECTORS(y, &greatest[j]);
        }
    for (size_t i = done; i < whole; i += STRANDS * LINE) {
        aps_tile_ask_ahead(x + i, STRANDS * LINE);
        for (size_t j = 0; j < STRANDS; j++)
            VECTORS(x + i + j * LINE, &greatest[j]);
    }
    for (size_t j = 0; j < STRANDS; j++)
        for (size_t i = 0; i < LANES; i++) {
            const uint32_t here = (uint32_t)greatest[j][i];

            result = here > result ? here : result;
        }
    return result;
}

#undef VECTOR
#undef VECTORS
#undef LINE
#undef STRANDS
#undef STRAND_ARRAY
#undef STRAND_AHEAD
#undef NAME
#undef LANES

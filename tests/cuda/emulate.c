/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "emulate.h"

#include "cuda/block_decode.h"
#include "cuda/block_encode.h"
#include "cuda/convert.h"
#include "cuda/decode.h"
#include "cuda/encode.h"
#include "cuda/sums.h"

#if defined(__CUDACC__)
#define COMPILER "nvcc"
#else
#define COMPILER "the C compiler"
#endif

const char *emulate_compiler(void)
{
    return COMPILER;
}

const char *emulate_skip(void)
{
    return NULL;
}

uint32_t emulate_round(const struct aps_format *format, uint32_t bits,
                       int exponent, enum aps_rounding rounding,
                       uint32_t random)
{
    return aps_cast_round(format, bits, exponent, rounding, random);
}

uint32_t emulate_value(const struct aps_format *format, uint32_t code)
{
    return aps_cast_decode(format, code);
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Runs units that are not whole, in the order of the kernels. */
#define FOR_EDGES(w, unit)                                                     \
    for (uint32_t unit = (w).inner > 0 ? 0 : (w).outer; unit < (w).units;      \
         unit = unit + 1 == (w).inner ? (w).outer : unit + 1)

void emulate_magnitude(const float *x, size_t n, struct aps_cuda_result *result)
{
    for (size_t i = 0; i < n; i += APS_THREADS_MAX) {
        const struct aps_magnitude_work w =
            aps_magnitude_work_init(x + i, min_size(n - i, APS_THREADS_MAX));
        struct aps_threads_seen seen = {};

        for (uint32_t unit = w.inner; unit < w.outer; unit++) {
            uint32_t word[4];

            aps_magnitude_load(&w, unit, word);
            aps_magnitude_take(word, &seen);
        }
        FOR_EDGES (w, unit)
            aps_magnitude_edge(&w, unit, &seen);
        if (seen.greatest > result->greatest)
            result->greatest = seen.greatest;
        if (seen.finite > result->finite)
            result->finite = seen.finite;
    }
}

static void encode_whole(const struct aps_encode_work *w,
                         enum aps_encode_way way, uint32_t unit,
                         struct aps_threads_seen *seen)
{
    static const uint32_t widths[] = {4, 6, 8, 16};
    uint32_t word[12];

    if (way >= APS_ENCODE_NEAREST) {
        aps_encode_word(w, way, unit, seen);
        return;
    }
    aps_encode_load(w, unit, word);
    aps_encode_shift(w, word);
    aps_encode_store(w, widths[way], unit, word, seen);
}

static void add_seen(const struct aps_threads_seen *seen,
                     struct aps_cuda_result *result)
{
    result->underflow += seen->underflow;
    result->overflow += seen->overflow;
    result->nonfinite += seen->nonfinite;
}

/* A launch: groups of threads run one after the other. */
static void encode_blocks(const struct aps_block_encode_work *w,
                          enum aps_family family, struct aps_threads_seen *seen)
{
    const float piece = aps_block_encode_piece(w, family);

    aps_block_put_piece(w, piece);
    for (uint32_t block = 0; block < w->layout.blocks; block++) {
        uint32_t greatest = 0;

        for (uint32_t lane = 0; lane < w->lanes; lane++) {
            uint32_t own = aps_block_greatest(w, block, lane);

            greatest = own > greatest ? own : greatest;
        }
        for (uint32_t lane = 0; lane < w->lanes; lane++)
            aps_block_encode(w, family, piece, block, lane, greatest, seen);
    }
}

/* A launch by eights; codes go to the places of the kernel's words. */
static void encode_eights(const struct aps_block_encode_work *w,
                          enum aps_family family)
{
    const struct aps_block_layout *l = &w->layout;
    const float piece = aps_block_encode_piece(w, family);

    aps_block_put_piece(w, piece);
    for (uint32_t block = 0; block < l->blocks; block++) {
        unsigned char *wire = w->wire + (size_t)block * l->bytes;
        struct aps_threads_seen seen = {};
        struct aps_block_scale scale;
        uint32_t word[8];

        for (uint32_t at = 0; at < l->block; at += 8) {
            aps_block_load_eight(w, block * l->block + at, word);
            for (uint32_t i = 0; i < 8; i++)
                aps_threads_see(&seen, word[i]);
        }
        scale = aps_block_choose(family, &w->kernel, piece, seen.greatest);
        wire[0] = (unsigned char)scale.code;
        for (uint32_t at = 0; at < l->block; at += 8) {
            aps_block_load_eight(w, block * l->block + at, word);
            aps_block_encode_eight(w, family, scale, word,
                                   wire + 1 + at / 8 * l->width);
        }
    }
}

/* Launches have a few blocks, and the kernels' very many. */
static size_t few_blocks(const struct aps_format *format)
{
    return 5 * (size_t)format->block;
}

static void emulate_encode_blocks(const struct aps_format *format,
                                  const float *x, size_t n,
                                  const struct aps_cast_options *options,
                                  const float *max, bool stats, void *wire,
                                  struct aps_cuda_result *result)
{
    const size_t most = few_blocks(format);

    if (format->piece_bytes > 0 && !max)
        emulate_magnitude(x, n, result);
    for (size_t i = 0; i < n; i += most) {
        const size_t here = min_size(n - i, most);
        const struct aps_block_encode_work w = aps_block_encode_work_init(
            format, x, i, here, options, max, result, wire);
        struct aps_threads_seen seen = {};

        if (!stats && here == most && aps_block_encode_by_eights(&w)) {
            encode_eights(&w, format->family);
            continue;
        }
        encode_blocks(&w, format->family, &seen);
        if (stats)
            add_seen(&seen, result);
    }
}

void emulate_encode(const struct aps_format *format, const float *x, size_t n,
                    struct aps_scaling scaling,
                    const struct aps_cast_options *options, const float *max,
                    bool stats, void *wire, struct aps_cuda_result *result)
{
    struct aps_cast_options here = {};

    if (format->block > 1) {
        emulate_encode_blocks(format, x, n, options, max, stats, wire, result);
        return;
    }
    if (options)
        here = *options;
    for (size_t i = 0; i < n;
         i += APS_THREADS_MAX, here.offset += APS_THREADS_MAX) {
        unsigned char *to =
            (unsigned char *)wire + i / 8 * (size_t)format->width;
        enum aps_encode_way way;
        const struct aps_encode_work w = aps_encode_work_init(
            format, x + i, min_size(n - i, APS_THREADS_MAX), scaling, &here,
            stats, to, &way);
        struct aps_threads_seen seen = {};

        for (uint32_t unit = w.inner; unit < w.outer; unit++)
            encode_whole(&w, way, unit, &seen);
        FOR_EDGES (w, unit)
            aps_encode_edge(&w, way, unit, &seen);
        if (aps_encode_marks(&w, &seen))
            result->marked = 1;
        if (stats)
            add_seen(&seen, result);
    }
}

/* The kernels have `way` and `add` as constants; a compiler may do so here. */
static void decode_whole(const struct aps_decode_work *w,
                         enum aps_decode_way way, bool add, uint32_t unit)
{
    uint32_t word[4], sum[4] = {0, 0, 0, 0};

    aps_decode_load(w, way, unit, word);
    if (add)
        aps_decode_load_sum(w, unit, sum);
    aps_decode_store(w, way, add, unit, word, sum);
}

static void emulate_decode_blocks(const struct aps_format *format,
                                  const void *wire, size_t n, bool add,
                                  float *x)
{
    const size_t most = few_blocks(format);

    for (size_t i = 0; i < n; i += most) {
        const size_t here = min_size(n - i, most);
        const struct aps_block_decode_work w =
            aps_block_decode_work_init(format, wire, i, here, x);
        const float piece = aps_block_decode_piece(&w);
        const bool eights = here == most && aps_block_decode_by_eights(&w);

        for (uint32_t unit = 0; eights && unit < here / 8; unit++)
            aps_block_decode_eight(&w, format->family, piece, add, unit);
        for (uint32_t unit = 0; !eights && unit < w.units; unit++)
            aps_block_decode_unit(&w, format->family, piece, add, unit);
    }
}

void emulate_decode(const struct aps_format *format, const void *wire, size_t n,
                    struct aps_scaling scaling, unsigned flags, bool add,
                    float *x)
{
    if (format->block > 1) {
        emulate_decode_blocks(format, wire, n, add, x);
        return;
    }
    for (size_t i = 0; i < n; i += APS_THREADS_MAX) {
        const unsigned char *from =
            (const unsigned char *)wire + i / 8 * (size_t)format->width;
        enum aps_decode_way way;
        const struct aps_decode_work w =
            aps_decode_work_init(format, from, min_size(n - i, APS_THREADS_MAX),
                                 scaling, flags, x + i, &way);

        if (way >= APS_DECODE_ANY) {
            for (uint32_t unit = 0; unit < w.units; unit++)
                aps_decode_element(&w, way, add, unit);
            continue;
        }
        for (uint32_t unit = w.inner; unit < w.outer; unit++)
            decode_whole(&w, way, add, unit);
        FOR_EDGES (w, unit)
            aps_decode_edge(&w, add, unit);
    }
}

void emulate_convert(enum aps_element element, bool narrow, const void *from,
                     size_t n, void *to)
{
    const struct aps_convert_work w =
        aps_convert_work_init(element, narrow, from, n, to);

    for (uint32_t i = 0; i < n; i++)
        aps_convert_element(&w, i);
}

void emulate_cast_array(const struct aps_format *format, const float *x,
                        size_t n, const struct aps_cast_options *options,
                        float *y)
{
    const struct aps_cast_work w = aps_cast_work_init(format, x, n, options, y);

    for (uint32_t i = 0; i < n; i++)
        aps_cast_element(&w, i);
}

void emulate_sum(const struct aps_format *format, bool kahan, size_t chunk,
                 size_t terms, size_t n, const float *const x[], float *out)
{
    struct aps_sum_work w;

    w.quantizer = aps_quantizer_init(format);
    w.terms = (uint32_t)terms;
    w.chunk = chunk;
    w.n = (uint32_t)n;
    w.out = (unsigned char *)out;
    for (size_t t = 0; t < terms; t++)
        w.x[t] = (const unsigned char *)x[t];
    for (uint32_t i = 0; i < n; i++)
        aps_sum_element(&w, kahan, i);
}

void emulate_gemm(const struct aps_gemm_arguments *arguments)
{
    const struct aps_gemm_work w = aps_gemm_work_init(arguments);

    for (uint64_t i = 0; i < w.m; i += APS_GEMM_UNIT) {
        for (uint64_t j = 0; j < w.n; j++)
            aps_gemm_unit(&w, arguments->kahan, i, j);
    }
}

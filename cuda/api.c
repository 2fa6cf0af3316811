/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libaps-cuda: checks arguments like the functions of the same names in aps.h,
 * then starts the kernels.
 */
#include "config.h"

#include "cuda/aps_cuda.h"

#include <errno.h>

#include "base/error.h"
#include "cuda/kernels.h"
#include "cuda/sums_kernels.h"
#include "number/check.h"
#include "number/gemm.h"
#include "number/sum.h"

int aps_cuda_version(void)
{
    return APS_VERSION;
}

static struct aps_scaling api_scaling(const struct aps_cast_options *options)
{
    return (struct aps_scaling){.exponent = options->scale_exponent,
                                .factor = 1};
}

/* Turns a CUDA error into an error of this library. */
static int api_done(const char *who, cudaError_t result,
                    struct aps_error *error)
{
    if (result == cudaSuccess)
        return 0;
    return aps_error_set(error, EIO, NULL, 0, 0, "%s: CUDA: %s", who,
                         cudaGetErrorString(result));
}

static size_t api_min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

int aps_cuda_cast_array(const struct aps_format *format, const float *x,
                        size_t n, const struct aps_cast_options *given,
                        float *y, void *stream, struct aps_error *error)
{
    static const char who[] = "aps_cuda_cast_array";
    struct aps_cast_options here;
    cudaError_t result = cudaSuccess;

    if (aps_check_format(who, "format", format, error) < 0 ||
        aps_check_array(who, format, "x", x, "y", y, n, error) < 0 ||
        aps_check_options(who, format, given, &here, error) < 0)
        return -1;
    for (size_t i = 0; i < n && result == cudaSuccess;
         i += APS_THREADS_MAX, here.offset += APS_THREADS_MAX) {
        struct aps_cast_work w = aps_cast_work_init(
            format, x + i, api_min_size(n - i, APS_THREADS_MAX), &here, y + i);

        result = aps_cuda_kernel_cast(&w, stream);
    }
    return api_done(who, result, error);
}

int aps_cuda_encode_array(const struct aps_format *format, const float *x,
                          size_t n, const struct aps_cast_options *given,
                          void *packed, void *stream, struct aps_error *error)
{
    static const char who[] = "aps_cuda_encode_array";
    struct aps_cast_options options;

    if (aps_check_format(who, "format", format, error) < 0 ||
        aps_check_array(who, format, "x", x, "packed", packed, n, error) < 0 ||
        aps_check_options(who, format, given, &options, error) < 0)
        return -1;
    return api_done(who,
                    aps_cuda_kernel_encode(format, x, n, api_scaling(&options),
                                           &options, NULL, false, packed, NULL,
                                           stream),
                    error);
}

static int api_decode(const char *who, const struct aps_format *format,
                      const void *packed, size_t n,
                      const struct aps_cast_options *given, const char *name,
                      bool add, float *x, void *stream, struct aps_error *error)
{
    struct aps_cast_options options;

    if (aps_check_format(who, "format", format, error) < 0 ||
        aps_check_array(who, format, "packed", packed, name, x, n, error) < 0 ||
        aps_check_options(who, format, given, &options, error) < 0)
        return -1;
    return api_done(who,
                    aps_cuda_kernel_decode(format, packed, n,
                                           api_scaling(&options), 0, add, x,
                                           stream),
                    error);
}

int aps_cuda_decode_array(const struct aps_format *format, const void *packed,
                          size_t n, const struct aps_cast_options *given,
                          float *x, void *stream, struct aps_error *error)
{
    return api_decode("aps_cuda_decode_array", format, packed, n, given, "x",
                      false, x, stream, error);
}

int aps_cuda_decode_add_array(const struct aps_format *format,
                              const void *packed, size_t n,
                              const struct aps_cast_options *given,
                              float *api_sum, void *stream,
                              struct aps_error *error)
{
    return api_decode("aps_cuda_decode_add_array", format, packed, n, given,
                      "sum", true, api_sum, stream, error);
}

static int api_sum(const char *who, const struct aps_format *format, bool kahan,
                   size_t chunk, size_t terms, size_t n, const float *const x[],
                   float *out, void *stream, struct aps_error *error)
{
    cudaError_t result = cudaSuccess;
    struct aps_sum_work w;

    if (aps_check_sum(who, format, terms, n, x, out, error) < 0)
        return -1;
    if (terms > APS_CUDA_TERMS)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: terms is %zu and can be at most %d", who,
                             terms, APS_CUDA_TERMS);
    w.quantizer = aps_quantizer_init(format);
    w.terms = (uint32_t)terms;
    w.chunk = chunk;
    for (size_t i = 0; i < n && result == cudaSuccess; i += APS_THREADS_MAX) {
        w.n = (uint32_t)api_min_size(n - i, APS_THREADS_MAX);
        w.out = (unsigned char *)(out + i);
        for (size_t t = 0; t < terms; t++)
            w.x[t] = (const unsigned char *)(x[t] + i);
        result = aps_cuda_kernel_sum(&w, kahan, stream);
    }
    return api_done(who, result, error);
}

int aps_cuda_sum(const struct aps_format *format, size_t terms, size_t n,
                 const float *const x[], float *out, void *stream,
                 struct aps_error *error)
{
    return api_sum("aps_cuda_sum", format, false, 0, terms, n, x, out, stream,
                   error);
}

int aps_cuda_sum_kahan(const struct aps_format *format, size_t terms, size_t n,
                       const float *const x[], float *out, void *stream,
                       struct aps_error *error)
{
    return api_sum("aps_cuda_sum_kahan", format, true, 0, terms, n, x, out,
                   stream, error);
}

int aps_cuda_sum_chunked(const struct aps_format *format, size_t chunk,
                         size_t terms, size_t n, const float *const x[],
                         float *out, void *stream, struct aps_error *error)
{
    static const char who[] = "aps_cuda_sum_chunked";

    if (aps_check_chunk(who, chunk, error) < 0)
        return -1;
    return api_sum(who, format, false, chunk, terms, n, x, out, stream, error);
}

int aps_cuda_gemm(const struct aps_gemm_arguments *arguments, void *stream,
                  struct aps_error *error)
{
    static const char who[] = "aps_cuda_gemm";
    struct aps_gemm_arguments g;

    if (aps_check_gemm(who, arguments, &g, error) < 0)
        return -1;
    if (g.format->block > 1)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: format '%s' is in blocks: use aps_gemm, on "
                             "the host",
                             who, g.format->name);
    if (g.cast)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: cast must be NULL: only aps_gemm, on the "
                             "host, rounds operands stochastically",
                             who);
    if (g.m == 0 || g.n == 0)
        return 0;
    struct aps_gemm_work w = aps_gemm_work_init(&g);

    return api_done(who, aps_cuda_kernel_gemm(&w, g.kahan, stream), error);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second half of emulate.h by libaps-cuda, on copies of the arrays in the
 * memory of a device.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "cuda/aps_cuda.h"
#include "emulate.h"
#include "tap/tap.h"

static void must(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        bail_out("%s: %s", what, cudaGetErrorString(error));
}

static void done(int result, const struct aps_error *error)
{
    if (result < 0)
        bail_out("%s", error->text);
    must(cudaDeviceSynchronize(), "the kernel");
}

const char *emulate_compiler(void)
{
    return "the device";
}

const char *emulate_skip(void)
{
    static char reason[256];
    int devices = 0;
    cudaError_t error = cudaGetDeviceCount(&devices);

    if (error == cudaSuccess && devices > 0)
        return NULL;
    snprintf(reason, sizeof reason, "no GPU: %s", cudaGetErrorString(error));
    return reason;
}

/* Copies x[n] to the device's memory; NULL for NULL. */
static float *copy_of(const float *x, size_t n)
{
    void *copy = NULL;

    if (!x)
        return NULL;
    must(cudaMalloc(&copy, (n > 0 ? n : 1) * sizeof *x), "cudaMalloc");
    must(cudaMemcpy(copy, x, n * sizeof *x, cudaMemcpyHostToDevice), "copy");
    return copy;
}

static void copy_back(float *x, float *copy, size_t n)
{
    if (x)
        must(cudaMemcpy(x, copy, n * sizeof *x, cudaMemcpyDeviceToHost),
             "copy");
    must(cudaFree(copy), "cudaFree");
}

void emulate_cast_array(const struct aps_format *format, const float *x,
                        size_t n, const struct aps_cast_options *options,
                        float *y)
{
    float *copy = copy_of(x, n);
    struct aps_error error;

    done(aps_cuda_cast_array(format, copy, n, options, copy, NULL, &error),
         &error);
    copy_back(y, copy, n);
}

void emulate_sum(const struct aps_format *format, bool kahan, size_t chunk,
                 size_t terms, size_t n, const float *const x[], float *out)
{
    float *to = copy_of(out, n);
    float *copies[APS_CUDA_TERMS];
    const float *const *from = (const float *const *)copies;
    struct aps_error error;

    for (size_t t = 0; t < terms; t++)
        copies[t] = copy_of(x[t], n);
    done(kahan ? aps_cuda_sum_kahan(format, terms, n, from, to, NULL, &error)
         : chunk > 0 ? aps_cuda_sum_chunked(format, chunk, terms, n, from, to,
                                            NULL, &error)
                     : aps_cuda_sum(format, terms, n, from, to, NULL, &error),
         &error);
    for (size_t t = 0; t < terms; t++)
        copy_back(NULL, copies[t], n);
    copy_back(out, to, n);
}

void emulate_gemm(const struct aps_gemm_arguments *arguments)
{
    struct aps_gemm_arguments g = *arguments;
    size_t a = (size_t)((g.transpose_a ? g.k : g.m) * g.lda);
    size_t b = (size_t)((g.transpose_b ? g.n : g.k) * g.ldb);
    size_t c = (size_t)(g.m * g.ldc);
    struct aps_error error;
    float *ca = copy_of(g.a, a), *cb = copy_of(g.b, b), *cc = copy_of(g.c, c);

    g.a = ca;
    g.b = cb;
    g.c = cc;
    done(aps_cuda_gemm(&g, NULL, &error), &error);
    copy_back(NULL, ca, a);
    copy_back(NULL, cb, b);
    copy_back(arguments->c, cc, c);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels of formats in blocks: one for each family. To be compiled with
 * -fmad=false: a fused product would be another number.
 */
#include "cuda/block_kernels.h"

#include <cuda_runtime.h>

#include "cuda/block_decode.h"
#include "cuda/block_encode.h"
#include "cuda/kernels.h"
#include "cuda/warps.h"

#define THREADS 256

/* Blocks of threads that every GPU has work enough with; threads go on by the
 * grid. */
#define BLOCKS 4096

/* A warp has as many groups as fit; all its threads go on together. */
template <enum aps_family FAMILY>
static __global__ void __launch_bounds__(THREADS)
    encode_kernel(const __grid_constant__ struct aps_block_encode_work w,
                  bool stats, struct aps_cuda_result *result)
{
    const uint32_t groups = APS_WARP / w.lanes;
    const uint32_t lane = threadIdx.x % APS_WARP;
    const uint32_t warp = (blockIdx.x * THREADS + threadIdx.x) / APS_WARP;
    const uint32_t stride = gridDim.x * (THREADS / APS_WARP) * groups;
    const float piece = aps_block_encode_piece(&w, FAMILY);
    struct aps_threads_seen seen = {};

    if (blockIdx.x == 0 && threadIdx.x == 0)
        aps_block_put_piece(&w, piece);
    for (uint32_t first = warp * groups; first < w.layout.blocks;
         first += stride) {
        const uint32_t block = first + lane / w.lanes;
        const bool any = block < w.layout.blocks;
        uint32_t greatest =
            any ? aps_block_greatest(&w, block, lane % w.lanes) : 0;

        greatest = group_max(greatest, w.lanes);
        if (any)
            aps_block_encode(&w, FAMILY, piece, block, lane % w.lanes, greatest,
                             &seen);
    }
    if (stats)
        tell_stats(&seen, result);
}

template <enum aps_family FAMILY, bool ADD>
static __global__ void __launch_bounds__(THREADS)
    decode_kernel(const __grid_constant__ struct aps_block_decode_work w)
{
    const uint32_t stride = gridDim.x * THREADS;
    const float piece = aps_block_decode_piece(&w);

    for (uint32_t unit = blockIdx.x * THREADS + threadIdx.x; unit < w.units;
         unit += stride)
        aps_block_decode_unit(&w, FAMILY, piece, ADD, unit);
}

/* --- launches ------------------------------------------------------------ */

static const void *encode_kernel_of(enum aps_family family)
{
#define ROW(family)                                                            \
    case APS_FAMILY_##family:                                                  \
        return (const void *)encode_kernel<APS_FAMILY_##family>;
    switch (family) {
        APS_BLOCK_FAMILIES(ROW)
    default:
        return NULL;
    }
#undef ROW
}

static const void *decode_kernel_of(enum aps_family family, bool add)
{
#define ROW(family)                                                            \
    case APS_FAMILY_##family:                                                  \
        return add ? (const void *)decode_kernel<APS_FAMILY_##family, true>    \
                   : (const void *)decode_kernel<APS_FAMILY_##family, false>;
    switch (family) {
        APS_BLOCK_FAMILIES(ROW)
    default:
        return NULL;
    }
#undef ROW
}

static cudaError_t launch(const void *function, uint64_t threads,
                          void **arguments, cudaStream_t stream)
{
    const uint64_t blocks = (threads + THREADS - 1) / THREADS;
    const unsigned most =
        aps_cuda_blocks_most > 0 ? aps_cuda_blocks_most : BLOCKS;

    if (!function)
        return cudaErrorInvalidDeviceFunction;
    return cudaLaunchKernel(function,
                            dim3((unsigned)(blocks < most ? blocks : most)),
                            dim3(THREADS), arguments, 0, stream);
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

cudaError_t aps_cuda_kernel_encode_blocks(
    const struct aps_format *format, const float *x, size_t n,
    const struct aps_cast_options *options, const float *max, bool stats,
    void *wire, struct aps_cuda_result *result, cudaStream_t stream)
{
    const size_t most = aps_block_launch_most(format);
    cudaError_t error = cudaSuccess;

    if (format->piece_bytes > 0 && !max)
        error = aps_cuda_kernel_magnitude(x, n, result, stream);
    for (size_t i = 0; i < n && error == cudaSuccess; i += most) {
        struct aps_block_encode_work w = aps_block_encode_work_init(
            format, x, i, min_size(n - i, most), options, max, result, wire);
        void *arguments[] = {&w, &stats, &result};

        error = launch(encode_kernel_of(format->family),
                       (uint64_t)w.layout.blocks * w.lanes, arguments, stream);
    }
    return error;
}

cudaError_t aps_cuda_kernel_decode_blocks(const struct aps_format *format,
                                          const void *wire, size_t n, bool add,
                                          float *x, cudaStream_t stream)
{
    const size_t most = aps_block_launch_most(format);
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < n && error == cudaSuccess; i += most) {
        struct aps_block_decode_work w = aps_block_decode_work_init(
            format, wire, i, min_size(n - i, most), x);
        void *arguments[] = {&w};

        error = launch(decode_kernel_of(format->family, add), w.units,
                       arguments, stream);
    }
    return error;
}

static cudaError_t load(const void *function)
{
    struct cudaFuncAttributes attributes;

    return cudaFuncGetAttributes(&attributes, function);
}

cudaError_t aps_cuda_kernels_load_blocks(void)
{
    static const enum aps_family families[] = {
#define ROW(family) APS_FAMILY_##family,
        APS_BLOCK_FAMILIES(ROW)
#undef ROW
    };
    cudaError_t error = cudaSuccess;

    for (enum aps_family family : families) {
        if (error == cudaSuccess)
            error = load(encode_kernel_of(family));
        if (error == cudaSuccess)
            error = load(decode_kernel_of(family, false));
        if (error == cudaSuccess)
            error = load(decode_kernel_of(family, true));
    }
    return error;
}

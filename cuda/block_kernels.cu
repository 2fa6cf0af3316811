/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of formats in blocks: one for each family. Compile with
 * -fmad=false, because a fused product would be another number. */
#include "cuda/block_kernels.h"

#include <cuda_runtime.h>

#include "cuda/block_decode.h"
#include "cuda/block_encode.h"
#include "cuda/kernels.h"
#include "cuda/warps.h"

#define THREADS 256

/* Blocks of threads that keep every GPU busy; a thread advances by the grid. */
#define BLOCKS 4096

/* A warp has as many groups as fit; all its threads advance together. */
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

/* Encodes eights that stay in registers, of whole blocks: a warp's blocks are
 * joined in shared memory, and written by words. */
template <enum aps_family FAMILY>
static __global__ void __launch_bounds__(THREADS)
    encode_eights_kernel(const __grid_constant__ struct aps_block_encode_work w)
{
    __shared__ uint32_t staged[THREADS / APS_WARP][APS_BLOCK_STAGED / 4];
    const uint32_t groups = APS_WARP / w.lanes;
    const uint32_t lane = threadIdx.x % APS_WARP;
    const uint32_t own = lane % w.lanes; /* number of the eight in the block */
    const uint32_t warp = (blockIdx.x * THREADS + threadIdx.x) / APS_WARP;
    const uint32_t stride = gridDim.x * (THREADS / APS_WARP) * groups;
    const float piece = aps_block_encode_piece(&w, FAMILY);
    uint32_t *words = staged[threadIdx.x / APS_WARP];
    unsigned char *bytes =
        (unsigned char *)words + lane / w.lanes * w.layout.bytes;

    if (blockIdx.x == 0 && threadIdx.x == 0)
        aps_block_put_piece(&w, piece);
    for (uint32_t first = warp * groups; first < w.layout.blocks;
         first += stride) {
        const uint32_t left = w.layout.blocks - first;
        const uint32_t all =
            (left < groups ? left : groups) * w.layout.bytes; /* bytes */
        const uint32_t block = first + lane / w.lanes;
        const bool any = block < w.layout.blocks && own * 8 < w.layout.block;
        unsigned char *to = w.wire + (size_t)first * w.layout.bytes;
        uint32_t word[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        struct aps_threads_seen seen = {};
        struct aps_block_scale scale;

        if (any)
            aps_block_load_eight(&w, block * w.layout.block + own * 8, word);
#pragma unroll
        for (int i = 0; i < 8; i++)
            aps_threads_see(&seen, word[i]);
        scale = aps_block_choose(FAMILY, &w.kernel, piece,
                                 group_max(seen.greatest, w.lanes));
        if (any && own == 0)
            bytes[0] = (unsigned char)scale.code;
        if (any)
            aps_block_encode_eight(&w, FAMILY, scale, word,
                                   bytes + 1 + own * w.layout.width);
        __syncwarp();
        for (uint32_t i = lane; i < all / 4; i += APS_WARP)
            aps_threads_store4(to + (size_t)i * 4, words[i]);
        for (uint32_t i = all / 4 * 4 + lane; i < all; i += APS_WARP)
            to[i] = ((unsigned char *)words)[i];
        __syncwarp();
    }
}

template <enum aps_family FAMILY, bool ADD>
static __global__ void __launch_bounds__(THREADS)
    decode_eights_kernel(const __grid_constant__ struct aps_block_decode_work w)
{
    const uint32_t stride = gridDim.x * THREADS;
    const uint32_t units = w.layout.n / 8;
    const float piece = aps_block_decode_piece(&w);

    for (uint32_t unit = blockIdx.x * THREADS + threadIdx.x; unit < units;
         unit += stride)
        aps_block_decode_eight(&w, FAMILY, piece, ADD, unit);
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

/* Returns the kernel of a family: by eights that stay in registers, or for any
 * shape. */
static const void *encode_kernel_of(enum aps_family family, bool eights)
{
#define ROW(family)                                                            \
    case APS_FAMILY_##family:                                                  \
        return eights                                                          \
                   ? (const void *)encode_eights_kernel<APS_FAMILY_##family>   \
                   : (const void *)encode_kernel<APS_FAMILY_##family>;
    switch (family) {
        APS_BLOCK_FAMILIES(ROW)
    default:
        return NULL;
    }
#undef ROW
}

template <bool ADD>
static const void *decode_kernel_of(enum aps_family family, bool eights)
{
#define ROW(family)                                                            \
    case APS_FAMILY_##family:                                                  \
        return eights ? (const void *)                                         \
                            decode_eights_kernel<APS_FAMILY_##family, ADD>     \
                      : (const void *)decode_kernel<APS_FAMILY_##family, ADD>;
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
        aps_cuda_blocks_max > 0 ? aps_cuda_blocks_max : BLOCKS;

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

/* Starts x[at], ... x[at + n - 1] of a piece: all of them, or the whole blocks
 * if they consist of eights; *done of them are started. */
static cudaError_t start_encode(const struct aps_format *format, const float *x,
                                size_t at, size_t n,
                                const struct aps_cast_options *options,
                                const float *max, bool stats, void *wire,
                                struct aps_cuda_result *result,
                                cudaStream_t stream, size_t *done)
{
    const size_t whole = n / (size_t)format->block * (size_t)format->block;
    struct aps_block_encode_work w = aps_block_encode_work_init(
        format, x, at, whole, options, max, result, wire);
    const bool eights = whole > 0 && !stats && aps_block_encode_by_eights(&w);
    void *arguments[] = {&w, &stats, &result};
    void *of_eights[] = {&w};

    *done = eights ? whole : n;
    if (!eights)
        w = aps_block_encode_work_init(format, x, at, n, options, max, result,
                                       wire);
    return launch(encode_kernel_of(format->family, eights),
                  (uint64_t)w.layout.blocks * w.lanes,
                  eights ? of_eights : arguments, stream);
}

cudaError_t aps_cuda_kernel_encode_blocks(
    const struct aps_format *format, const float *x, size_t n,
    const struct aps_cast_options *options, const float *max, bool stats,
    void *wire, struct aps_cuda_result *result, cudaStream_t stream)
{
    const size_t most = aps_block_launch_max(format);
    cudaError_t error = cudaSuccess;
    size_t done = 0;

    if (format->piece_bytes > 0 && !max)
        error = aps_cuda_kernel_magnitude(x, n, result, stream);
    for (size_t i = 0; i < n && error == cudaSuccess; i += done)
        error = start_encode(format, x, i, min_size(n - i, most), options, max,
                             stats, wire, result, stream, &done);
    return error;
}

/* Starts decoding like start_encode. */
static cudaError_t start_decode(const struct aps_format *format,
                                const void *wire, size_t at, size_t n, bool add,
                                float *x, cudaStream_t stream, size_t *done)
{
    const size_t whole = n / (size_t)format->block * (size_t)format->block;
    struct aps_block_decode_work w =
        aps_block_decode_work_init(format, wire, at, whole, x);
    const bool eights = whole > 0 && aps_block_decode_by_eights(&w);
    void *arguments[] = {&w};

    *done = eights ? whole : n;
    if (!eights)
        w = aps_block_decode_work_init(format, wire, at, n, x);
    return launch(add ? decode_kernel_of<true>(format->family, eights)
                      : decode_kernel_of<false>(format->family, eights),
                  eights ? whole / 8 : w.units, arguments, stream);
}

cudaError_t aps_cuda_kernel_decode_blocks(const struct aps_format *format,
                                          const void *wire, size_t n, bool add,
                                          float *x, cudaStream_t stream)
{
    const size_t most = aps_block_launch_max(format);
    cudaError_t error = cudaSuccess;
    size_t done = 0;

    for (size_t i = 0; i < n && error == cudaSuccess; i += done)
        error = start_decode(format, wire, i, min_size(n - i, most), add, x,
                             stream, &done);
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
        const void *const of_family[] = {
            encode_kernel_of(family, false),
            encode_kernel_of(family, true),
            decode_kernel_of<false>(family, false),
            decode_kernel_of<false>(family, true),
            decode_kernel_of<true>(family, false),
            decode_kernel_of<true>(family, true),
        };

        for (const void *kernel : of_family) {
            if (error == cudaSuccess)
                error = load(kernel);
        }
    }
    return error;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads divide the units of cuda/threads.h among themselves: neighbours take
 * adjacent units, and all of them advance by the size of the grid, which is the
 * number that the device can hold at once. Several units are loaded before the
 * first is computed, which keeps enough bytes in flight.
 *
 * Compile with -fmad=false, because a fused product would be another number.
 */
#include "cuda/kernels.h"

#include <cuda_runtime.h>

#include "cuda/block_kernels.h"
#include "cuda/convert.h"
#include "cuda/decode.h"
#include "cuda/encode.h"
#include "cuda/warps.h"

#define THREADS 256

/* --- what a block has seen ----------------------------------------------- */

/* Returns the greatest of a block's values, in its first warp. */
static __device__ uint32_t block_max(uint32_t value)
{
    __shared__ uint32_t of_warp[THREADS / APS_WARP];

    value = warp_max(value);
    __syncthreads();
    if (threadIdx.x % APS_WARP == 0)
        of_warp[threadIdx.x / APS_WARP] = value;
    __syncthreads();
    value = threadIdx.x < THREADS / APS_WARP ? of_warp[threadIdx.x] : 0;
    return threadIdx.x < APS_WARP ? warp_max(value) : 0;
}

/* --- kernels ------------------------------------------------------------- */

/* Units that a thread loads before it computes. */
#define MAGNITUDE_UNITS 4
#define ENCODE_UNITS 2
#define DECODE_UNITS(way) ((way) == APS_DECODE_8 ? 4 : 2)

/* Gives the units that are not whole to the first threads of the grid. */
#define FOR_EDGES(w, unit)                                                     \
    for (uint32_t edge = blockIdx.x * THREADS + threadIdx.x, unit;             \
         unit = edge < (w).inner ? edge : edge - (w).inner + (w).outer,        \
                  unit < (w).units;                                            \
         edge += gridDim.x * THREADS)

static __global__ void __launch_bounds__(THREADS)
    magnitude_kernel(const __grid_constant__ struct aps_magnitude_work w,
                     struct aps_cuda_result *result)
{
    const uint32_t stride = gridDim.x * THREADS;
    uint32_t unit = w.inner + blockIdx.x * THREADS + threadIdx.x;
    struct aps_threads_seen seen = {};
    uint32_t word[MAGNITUDE_UNITS][4];
    uint32_t greatest, finite;

    for (; unit + (MAGNITUDE_UNITS - 1) * stride < w.outer;
         unit += MAGNITUDE_UNITS * stride) {
#pragma unroll
        for (int i = 0; i < MAGNITUDE_UNITS; i++)
            aps_magnitude_load(&w, unit + i * stride, word[i]);
#pragma unroll
        for (int i = 0; i < MAGNITUDE_UNITS; i++)
            aps_magnitude_take(word[i], &seen);
    }
    for (; unit < w.outer; unit += stride) {
        aps_magnitude_load(&w, unit, word[0]);
        aps_magnitude_take(word[0], &seen);
    }
    FOR_EDGES (w, at)
        aps_magnitude_edge(&w, at, &seen);

    greatest = block_max(seen.greatest);
    finite = block_max(seen.finite);
    if (threadIdx.x == 0) {
        atomicMax(&result->greatest, greatest);
        atomicMax(&result->finite, finite);
    }
}

template <uint32_t WIDTH>
static __global__ void __launch_bounds__(THREADS)
    encode_kernel(const __grid_constant__ struct aps_encode_work w,
                  struct aps_cuda_result *result)
{
    const uint32_t stride = gridDim.x * THREADS;
    uint32_t unit = w.inner + blockIdx.x * THREADS + threadIdx.x;
    struct aps_threads_seen seen = {};
    uint32_t word[ENCODE_UNITS][12];

    for (; unit + (ENCODE_UNITS - 1) * stride < w.outer;
         unit += ENCODE_UNITS * stride) {
#pragma unroll
        for (int i = 0; i < ENCODE_UNITS; i++)
            aps_encode_load(&w, unit + i * stride, word[i]);
#pragma unroll
        for (int i = 0; i < ENCODE_UNITS; i++) {
            aps_encode_shift(&w, word[i]);
            aps_encode_store(&w, WIDTH, unit + i * stride, word[i], &seen);
        }
    }
    for (; unit < w.outer; unit += stride) {
        aps_encode_load(&w, unit, word[0]);
        aps_encode_shift(&w, word[0]);
        aps_encode_store(&w, WIDTH, unit, word[0], &seen);
    }
    FOR_EDGES (w, at)
        aps_encode_edge(&w, APS_ENCODE_8, at, &seen);

    if (__syncthreads_or(aps_encode_marks(&w, &seen)) && threadIdx.x == 0 &&
        result)
        result->marked = 1;
}

template <enum aps_encode_way WAY>
static __global__ void __launch_bounds__(THREADS)
    encode_words_kernel(const __grid_constant__ struct aps_encode_work w,
                        bool stats, struct aps_cuda_result *result)
{
    const uint32_t stride = gridDim.x * THREADS;
    uint32_t unit = w.inner + blockIdx.x * THREADS + threadIdx.x;
    struct aps_threads_seen seen = {};

    for (; unit < w.outer; unit += stride)
        aps_encode_word(&w, WAY, unit, &seen);
    FOR_EDGES (w, at)
        aps_encode_edge(&w, WAY, at, &seen);

    if (__syncthreads_or(aps_encode_marks(&w, &seen)) && threadIdx.x == 0 &&
        result)
        result->marked = 1;
    if (WAY != APS_ENCODE_NEAREST && stats)
        tell_stats(&seen, result);
}

template <enum aps_decode_way WAY, bool ADD>
static __global__ void __launch_bounds__(THREADS)
    decode_kernel(const __grid_constant__ struct aps_decode_work w)
{
    const uint32_t stride = gridDim.x * THREADS;
    uint32_t unit = w.inner + blockIdx.x * THREADS + threadIdx.x;
    constexpr int UNITS = DECODE_UNITS(WAY);
    uint32_t word[UNITS][4];
    uint32_t sum[UNITS][4];

    for (; unit + (UNITS - 1) * stride < w.outer; unit += UNITS * stride) {
#pragma unroll
        for (int i = 0; i < UNITS; i++) {
            aps_decode_load(&w, WAY, unit + i * stride, word[i]);
            if (ADD)
                aps_decode_load_sum(&w, unit + i * stride, sum[i]);
        }
#pragma unroll
        for (int i = 0; i < UNITS; i++)
            aps_decode_store(&w, WAY, ADD, unit + i * stride, word[i], sum[i]);
    }
    for (; unit < w.outer; unit += stride) {
        aps_decode_load(&w, WAY, unit, word[0]);
        if (ADD)
            aps_decode_load_sum(&w, unit, sum[0]);
        aps_decode_store(&w, WAY, ADD, unit, word[0], sum[0]);
    }
    FOR_EDGES (w, at)
        aps_decode_edge(&w, ADD, at);
}

template <enum aps_decode_way WAY, bool ADD>
static __global__ void __launch_bounds__(THREADS)
    decode_elements_kernel(const __grid_constant__ struct aps_decode_work w)
{
    const uint32_t stride = gridDim.x * THREADS;

    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < w.units;
         i += stride)
        aps_decode_element(&w, WAY, ADD, i);
}

static __global__ void __launch_bounds__(THREADS)
    convert_kernel(const __grid_constant__ struct aps_convert_work w)
{
    const uint32_t stride = gridDim.x * THREADS;

    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < w.n; i += stride)
        aps_convert_element(&w, i);
}

/* --- launches ------------------------------------------------------------ */

/* Index of a kernel in the table of the blocks that the device holds. */
enum {
    MAGNITUDE,
    ENCODE,
    DECODE = ENCODE + APS_ENCODE_WAYS,
    DECODE_ADD = DECODE + APS_DECODE_WAYS,
    CONVERT = DECODE_ADD + APS_DECODE_WAYS,
    KERNELS
};
#define DEVICES 64

/* Gets the blocks of a kernel that fill the current device, looked up once. */
static cudaError_t full_grid(int kernel, const void *function, unsigned *blocks)
{
    static unsigned known[DEVICES][KERNELS];
    int device, processors, each;
    cudaError_t error = cudaGetDevice(&device);

    if (error != cudaSuccess)
        return error;
    *blocks = device < DEVICES
                  ? __atomic_load_n(&known[device][kernel], __ATOMIC_RELAXED)
                  : 0;
    if (*blocks > 0)
        return cudaSuccess;
    error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount,
                                   device);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, function,
                                                              THREADS, 0);
    if (error != cudaSuccess)
        return error;
    *blocks = (unsigned)processors * (each > 0 ? (unsigned)each : 1);
    if (device < DEVICES)
        __atomic_store_n(&known[device][kernel], *blocks, __ATOMIC_RELAXED);
    return cudaSuccess;
}

unsigned aps_cuda_blocks_max;

/* Starts a kernel for `units` units. */
static cudaError_t launch(int kernel, const void *function, uint32_t units,
                          void **arguments, cudaStream_t stream)
{
    unsigned needed = (units + THREADS - 1) / THREADS;
    unsigned blocks;
    cudaError_t error = full_grid(kernel, function, &blocks);

    if (error != cudaSuccess)
        return error;
    if (aps_cuda_blocks_max > 0 && aps_cuda_blocks_max < blocks)
        blocks = aps_cuda_blocks_max;
    return cudaLaunchKernel(function, dim3(needed < blocks ? needed : blocks),
                            dim3(THREADS), arguments, 0, stream);
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

cudaError_t aps_cuda_kernel_magnitude(const float *x, size_t n,
                                      struct aps_cuda_result *result,
                                      cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < n && error == cudaSuccess; i += APS_THREADS_MAX) {
        struct aps_magnitude_work w =
            aps_magnitude_work_init(x + i, min_size(n - i, APS_THREADS_MAX));
        void *arguments[] = {&w, &result};

        error = launch(MAGNITUDE, (const void *)magnitude_kernel, w.units,
                       arguments, stream);
    }
    return error;
}

static const void *const encode_kernels[APS_ENCODE_WAYS] = {
    (const void *)encode_kernel<4>,  /* APS_ENCODE_4 */
    (const void *)encode_kernel<6>,  /* APS_ENCODE_6 */
    (const void *)encode_kernel<8>,  /* APS_ENCODE_8 */
    (const void *)encode_kernel<16>, /* APS_ENCODE_16 */
    (const void *)encode_words_kernel<APS_ENCODE_NEAREST>,
    (const void *)encode_words_kernel<APS_ENCODE_ANY>,
    (const void *)encode_words_kernel<APS_ENCODE_INTEGER>,
};

cudaError_t aps_cuda_kernel_encode(const struct aps_format *format,
                                   const float *x, size_t n,
                                   struct aps_scaling scaling,
                                   const struct aps_cast_options *options,
                                   const float *max, bool stats, void *wire,
                                   struct aps_cuda_result *result,
                                   cudaStream_t stream)
{
    struct aps_cast_options here = {};
    cudaError_t error = cudaSuccess;

    if (format->block > 1)
        return aps_cuda_kernel_encode_blocks(format, x, n, options, max, stats,
                                             wire, result, stream);
    if (options)
        here = *options;
    for (size_t i = 0; i < n && error == cudaSuccess;
         i += APS_THREADS_MAX, here.offset += APS_THREADS_MAX) {
        unsigned char *to = (unsigned char *)wire + i / 8 * format->width;
        enum aps_encode_way way;
        struct aps_encode_work w = aps_encode_work_init(
            format, x + i, min_size(n - i, APS_THREADS_MAX), scaling, &here,
            stats, to, &way);
        void *arguments[] = {&w, &result};
        void *of_words[] = {&w, &stats, &result};

        error = launch(ENCODE + (int)way, encode_kernels[way], w.units,
                       way < APS_ENCODE_NEAREST ? arguments : of_words, stream);
    }
    return error;
}

static const void *const decode_kernels[2][APS_DECODE_WAYS] = {
    {
        (const void *)decode_kernel<APS_DECODE_8, false>,
        (const void *)decode_kernel<APS_DECODE_16, false>,
        (const void *)decode_kernel<APS_DECODE_32, false>,
        (const void *)decode_elements_kernel<APS_DECODE_ANY, false>,
        (const void *)decode_elements_kernel<APS_DECODE_INTEGER, false>,
    },
    {
        (const void *)decode_kernel<APS_DECODE_8, true>,
        (const void *)decode_kernel<APS_DECODE_16, true>,
        (const void *)decode_kernel<APS_DECODE_32, true>,
        (const void *)decode_elements_kernel<APS_DECODE_ANY, true>,
        (const void *)decode_elements_kernel<APS_DECODE_INTEGER, true>,
    },
};

cudaError_t aps_cuda_kernel_decode(const struct aps_format *format,
                                   const void *wire, size_t n,
                                   struct aps_scaling scaling, unsigned flags,
                                   bool add, float *x, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;

    if (format->block > 1)
        return aps_cuda_kernel_decode_blocks(format, wire, n, add, x, stream);
    for (size_t i = 0; i < n && error == cudaSuccess; i += APS_THREADS_MAX) {
        const unsigned char *from =
            (const unsigned char *)wire + i / 8 * format->width;
        enum aps_decode_way way;
        struct aps_decode_work w =
            aps_decode_work_init(format, from, min_size(n - i, APS_THREADS_MAX),
                                 scaling, flags, x + i, &way);
        void *arguments[] = {&w};

        error = launch((add ? DECODE_ADD : DECODE) + (int)way,
                       decode_kernels[add][way], w.units, arguments, stream);
    }
    return error;
}

cudaError_t aps_cuda_kernel_convert(enum aps_element element, bool narrow,
                                    const void *from, size_t n, void *to,
                                    cudaStream_t stream)
{
    struct aps_convert_work w =
        aps_convert_work_init(element, narrow, from, n, to);
    void *arguments[] = {&w};

    return launch(CONVERT, (const void *)convert_kernel, w.n, arguments,
                  stream);
}

/* --- loading ------------------------------------------------------------- */

static cudaError_t load(int kernel, const void *function)
{
    struct cudaFuncAttributes attributes;
    unsigned blocks;
    cudaError_t error = cudaFuncGetAttributes(&attributes, function);

    return error == cudaSuccess ? full_grid(kernel, function, &blocks) : error;
}

cudaError_t aps_cuda_kernels_load(void)
{
    cudaError_t error = load(MAGNITUDE, (const void *)magnitude_kernel);

    for (int way = 0; way < APS_ENCODE_WAYS && error == cudaSuccess; way++)
        error = load(ENCODE + way, encode_kernels[way]);
    for (int way = 0; way < APS_DECODE_WAYS && error == cudaSuccess; way++)
        error = load(DECODE + way, decode_kernels[false][way]);
    for (int way = 0; way < APS_DECODE_WAYS && error == cudaSuccess; way++)
        error = load(DECODE_ADD + way, decode_kernels[true][way]);
    if (error == cudaSuccess)
        error = load(CONVERT, (const void *)convert_kernel);
    return error == cudaSuccess ? aps_cuda_kernels_load_blocks() : error;
}

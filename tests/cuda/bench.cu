/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the kernels' speed with that of the GPU's memory:
 *
 *     bench [MEBIFLOATS]     default: 256 Mi floats
 *
 * Encode, decode and decode-add as a share of the rate of a copy from device to
 * device, bytes read plus bytes written; the greatest magnitude as a share of
 * the rate of a kernel that only reads. All in one run, medians. Then the
 * plugin's transfer to the host as a share of the rate of copying the same
 * floats. `met` and `missed` compare with the goals of this project, but only
 * bytes that differ from the host codec's fail the bench.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

extern "C" {
#include "codec/codec.h"
#include "number/format.h"
#include "cuda/kernels.h"
#include "cuda/staged.h"
#include "number/parse.h"
}

#define RUNS 15

static cudaStream_t stream;
static cudaEvent_t begin, end;

static void must(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "bench: %s: %s\n", what, cudaGetErrorString(error));
        exit(1);
    }
}

/* Fills values like gradients: sums of three uniform values, around 0. */
static __global__ void fill(float *x, size_t n)
{
    const size_t stride = (size_t)gridDim.x * blockDim.x;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += stride) {
        uint32_t h = (uint32_t)i * 2654435761u;
        float sum = 0;

        for (int k = 0; k < 3; k++) {
            h = (h ^ (h >> 15)) * 2246822519u;
            h = (h ^ (h >> 13)) * 3266489917u;
            sum += (float)(int32_t)h * 0x1p-31f;
        }
        x[i] = sum * 0.01f;
    }
}

/* Reads all values, and writes only for a value that does not occur. */
static __global__ void __launch_bounds__(256)
    read_all(const uint4 *x, size_t n, unsigned *never)
{
    const size_t stride = (size_t)gridDim.x * 256;
    size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    unsigned all = 0;

    for (; i + 7 * stride < n; i += 8 * stride) {
        uint4 v[8];

#pragma unroll
        for (int k = 0; k < 8; k++)
            v[k] = x[i + k * stride];
#pragma unroll
        for (int k = 0; k < 8; k++)
            all |= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    }
    for (; i < n; i += stride)
        all |= x[i].x;
    if (all == 0x12345678)
        *never = all;
}

/* Returns the median seconds of some work on the stream. */
template <typename Work> static double seconds(Work work)
{
    std::vector<float> times;

    work(); /* warms up */
    for (int i = 0; i < RUNS; i++) {
        float ms;

        must(cudaEventRecord(begin, stream), "event");
        work();
        must(cudaEventRecord(end, stream), "event");
        must(cudaEventSynchronize(end), "the work");
        must(cudaEventElapsedTime(&ms, begin, end), "event");
        times.push_back(ms);
    }
    std::sort(times.begin(), times.end());
    return times[RUNS / 2] * 1e-3;
}

static void row(const char *what, const char *format, double bytes, double time,
                double rate, double goal)
{
    double share = bytes / time / rate;

    printf("%-12s %-9s %9.1f %8.3f", what, format, bytes / time * 1e-9, share);
    if (goal > 0)
        printf(" %6.2f  %s", goal, share >= goal ? "met" : "missed");
    printf("\n");
}

/* Encodes and decodes all floats, and compares them with the host codec's. */
struct compared {
    std::vector<float> x, decoded;
    std::vector<unsigned char> wire, expected;
};

static bool same(struct compared *host, const struct aps_format *format,
                 struct aps_scaling scaling, const float *x, float *y,
                 unsigned char *wire, struct aps_cuda_result *result)
{
    const size_t n = host->x.size();
    const size_t bytes = aps_packed_bytes(format, n);
    struct aps_codec codec;
    bool good;

    aps_codec_init(format, &codec);
    host->wire.resize(bytes);
    host->expected.assign(bytes, 0xa5);
    must(cudaMemsetAsync(wire, 0x5a, bytes, stream), "memset");
    must(cudaMemsetAsync(result, 0, sizeof *result, stream), "memset");
    must(aps_cuda_kernel_encode(format, x, n, scaling, NULL, NULL, false, wire,
                                result, stream),
         "encode");
    must(cudaMemcpyAsync(host->wire.data(), wire, bytes, cudaMemcpyDeviceToHost,
                         stream),
         "copy");
    must(aps_cuda_kernel_decode(format, wire, n, scaling, 0, false, y, stream),
         "decode");
    must(cudaMemcpyAsync(host->decoded.data(), y, n * 4, cudaMemcpyDeviceToHost,
                         stream),
         "copy");
    must(cudaStreamSynchronize(stream), "copy");
    codec.encode(&codec, host->x.data(), n, scaling, NULL,
                 host->expected.data());
    good = host->wire == host->expected;
    codec.decode(&codec, host->expected.data(), n, scaling, 0, host->x.data());
    good = good && memcmp(host->x.data(), host->decoded.data(), n * 4) == 0;
    must(cudaMemcpy(host->x.data(), x, n * 4, cudaMemcpyDeviceToHost), "copy");
    return good;
}

int main(int argc, char **argv)
{
    const size_t n = (size_t)(argc > 1 ? atoi(argv[1]) : 256) << 20;
    const char *const names[] = {"e5m2",      "e4m3",      "e3m0",
                                 "bfp7/64",   "mx-e4m3fn", "mx-int8",
                                 "mx-e2m1fn", "nvfp4",     "flex16"};
    /* near the ends of e3m0 */
    const struct aps_scaling scaling = {8, 1, false};
    const struct aps_cast_options nearest = APS_CAST_OPTIONS_INIT;
    struct aps_cuda_result *result;
    cudaDeviceProp properties;
    float *x, *y;
    unsigned char *wire;
    double copy_rate, read_rate;
    int devices = 0;

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("no GPU: %s\n", cudaGetErrorString(cudaGetLastError()));
        return 77;
    }
    if (n == 0) {
        fprintf(stderr, "usage: bench [MEBIFLOATS]\n");
        return 2;
    }
    must(cudaGetDeviceProperties(&properties, 0), "properties");
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    must(cudaEventCreate(&begin), "event");
    must(cudaEventCreate(&end), "event");
    must(cudaMalloc(&x, n * 4), "memory");
    must(cudaMalloc(&y, n * 4), "memory");
    must(cudaMalloc(&wire, 2 * n), "memory");
    must(cudaMalloc(&result, sizeof *result), "memory");
    must(cudaMemset(result, 0, sizeof *result), "memset");
    fill<<<4096, 256>>>(x, n);
    must(cudaMemset(y, 0, n * 4), "memset");
    must(cudaDeviceSynchronize(), "fill");

    copy_rate =
        2.0 * n * 4 / seconds([&] {
            must(cudaMemcpyAsync(y, x, n * 4, cudaMemcpyDeviceToDevice, stream),
                 "copy");
        });
    read_rate =
        1.0 * n * 4 / seconds([&] {
            read_all<<<properties.multiProcessorCount * 8, 256, 0, stream>>>(
                (const uint4 *)x, n / 4, &result->unused);
            must(cudaGetLastError(), "read");
        });

    printf("%s, %zu Mi floats, CUDA %d.%d\n", properties.name, n >> 20,
           CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    printf("%-12s %-9s %9s %8s %6s\n", "operation", "format", "GB/s", "share",
           "goal");
    row("copy", "fp32", copy_rate, 1, copy_rate, 0);
    row("read", "fp32", read_rate, 1, read_rate, 0);
    row("magnitude", "fp32", 4.0 * n, seconds([&] {
            must(aps_cuda_kernel_magnitude(x, n, result, stream), "magnitude");
        }),
        read_rate, 0.85);
    for (const char *name : names) {
        struct aps_format format;
        double packed, goal;

        if (aps_format_parse(name, &format, NULL) < 0)
            return 1;
        packed = (double)aps_packed_bytes(&format, n);
        goal = format.exponent_bits == 0 || format.block > 1 ? 0
               : format.width == 8                           ? 0.8
                                                             : 0.7;
        row("encode", name, 4.0 * n + packed, seconds([&] {
                must(aps_cuda_kernel_encode(&format, x, n, scaling, NULL, NULL,
                                            false, wire, result, stream),
                     "encode");
            }),
            copy_rate, goal);
        row("decode", name, 4.0 * n + packed, seconds([&] {
                must(aps_cuda_kernel_decode(&format, wire, n, scaling, 0, false,
                                            y, stream),
                     "decode");
            }),
            copy_rate, goal);
        row("decode-add", name, 8.0 * n + packed, seconds([&] {
                must(aps_cuda_kernel_decode(&format, wire, n, scaling, 0, true,
                                            y, stream),
                     "decode-add");
            }),
            copy_rate, goal);
    }
    {
        struct compared host;
        int others = 0;

        host.x.resize(n);
        host.decoded.resize(n);
        must(cudaMemcpy(host.x.data(), x, n * 4, cudaMemcpyDeviceToHost),
             "copy");
        for (const char *name : names) {
            struct aps_format format;

            if (aps_format_parse(name, &format, NULL) < 0)
                return 1;
            if (same(&host, &format, scaling, x, y, wire, result))
                continue;
            printf("%s: NOT the host codec's bytes and floats\n", name);
            others++;
        }
        if (others > 0)
            return 1;
        printf("all %zu Mi values: the host codec's bytes and floats\n",
               n >> 20);
    }
    /* slices of a reduction need not begin at 16 bytes */
    {
        struct aps_format format;

        if (aps_format_parse("e5m2", &format, NULL) < 0)
            return 1;
        row("encode +4 B", "e5m2", 5.0 * n, seconds([&] {
                must(aps_cuda_kernel_encode(&format, x + 1, n - 8, scaling,
                                            NULL, NULL, false, wire, result,
                                            stream),
                     "encode");
            }),
            copy_rate, 0);
        row("decode +4 B", "e5m2", 5.0 * n, seconds([&] {
                must(aps_cuda_kernel_decode(&format, wire, n - 8, scaling, 0,
                                            false, y + 1, stream),
                     "decode");
            }),
            copy_rate, 0);
    }

    /* To the host: 25 Mi floats, unencoded or encoded. */
    {
        const size_t some = std::min(n, (size_t)25 << 20);
        cudaError_t error;
        struct aps_cuda_stream *lane = aps_cuda_stream_create(&error);
        unsigned char *host = (unsigned char *)calloc(some, 4);
        struct aps_format format;
        unsigned flags = 0;
        double plain;

        must(error, "a lane");
        if (!host)
            return 1;
        plain = seconds([&] {
            must(cudaMemcpy(host, x, some * 4, cudaMemcpyDeviceToHost),
                 "copy to the host");
        });
        printf("\nto the host, %zu Mi floats; share: of cudaMemcpy's floats\n",
               some >> 20);
        row("cudaMemcpy", "fp32", 4.0 * some, plain, 4.0 * some / plain, 0);
        row("copy_out", "fp32", 4.0 * some, seconds([&] {
                must(aps_staged_copy_out(lane, host, x, some), "copy_out");
            }),
            4.0 * some / plain, 0);
        for (const char *name : names) {
            if (aps_format_parse(name, &format, NULL) < 0)
                return 1;
            row("encode", name, 4.0 * some, seconds([&] {
                    must(aps_staged_encode(lane, &format, APS_ELEMENT_FLOAT, x,
                                           some, scaling, &nearest, host,
                                           &flags, NULL),
                         "encode");
                }),
                4.0 * some / plain, 0);
            row("decode", name, 4.0 * some, seconds([&] {
                    must(aps_staged_decode(lane, &format, host, some, scaling,
                                           flags, APS_ELEMENT_FLOAT, y),
                         "decode");
                }),
                4.0 * some / plain, 0);
        }
        aps_cuda_stream_destroy(lane);
        free(host);
    }
    return 0;
}

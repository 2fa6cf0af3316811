// SPDX-License-Identifier: BSD-3-Clause
// Compares an all-reduce of a buffer in a GPU's memory, by the library, with a
// program's own staging for an MPI that is not CUDA-aware: it copies the floats to
// pinned memory, calls MPI's own all-reduce, and copies them back. Both alternate
// in one job.
//
//     mpiexec -n 2 -genv LD_PRELOAD libapsmpi.so -genv APSMPI_POLICY ...
//         allreduce [MEBIFLOATS]
//
// Rank 0 prints the medians in milliseconds, and the ratio.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>
#include <mpi.h>

#define MUST(call)                                                             \
    do {                                                                       \
        cudaError_t error_ = (call);                                           \
                                                                               \
        if (error_ != cudaSuccess) {                                           \
            std::fprintf(stderr, "allreduce: %s: %s\n", #call,                 \
                         cudaGetErrorString(error_));                          \
            MPI_Abort(MPI_COMM_WORLD, 1);                                      \
        }                                                                      \
    } while (0)

static const int WARMUP = 3, ROUNDS = 11;

// Fills small integers, which e4m3 holds, with their sums.
__global__ static void fill(float *x, size_t n, int rank)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        x[i] = (float)((i + rank) % 3) - 1;
}

// Returns the milliseconds of the slowest rank.
static double slowest(double seconds)
{
    double most;

    PMPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return 1e3 * most;
}

int main(int argc, char **argv)
{
    size_t n = (size_t)(argc > 1 ? std::atoi(argv[1]) : 25) << 20;
    std::vector<double> ours, copied;
    float *device, *sum, *host, *expected;
    int rank, devices, wrong = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MUST(cudaGetDeviceCount(&devices));
    MUST(cudaSetDevice(rank % devices));
    MUST(cudaMalloc((void **)&device, n * sizeof *device));
    MUST(cudaMalloc((void **)&sum, n * sizeof *sum));
    MUST(cudaMallocHost((void **)&host, n * sizeof *host));
    MUST(cudaMallocHost((void **)&expected, n * sizeof *expected));
    fill<<<256, 256>>>(device, n, rank);
    MUST(cudaDeviceSynchronize());
    for (int round = -WARMUP; round < ROUNDS; round++) {
        double begin, middle, time;

        PMPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        MUST(
            cudaMemcpy(host, device, n * sizeof *host, cudaMemcpyDeviceToHost));
        PMPI_Allreduce(MPI_IN_PLACE, host, (int)n, MPI_FLOAT, MPI_SUM,
                       MPI_COMM_WORLD);
        MUST(cudaMemcpy(sum, host, n * sizeof *host, cudaMemcpyHostToDevice));
        middle = MPI_Wtime();
        time = slowest(middle - begin);
        if (round >= 0)
            copied.push_back(time);
        std::copy(host, host + n, expected);
        PMPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        MPI_Allreduce(device, sum, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        time = slowest(MPI_Wtime() - begin);
        if (round >= 0)
            ours.push_back(time);
        MUST(cudaMemcpy(host, sum, n * sizeof *host, cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < n; i++)
            wrong += host[i] != expected[i];
    }
    std::sort(ours.begin(), ours.end());
    std::sort(copied.begin(), copied.end());
    if (rank == 0)
        std::printf("all-reduce of %zu Mi floats: %.2f ms, copied and native "
                    "%.2f ms: %.2fx, goal at least 3: %s\n",
                    n >> 20, ours[ROUNDS / 2], copied[ROUNDS / 2],
                    copied[ROUNDS / 2] / ours[ROUNDS / 2],
                    copied[ROUNDS / 2] >= 3 * ours[ROUNDS / 2] ? "reached"
                                                               : "missed");
    if (wrong > 0)
        std::fprintf(stderr, "allreduce: rank %d: %d sums are wrong\n", rank,
                     wrong);
    MPI_Finalize();
    return wrong > 0;
}

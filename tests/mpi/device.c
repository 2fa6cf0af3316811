/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls on GPU memory give the same bits as on host memory, whichever ranks
 * have GPU buffers, and whether the calls are rewritten or pass through.
 *
 *   device policy      prints the policy of `device sums`: a way to reduce for
 *                      every thousand elements
 *   device sums        all-reduces
 *   device long [more] all-reduces of several of the longest chunks
 *   device plain       the calls of `long` on host memory, without a GPU
 *   device alone       the calls of `long` on GPU memory
 *   device unsettled   all-reduces of buffers that cudaMemcpy is not done with
 *   device captured    all-reduces and broadcasts while a stream is captured
 *   device waits [aware|...] how often all-reduces wait for the GPU
 *   device others      the other calls that may be rewritten
 *   device types       all-reduces of other types than FP32
 *   device nonblocking MPI_Iallreduce and persistent ones
 *   device passed      calls of all kinds that go to an MPI which is not aware
 *   device log WHERE   some calls of all kinds, on `host` or `device` memory
 *   device failing [shared|aware]  copies that fail on rank 1
 *   device aware       a call that an aware MPI gets as it is
 */
#include "config.h"

#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "device_buffers.h"
#include "device_calls.h"
#include "gpu.h"
#include "mpitap.h"

/* A scale whose state does not change: calls on host memory and on GPU memory
 * have the same exponent, and redo the same chunks. */
#define CONSTANT "{backoff: {start: 2^7, max: 2^7, min: 2^7, scope: layer}}"

const struct way ways[WAYS] = {
    {.format = "e4m3", .scale = SCALE_TIGHT, .reduce = REDUCE_DIRECT},
    {.format = "e5m2", .scale = SCALE_APS, .reduce = REDUCE_DIRECT},
    {.format = "e3m0", .scale = SCALE_NONE, .reduce = REDUCE_DIRECT},
    {.format = "e7m12",
     .scale = SCALE_FIXED,
     .fixed = 1000,
     .reduce = REDUCE_DIRECT,
     .accumulate = ACCUMULATE_FORMAT},
    {.format = "e8m23", .scale = SCALE_NONE, .reduce = REDUCE_HIERARCHICAL},
    {.format = "e4m3", .scale = SCALE_APS, .reduce = REDUCE_HIERARCHICAL},
    {.format = "e5m2",
     .scale = SCALE_TIGHT,
     .reduce = REDUCE_HIERARCHICAL,
     .group = 2},
    {.format = "e3m0",
     .scale = SCALE_TIGHT,
     .reduce = REDUCE_HIERARCHICAL,
     .node_fp32 = true},
    {.format = "e5m10", .scale = SCALE_NONE, .reduce = REDUCE_RING},
    {.format = "e4m3",
     .scale = SCALE_APS,
     .reduce = REDUCE_RING,
     .accumulate = ACCUMULATE_FORMAT},
    {.format = "e5m2", .scale = SCALE_TIGHT, .reduce = REDUCE_MASTER},
    {.format = "e4m3",
     .scale = SCALE_APS,
     .reduce = REDUCE_MASTER,
     .group = 2,
     .accumulate = ACCUMULATE_FORMAT},
    {.format = "e3m0", .scale = SCALE_TIGHT, .reduce = REDUCE_GATHER},
    {.format = "e5m2",
     .scale = SCALE_APS,
     .reduce = REDUCE_GATHER,
     .accumulate = ACCUMULATE_KAHAN},
    {.format = "mx-e4m3fn", .scale = SCALE_OWN, .reduce = REDUCE_DIRECT},
    {.format = "bfp4/576", .scale = SCALE_OWN, .reduce = REDUCE_HIERARCHICAL},
    {.format = "nvfp4", .scale = SCALE_OWN, .reduce = REDUCE_HIERARCHICAL},
    {.format = "bfp7/64", .scale = SCALE_OWN, .reduce = REDUCE_RING},
    {.format = "flex8", .scale = SCALE_APS, .reduce = REDUCE_HIERARCHICAL},
    {.format = "flex16", .scale = SCALE_APS, .reduce = REDUCE_DIRECT},
    {.format = "e4m3", .history = CONSTANT, .reduce = REDUCE_DIRECT},
    {.format = "e5m2", .history = CONSTANT, .reduce = REDUCE_HIERARCHICAL},
    {.format = "e4m3", .history = CONSTANT, .reduce = REDUCE_RING},
};

bool passes;

static void print_policy(void)
{
    printf("version: 1\nmin_count: 1\nrules:\n"
           "  - {min_count: 1000000, format: e5m2, scale: aps}\n");
    for (size_t i = 0; i < LENGTH(ways); i++) {
        for (size_t begin = 0; begin <= LONG; begin += LONG) {
            way_print_rule(stdout, &ways[i], -1, -1);
            printf("    min_count: %zu\n    max_count: %zu\n",
                   begin + i * STEP + 1, begin + (i + 1) * STEP);
        }
    }
}

static void run_log(bool device)
{
    struct buffers buffers = {device ? device_in + 1 : host_send + 1,
                              device ? device_out + 1 : host_receive + 1};

    for (int step = 0; step < 3; step++) {
        for (size_t i = 0; i < LENGTH(ways); i++) {
            const size_t n = i * STEP + 777;

            fill(FILL_GRADIENTS, i, rank, n, in);
            lay_out(&buffers, n, n);
            MPI_Allreduce(buffers.send, buffers.receive, (int)n, MPI_FLOAT,
                          MPI_SUM, MPI_COMM_WORLD);
        }
    }
    fill(FILL_GRADIENTS, 5, rank, 50000 * (size_t)ranks, in);
    lay_out(&buffers, 50000 * (size_t)ranks, 50000 * (size_t)ranks);
    MPI_Reduce_scatter_block(buffers.send, buffers.receive, 50000, MPI_FLOAT,
                             MPI_SUM, MPI_COMM_WORLD);
    MPI_Allgather(buffers.send, 50000, MPI_FLOAT, buffers.receive, 50000,
                  MPI_FLOAT, MPI_COMM_WORLD);
    MPI_Reduce(buffers.send, buffers.receive, 50000, MPI_FLOAT, MPI_SUM,
               ranks - 1, MPI_COMM_WORLD);
    ok_all(true, "calls for the log");
}

static void crashed(int number)
{
    static const char text[] = "# MPI touches the buffer itself\n";

    (void)number;
    (void)!write(STDOUT_FILENO, text, sizeof text - 1);
    _exit(0);
}

static void run_aware(void)
{
    signal(SIGSEGV, crashed);
    MPI_Allreduce(device_in, device_out, 1000, MPI_INT, MPI_SUM,
                  MPI_COMM_WORLD);
    ok_all(false, "MPI got the buffer");
}
static void run(const char *mode, const char *argument)
{
    const char *missing;

    /* Maps buffers separately, before there is a driver. */
    if (strcmp(mode, "passed") == 0)
        MPI_Bcast(in, (int)MOST, MPI_FLOAT, 0, MPI_COMM_WORLD);
    if (strcmp(mode, "plain") == 0) {
        run_long(true, false, false);
        return;
    }
    missing = gpu_open();
    if (missing) {
        skip_all(mode, missing);
        return;
    }
    device_in = gpu_alloc(MOST * sizeof(float), false);
    device_out = gpu_alloc(MOST * sizeof(float), false);
    managed_in = gpu_alloc(MOST * sizeof(float), true);
    managed_out = gpu_alloc(MOST * sizeof(float), true);
    if (strcmp(mode, "sums") == 0)
        run_sums();
    else if (strcmp(mode, "long") == 0)
        run_long(true, true, strcmp(argument, "more") == 0);
    else if (strcmp(mode, "alone") == 0)
        run_long(false, true, false);
    else if (strcmp(mode, "unsettled") == 0)
        run_unsettled();
    else if (strcmp(mode, "captured") == 0)
        run_captured();
    else if (strcmp(mode, "waits") == 0)
        run_waits(argument);
    else if (strcmp(mode, "others") == 0)
        run_others();
    else if (strcmp(mode, "types") == 0)
        run_types();
    else if (strcmp(mode, "nonblocking") == 0)
        run_nonblocking(true);
    else if (strcmp(mode, "passed") == 0)
        run_passed();
    else if (strcmp(mode, "log") == 0)
        run_log(strcmp(argument, "device") == 0);
    else if (strcmp(mode, "failing") == 0)
        run_failing(strcmp(argument, "shared") == 0,
                    strcmp(argument, "aware") == 0);
    else if (strcmp(mode, "aware") == 0)
        run_aware();
    /* The legacy stream waits for kernels, which may wait for the results. */
    ok_all(gpu_legacy_uses() == 0, "nothing uses the legacy stream");
    gpu_free(device_in);
    gpu_free(device_out);
    gpu_free(managed_in);
    gpu_free(managed_out);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int status;

    if (strcmp(mode, "policy") == 0) {
        print_policy();
        return 0;
    }
#ifdef HAVE_PMPIX_GREQUEST_START
    MPI_Init(&argc, &argv);
#else
    /* Nonblocking calls that pass through need a thread. */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &(int){0});
#endif
    mpitap_begin();
    rank = mpitap_rank();
    ranks = mpitap_size();
    in = malloc(MOST * sizeof *in);
    expected = malloc(MOST * sizeof *expected);
    got = malloc((MOST + 2) * sizeof *got);
    run(mode, argc > 2 ? argv[2] : "");
    free(in);
    free(expected);
    free(got);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

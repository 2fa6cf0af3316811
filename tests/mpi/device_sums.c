/* SPDX-License-Identifier: BSD-3-Clause */
#include "device_calls.h"

#include "config.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "device_buffers.h"
#include "gpu.h"
#include "mpitap.h"

static unsigned long rewritten;

bool sum(enum where where, size_t n, uint64_t seed)
{
    const struct buffers buffers = buffers_of(where, 1 + seed % 3);
    int rc;

    fill((enum fill)(seed % FILLS), seed, rank, n, in);
    MPI_Allreduce(in, expected, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    lay_out(&buffers, n, n);
    rc = MPI_Allreduce(send_of(&buffers), buffers.receive, (int)n, MPI_FLOAT,
                       MPI_SUM, MPI_COMM_WORLD);
    rewritten += 2;
    return check(&buffers, n, n) && rc == MPI_SUCCESS;
}

void run_sums(void)
{
    static const size_t counts[] = {1, 7, 64, 65, 777, 1000};
    char name[128];
    uint64_t seed = 0;

    for (size_t i = 0; i < WAYS; i++) {
        bool good[WHERES] = {0};

        for (int where = 0; where < WHERES; where++) {
            good[where] = true;
            for (size_t k = 0; k < LENGTH(counts); k++, seed++)
                good[where] &=
                    sum((enum where)where, i * STEP + counts[k], seed);
        }
        good[i % WHERES] &=
            sum((enum where)(i % WHERES), LONG + i * STEP + 1 + i % 7, seed++);
        for (int where = 0; where < WHERES; where++)
            ok_all(good[where], "%s: %s", way_name(&ways[i], name, sizeof name),
                   where_names[where]);
    }
    /* The driver's contexts are as before: none is current. */
    gpu_leave();
    (void)MPI_Allreduce(device_in, device_out, 1000, MPI_FLOAT, MPI_SUM,
                        MPI_COMM_WORLD);
    rewritten++;
    gpu_enter();
    ok_all(true, "without a context in this thread");
    expect_rewritten(rewritten);
}

static void renew(float **buffer, float *fresh)
{
    gpu_free(*buffer);
    *buffer = fresh;
}

void run_unsettled(void)
{
    static const size_t counts[] = {64, 777, 1000};
    const size_t bytes = MOST * sizeof(float);
    char name[128];

    puts_by_legacy = true;
    for (size_t i = 0; i < WAYS; i++) {
        bool good = true;

        for (size_t k = 0; k < 6; k++) {
            if (k % 2 == 0) { /* and once with the present contents */
                renew(&device_in, gpu_alloc(bytes, false));
                renew(&device_out,
                      k < 4 ? gpu_alloc(bytes, false) : gpu_alloc_pool(bytes));
                renew(&managed_out, gpu_alloc(bytes, true));
            }
            good &= sum((enum where)((i + k) % WHERES),
                        i * STEP + counts[k % LENGTH(counts)], k);
        }
        ok_all(good, "copies that have not ended, %s",
               way_name(&ways[i], name, sizeof name));
    }
    expect_rewritten(rewritten);
}

/* Makes calls of all kinds of ways while a stream of the program is captured;
 * they are the first calls of the process. */
void run_captured(void)
{
    const struct buffers buffers = buffers_of(DEVICE, 1);
    bool valid = true, right = true;

    for (size_t i = 0; i < 2 * WAYS; i++) {
        const size_t n = (i % 2 ? LONG : 0) + i / 2 * STEP + 777;

        fill(FILL_GRADIENTS, i, rank, n, in);
        MPI_Allreduce(in, expected, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        lay_out(&buffers, n, n);
        gpu_capture_begin();
        MPI_Allreduce(buffers.send, buffers.receive, (int)n, MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
        valid &= gpu_capture_end();
        right &= check(&buffers, n, n);
    }
    ok_all(valid, "a capture stays valid through calls that are rewritten");
    ok_all(right, "... whose results are right");
    for (int root = 0; root < ranks; root++) {
        fill(FILL_GRADIENTS, 1, root, 5000, expected);
        fill(FILL_GRADIENTS, 1, rank, 5000, in);
        lay_out(&buffers, 5000, 5000);
        if (rank == root)
            put(buffers.receive, in, 5000 * sizeof *in);
        gpu_capture_begin();
        MPI_Bcast(buffers.receive, 5000, MPI_FLOAT, root, MPI_COMM_WORLD);
        valid &= gpu_capture_end();
        right &= check(&buffers, 5000, 5000);
    }
    ok_all(valid, "a capture stays valid through calls that pass");
    ok_all(right, "... whose results are right");
}

static uint64_t hash_floats(const float *x, size_t n)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    uint32_t bits;

    for (size_t i = 0; i < n; i++) {
        memcpy(&bits, &x[i], sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static void tell_sum(uint64_t seed, const float *x, size_t n)
{
    if (rank == 0)
        printf("# sum %d: %016llx\n", (int)seed,
               (unsigned long long)hash_floats(x, n));
}

/* Sums x[n], which is in GPU memory or, on odd ranks and every other time, in
 * host memory, to y. */
static void sum_long(uint64_t seed, const float *x, float *device, size_t n,
                     float *y)
{
    const bool on_device = seed % 2 == 0 || rank % 2 == 0;

    if (on_device)
        gpu_put(device, x, n * sizeof *x);
    else
        memcpy(y, x, n * sizeof *x);
    MPI_Allreduce(MPI_IN_PLACE, on_device ? device : y, (int)n, MPI_FLOAT,
                  MPI_SUM, MPI_COMM_WORLD);
    if (on_device)
        gpu_get(y, device, n * sizeof *x);
}

void run_long(bool on_host, bool on_gpu, bool more)
{
    /* Inside a node, chunks of GPU memory have 4 Mi elements. */
    const size_t n = (size_t)(more ? 9 : 4) * 1024 * 1024 + 77;
    float *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    float *z = malloc(n * sizeof *z);
    float *device = on_gpu ? gpu_alloc(n * sizeof *x, false) : NULL;

    for (uint64_t seed = 0; seed < FILLS; seed++) {
        fill((enum fill)seed, seed, rank, n, x);
        if (on_host) {
            MPI_Allreduce(x, y, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
            tell_sum(seed, y, n);
        }
        if (on_gpu)
            sum_long(seed, x, device, n, z);
        if (on_gpu && !on_host)
            tell_sum(seed, z, n);
        if (on_gpu && on_host)
            ok_all(first_difference(n, y, z) == n, "%zu elements, %d%s", n,
                   (int)seed, seed % 2 ? ", in GPU memory on some ranks" : "");
    }
    ok_all(true, "long all-reduces");
    if (device)
        gpu_free(device);
    free(x);
    free(y);
    free(z);
}

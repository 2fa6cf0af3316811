/* SPDX-License-Identifier: BSD-3-Clause */
/* All-reduces of other types than FP32, with the buffers in GPU memory. */
#include "device_calls.h"

#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "mpitap.h"

#define COUNT 300001

static void test_type(const char *name, MPI_Datatype type, size_t bytes)
{
    unsigned char *x = malloc(COUNT * bytes), *sum = malloc(COUNT * bytes),
                  *wanted = malloc(COUNT * bytes);
    void *send = gpu_alloc(COUNT * bytes, false);
    void *receive = gpu_alloc(COUNT * bytes, false);

    /* values from 2^-15 to 2, in all types */
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k + 2 < bytes; k++)
            x[i * bytes + k] = (unsigned char)(i * 11 + k * 53);
        x[(i + 1) * bytes - 1] = 0x3f;
        x[(i + 1) * bytes - 2] = (unsigned char)(i * 37 + (size_t)rank * 101);
    }
    MPI_Allreduce(x, wanted, COUNT, type, MPI_SUM, MPI_COMM_WORLD);
    gpu_put(send, x, COUNT * bytes);
    MPI_Allreduce(send, receive, COUNT, type, MPI_SUM, MPI_COMM_WORLD);
    gpu_get(sum, receive, COUNT * bytes);
    ok_all(memcmp(sum, wanted, COUNT * bytes) == 0, "%s", name);
    MPI_Allreduce(MPI_IN_PLACE, send, COUNT, type, MPI_SUM, MPI_COMM_WORLD);
    gpu_get(sum, send, COUNT * bytes);
    ok_all(memcmp(sum, wanted, COUNT * bytes) == 0, "... in place");
    gpu_put(send, x, COUNT * bytes);
    MPI_Allreduce(rank % 2 ? x : send, receive, COUNT, type, MPI_SUM,
                  MPI_COMM_WORLD);
    gpu_get(sum, receive, COUNT * bytes);
    ok_all(memcmp(sum, wanted, COUNT * bytes) == 0,
           "... with the send buffer of odd ranks on the host");
    gpu_free(send);
    gpu_free(receive);
    free(x);
    free(sum);
    free(wanted);
}

void run_types(void)
{
    test_type("double", MPI_DOUBLE, 8);
#ifdef MPIX_BFLOAT16
    test_type("bf16", MPIX_BFLOAT16, 2);
#endif
#ifdef MPIX_C_FLOAT16
    test_type("fp16", MPIX_C_FLOAT16, 2);
#endif
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program for t-frames.sh, run under a debugger: blocking all-reduces of 65,536
 * floats. `frames_steady` marks the calls after those that prepare the reduction.
 */
#include <mpi.h>
#include <stdlib.h>

#define COUNT 65536
#define STEADY 10

void frames_steady(int call);

__attribute__((noinline)) void frames_steady(int call)
{
    __asm__ volatile("" : : "r"(call));
}

int main(int argc, char **argv)
{
    float *in, *out;

    MPI_Init(&argc, &argv);
    in = calloc(COUNT, sizeof *in);
    out = calloc(COUNT, sizeof *out);
    for (int call = -3; in && out && call <= STEADY; call++) {
        for (int i = 0; i < COUNT; i++)
            in[i] = (float)(i % 97 + call);
        if (call >= 0)
            frames_steady(call);
        if (call < STEADY)
            MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}

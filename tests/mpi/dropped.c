/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Pcontrol(4) drops the state of compressors. Half of all elements are
 * sent, the largest ones. The first half of the elements are 1.5, the second
 * half 1: a call without state sends the first half. In the next call the
 * second half has grown to 2, and is sent. The argument names the test.
 */
#include "config.h"

#include <mpi.h>
#include <string.h>

#include "mpitap.h"

#define COUNT 2048

enum what { FIRST, SECOND };

static void fill(float in[COUNT])
{
    for (int i = 0; i < COUNT; i++)
        in[i] = i < COUNT / 2 ? 1.5f : 1;
}

/* True if `out` is the sum over `size` ranks of the elements that such calls send. */
static bool check(const float out[COUNT], enum what what, int size)
{
    bool good = true;

    for (int i = 0; i < COUNT && good; i++) {
        const bool first = i < COUNT / 2;
        const float sent = first ? 1.5f : 2;
        const float wanted = first == (what == FIRST) ? sent * (float)size : 0;

        good = out[i] == wanted;
        if (!good)
            diag("rank %d: element %d is %g, not %g", mpitap_rank(), i, out[i],
                 wanted);
    }
    return good;
}

static bool reduce(enum what what, MPI_Comm comm)
{
    float in[COUNT], out[COUNT];
    int size;

    fill(in);
    MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, comm);
    MPI_Comm_size(comm, &size);
    return check(out, what, size);
}

static void try_blocking(void)
{
    const int last = mpitap_size() - 1;
    MPI_Comm copy;
    bool good;

    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    good = reduce(FIRST, MPI_COMM_WORLD) & reduce(SECOND, MPI_COMM_WORLD);
    ok_all(good, "what was left out comes later");
    good = reduce(FIRST, copy);
    MPI_Pcontrol(4);
    good &= reduce(FIRST, MPI_COMM_WORLD) & reduce(FIRST, copy);
    ok_all(good, "level 4 drops it, on all communicators");
    good = reduce(SECOND, MPI_COMM_WORLD) & reduce(SECOND, copy);
    ok_all(good, "... once");
    MPI_Pcontrol(4);
    MPI_Pcontrol(4);
    good = reduce(FIRST, MPI_COMM_WORLD);
    ok_all(good, "twice is as good");
    MPI_Pcontrol(mpitap_rank() == last ? 4 : 1);
    good = reduce(SECOND, MPI_COMM_WORLD);
    ok_all(good, "one rank drops: nothing changes");
    MPI_Pcontrol(4);
    good = reduce(FIRST, MPI_COMM_WORLD) & reduce(SECOND, MPI_COMM_WORLD);
    ok_all(good, "all ranks drop again");
    MPI_Comm_free(&copy);
}

#define CALLS 6

/* COLLECTIVE over MPI_COMM_WORLD. Makes nonblocking calls that are under way together,
 * with level 4 before some of them: each uses the state of when it was made. */
static void try_nonblocking(const enum what whats[CALLS],
                            const bool drops[CALLS])
{
    static float in[CALLS][COUNT], out[CALLS][COUNT];
    MPI_Request requests[CALLS];
    bool good = true;

    for (int i = 0; i < CALLS; i++) {
        if (drops[i])
            MPI_Pcontrol(4);
        fill(in[i]);
        MPI_Iallreduce(in[i], out[i], COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                       &requests[i]);
    }
    for (int i = CALLS - 1; i >= 0; i--)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < CALLS; i++)
        good &= check(out[i], whats[i], mpitap_size());
    ok_all(good, "calls under way keep what was there when they were made");
}

/* A step is one layer. */
static void try_steps(void)
{
    static const enum what whats[] = {FIRST,  SECOND, FIRST,
                                      SECOND, FIRST,  SECOND};
    static const bool drops[] = {true, false, true, false, true, false};

    (void)reduce(FIRST, MPI_COMM_WORLD);
    try_nonblocking(whats, drops);
}

/* A step is two layers, and may be reduced in one batch. */
static void try_layers(void)
{
    static const enum what whats[] = {FIRST, FIRST, SECOND,
                                      FIRST, FIRST, SECOND};
    static const bool drops[] = {true, false, false, true, false, false};

    (void)reduce(FIRST, MPI_COMM_WORLD);
    (void)reduce(FIRST, MPI_COMM_WORLD);
    try_nonblocking(whats, drops);
}

int main(int argc, char **argv)
{
    int level, status;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
    if (argc > 1 && strcmp(argv[1], "steps") == 0)
        try_steps();
    else if (argc > 1 && strcmp(argv[1], "layers") == 0)
        try_layers();
    else
        try_blocking();
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

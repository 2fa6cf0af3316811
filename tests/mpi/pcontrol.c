/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Pcontrol. Every element is 1.25, which e3m0 rounds to 1: a result tells
 * whether its call was rewritten. The first argument names the test;
 * t-pcontrol.sh has the policies. A second argument asks for threads.
 */
#include "config.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mpitap.h"

#define COUNT 2048
#define VALUE 1.25f
#define LATE 3 /* seconds: longer than the library's patience */

enum what { ROUNDED, EXACT };

static unsigned long rewritten; /* on rank 0 */

/* Replaces the C library's function, to see whether the log is flushed. */
static int flushed;

__attribute__((visibility("default"))) int fdatasync(int fd)
{
    char link[64], path[4096];
    ssize_t length;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    flushed += strstr(path, "flushed.csv") != NULL;
    return 0;
}

/* Returns the sum of `size` ranks: 1.25 counts as 1, and the sum of ones is
 * rounded to the nearest power of two (ties upwards). */
static float expected(enum what what, int size)
{
    int power = 1;

    if (what == EXACT || size == 1)
        return VALUE * (float)size;
    while (2 * power - size <= size - power)
        power *= 2;
    return (float)power;
}

static void fill(float in[COUNT])
{
    for (int i = 0; i < COUNT; i++)
        in[i] = VALUE;
}

/* True if `out` is the result of a call on `comm`. */
static bool check(const float out[COUNT], enum what what, MPI_Comm comm)
{
    bool good = true;
    int size;

    MPI_Comm_size(comm, &size);
    for (int i = 0; i < COUNT && good; i++) {
        good = out[i] == expected(what, size);
        if (!good)
            diag("rank %d: %g, expected %g", mpitap_rank(), out[i],
                 expected(what, size));
    }
    rewritten += what == ROUNDED && size > 1;
    return good;
}

static bool reduce(enum what what, MPI_Comm comm)
{
    float in[COUNT], out[COUNT];

    fill(in);
    MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, comm);
    return check(out, what, comm);
}

static bool reduce_times(int times, enum what what, MPI_Comm comm)
{
    bool good = true;

    for (int i = 0; i < times; i++)
        good &= reduce(what, comm);
    return good;
}

static void control(int level)
{
    if (MPI_Pcontrol(level) != MPI_SUCCESS)
        diag("rank %d: MPI_Pcontrol(%d) fails", mpitap_rank(), level);
}

/* Two calls a step; the first is rounded. */
static void try_switch(void)
{
    MPI_Comm half, copy;
    bool good;

    MPI_Comm_split(MPI_COMM_WORLD, mpitap_rank() % 2, 0, &half);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    good = reduce(ROUNDED, MPI_COMM_WORLD) & reduce(EXACT, MPI_COMM_WORLD);
    good &= reduce(ROUNDED, MPI_COMM_WORLD) & reduce(ROUNDED, half);
    ok_all(good, "on at the beginning");
    control(0);
    good = reduce(EXACT, MPI_COMM_WORLD) & reduce(EXACT, MPI_COMM_WORLD);
    ok_all(good, "off: nothing is rewritten");
    good = reduce(EXACT, half) & reduce(EXACT, half) & reduce(EXACT, half);
    ok_all(good, "... on any communicator");
    good = reduce(EXACT, copy);
    ok_all(good, "... nor on one that is used for the first time");
    control(0);
    control(1);
    good = reduce(EXACT, MPI_COMM_WORLD) & reduce(ROUNDED, MPI_COMM_WORLD);
    good &= reduce(ROUNDED, half) & reduce(EXACT, half);
    good &= reduce(EXACT, copy) & reduce(ROUNDED, copy);
    ok_all(good, "on again: the step went on meanwhile, everywhere");
    control(1);
    good = reduce(EXACT, MPI_COMM_WORLD) & reduce(ROUNDED, MPI_COMM_WORLD);
    ok_all(good, "on twice is on");
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
}

/* Switches off before the first reduction. */
static void try_early(void)
{
    bool good;

    control(0);
    good = reduce_times(3, EXACT, MPI_COMM_WORLD);
    ok_all(good, "off from the beginning");
    control(1);
    good = reduce_times(3, ROUNDED, MPI_COMM_WORLD);
    ok_all(good, "on later");
}

/* Epochs 1 and 3 are rounded; without marks an epoch would have two steps. */
static void try_marks(bool first)
{
    MPI_Comm half;
    bool good;

    MPI_Comm_split(MPI_COMM_WORLD, mpitap_rank() % 2, 0, &half);
    if (first)
        control(3);
    good = reduce_times(first ? 5 : 2, EXACT, MPI_COMM_WORLD);
    good &= reduce(EXACT, half);
    ok_all(good, first ? "the first mark begins epoch 0"
                       : "epoch 0 before the first mark");
    control(3);
    good = reduce_times(5, ROUNDED, MPI_COMM_WORLD) & reduce(ROUNDED, half);
    ok_all(good, "epoch 1, and per_epoch no longer counts");
    control(3);
    good = reduce(EXACT, half) & reduce(EXACT, MPI_COMM_WORLD);
    ok_all(good, "epoch 2");
    control(0);
    control(3);
    good = reduce(EXACT, MPI_COMM_WORLD);
    ok_all(good, "a mark while switched off");
    control(1);
    good = reduce(ROUNDED, half) & reduce(ROUNDED, MPI_COMM_WORLD);
    ok_all(good, "... is epoch 3");
    control(3);
    control(3);
    good = reduce(EXACT, half) & reduce(EXACT, MPI_COMM_WORLD);
    ok_all(good, "two marks are two epochs");
    MPI_Comm_free(&half);
}

/* Two steps an epoch, no marks; other levels change nothing. */
static void try_levels(void)
{
    bool good = reduce_times(2, EXACT, MPI_COMM_WORLD);

    control(2);
    if (mpitap_rank() == 0)
        control(5); /* not a level of the library: no rank waits */
    control(-1);
    good &= reduce_times(2, ROUNDED, MPI_COMM_WORLD);
    good &= reduce_times(2, EXACT, MPI_COMM_WORLD);
    ok_all(good, "other levels switch and mark nothing");
}

static void try_flush(void)
{
    bool good;

    control(2);
    ok_all(flushed == (mpitap_rank() == 0),
           "level 2 flushes the log that MPI_Init has begun");
    good = reduce(ROUNDED, MPI_COMM_WORLD);
    if (mpitap_rank() == 0)
        control(2);
    ok_all(flushed == 2 * (mpitap_rank() == 0), "... again");
    control(2);
    ok_all(flushed == 3 * (mpitap_rank() == 0),
           "... again, where there is one");
    good &= reduce(ROUNDED, MPI_COMM_WORLD);
    ok_all(good, "... and changes nothing else");
}

/* Ranks call different levels. */
static void try_differ(void)
{
    const int last = mpitap_size() - 1;
    bool good = reduce(ROUNDED, MPI_COMM_WORLD);

    control(mpitap_rank() == last ? 0 : 1);
    good &= reduce(ROUNDED, MPI_COMM_WORLD);
    ok_all(good, "one rank says off: nothing changes");
    control(mpitap_rank() == 0 ? 0 : 3);
    good = reduce(ROUNDED, MPI_COMM_WORLD);
    ok_all(good, "rank 0 says off, the others mark: nothing changes");
    control(0);
    good = reduce(EXACT, MPI_COMM_WORLD);
    ok_all(good, "all say off");
    control(mpitap_rank() == last ? 1 : 0);
    good = reduce(EXACT, MPI_COMM_WORLD);
    ok_all(good, "one rank says on: nothing changes");
}

/* Levels of some ranks only, in cases that the library ignores. */
static void try_alone(enum what what)
{
    bool good;

    if (mpitap_rank() == 0)
        control(0);
    good = reduce(what, MPI_COMM_WORLD);
    if (mpitap_rank() != 0) {
        control(3);
        control(0);
    }
    good &= reduce_times(2, what, MPI_COMM_WORLD);
    ok_all(good, "levels of single ranks change nothing and hold nobody");
}

/* The other ranks wait for ranks that come late. */
static void try_late(void)
{
    bool good = reduce(ROUNDED, MPI_COMM_WORLD);

    if (mpitap_rank() == 1)
        sleep(LATE);
    control(0);
    good &= reduce(EXACT, MPI_COMM_WORLD);
    ok_all(good, "rank 1 comes late");
    if (mpitap_rank() == 0)
        sleep(LATE);
    control(1);
    good = reduce(ROUNDED, MPI_COMM_WORLD);
    ok_all(good, "rank 0 comes late");
}

/* One rank waits in MPI_Pcontrol while another still completes a message to it
 * that is too large to go without it. */
static void try_message(void)
{
    static char bytes[1 << 22];
    MPI_Request request = MPI_REQUEST_NULL;
    bool good;

    if (mpitap_rank() == 0)
        MPI_Isend(bytes, sizeof bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD,
                  &request);
    if (mpitap_rank() == 1) {
        sleep(1);
        MPI_Recv(bytes, sizeof bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
    control(0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    good = reduce(EXACT, MPI_COMM_WORLD);
    ok_all(good, "messages go on meanwhile");
}

/* Nonblocking calls use the levels that held when they were made, whenever the
 * library carries them out. */
static void try_nonblocking(void)
{
    enum { CALLS = 6 };
    static const enum what whats[CALLS] = {ROUNDED, ROUNDED, EXACT,
                                           EXACT,   EXACT,   ROUNDED};
    static float in[CALLS][COUNT], out[CALLS][COUNT];
    MPI_Request requests[CALLS];
    bool good = true;

    for (int i = 0; i < CALLS; i++) {
        if (i == 2)
            control(0);
        if (i == CALLS - 1)
            control(1);
        if (i == mpitap_rank())
            usleep(300000);
        fill(in[i]);
        MPI_Iallreduce(in[i], out[i], COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                       &requests[i]);
    }
    for (int i = CALLS - 1; i >= 0; i--)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < CALLS; i++)
        good &= check(out[i], whats[i], MPI_COMM_WORLD);
    ok_all(good, "calls under way use the levels of when they were made");
}

/* One rank waits in MPI_Pcontrol for another rank that waits for a reduction,
 * which needs the first rank. */
static void try_blocked(void)
{
    static float in[COUNT], out[COUNT];
    MPI_Request request;

    fill(in);
    MPI_Iallreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                   &request);
    if (mpitap_rank() == 0)
        control(0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (mpitap_rank() != 0)
        control(0);
    ok_all(check(out, ROUNDED, MPI_COMM_WORLD),
           "reductions go on while a rank waits in MPI_Pcontrol");
}

/* A persistent request uses the level that holds when it is started. */
static void try_persistent(void)
{
    bool good = true;
#if MPI_VERSION >= 4
    static const enum what whats[] = {ROUNDED, EXACT, EXACT, ROUNDED};
    static float in[COUNT], out[COUNT];
    MPI_Info info = mpitap_strict_order();
    MPI_Request request;

    fill(in);
    MPI_Allreduce_init(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, info,
                       &request);
    MPI_Info_free(&info);
    for (int i = 0; i < 4; i++) {
        if (i == 1)
            control(0);
        if (i == 3)
            control(1);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        good &= check(out, whats[i], MPI_COMM_WORLD);
    }
    MPI_Request_free(&request);
#endif
    ok_all(good, "a persistent request uses the level of each start");
}

/* Tests the other collectives; the rule is for epoch 1. */
static void try_others(void)
{
    static const enum what whats[] = {EXACT, ROUNDED, EXACT, ROUNDED, EXACT};
    static const int levels[] = {3, 3, 0, 1, 3};
    static float in[COUNT], out[COUNT];
    bool good = true;

    fill(in);
    for (int i = 0; i < 5; i++) {
        control(levels[i]);
        MPI_Reduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
        if (mpitap_rank() == 0)
            good &= check(out, whats[i], MPI_COMM_WORLD);
    }
    rewritten = 0; /* number of all-reduces */
    ok_all(good, "other collectives obey the switch and the marks");
}

/* A profiler after the library (behind.c) takes every level. */
static void try_behind(void)
{
    bool good = true;

    for (int level = -1; level <= 5; level++)
        good &= MPI_Pcontrol(level, "phase", 5L) == MPI_SUCCESS;
    ok_all(good, "every level goes on, with what else it carries");
}

static void try_it(const char *what)
{
    if (strcmp(what, "switch") == 0)
        try_switch();
    else if (strcmp(what, "early") == 0)
        try_early();
    else if (strcmp(what, "marks-first") == 0)
        try_marks(true);
    else if (strcmp(what, "marks-between") == 0)
        try_marks(false);
    else if (strcmp(what, "levels") == 0)
        try_levels();
    else if (strcmp(what, "flush") == 0)
        try_flush();
    else if (strcmp(what, "differ") == 0)
        try_differ();
    else if (strcmp(what, "alone-rounded") == 0)
        try_alone(ROUNDED);
    else if (strcmp(what, "alone-exact") == 0)
        try_alone(EXACT);
    else if (strcmp(what, "late") == 0)
        try_late();
    else if (strcmp(what, "message") == 0)
        try_message();
    else if (strcmp(what, "nonblocking") == 0)
        try_nonblocking();
    else if (strcmp(what, "blocked") == 0)
        try_blocked();
    else if (strcmp(what, "persistent") == 0)
        try_persistent();
    else if (strcmp(what, "others") == 0)
        try_others();
    else if (strcmp(what, "behind") == 0)
        try_behind();
    else
        ok_all(false, "there is no '%s'", what);
}

int main(int argc, char **argv)
{
    int provided, status;

    if (argc > 1 && strcmp(argv[1], "too-early") == 0)
        MPI_Pcontrol(0);
    MPI_Init_thread(&argc, &argv,
                    argc > 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    mpitap_begin();
    try_it(argc > 1 ? argv[1] : "");
    if (argc == 1 || strcmp(argv[1], "others") != 0)
        expect_rewritten(rewritten);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators of all kinds. The policy makes two calls a step. The first is
 * rounded to e3m0, which has no 1.25; the second is left alone. A result tells
 * which layer of its communicator's step the call was.
 */
#include "config.h"

#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

#define COUNT 100
#define VALUE 1.25f
/* Pages of growth in the last nine tenths of the cycles: the library has
 * allocated everything that it keeps before them. */
#define PAGES_MORE 256

static unsigned long rewritten; /* on rank 0 */

enum layer { ROUNDED, EXACT };

/* Returns the result of a call on `size` ranks: 1.25 counts as 1, and a sum of
 * ones is rounded to the nearest power of two (ties upwards). */
static float expected(enum layer layer, int size)
{
    int power = 1;

    if (layer == EXACT || size == 1)
        return VALUE * (float)size;
    while (2 * power - size <= size - power)
        power *= 2;
    return (float)power;
}

/* Makes one call. True if every element has the expected value. */
static bool reduce_as(enum layer layer, MPI_Comm comm, int size)
{
    float in[COUNT], out[COUNT];
    bool good;

    for (int i = 0; i < COUNT; i++)
        in[i] = VALUE;
    good =
        MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, comm) == MPI_SUCCESS;
    for (int i = 0; i < COUNT && good; i++) {
        if (out[i] != expected(layer, size)) {
            diag("rank %d: element %d is %g, expected %g", mpitap_rank(), i,
                 out[i], expected(layer, size));
            good = false;
        }
    }
    rewritten += layer == ROUNDED && size > 1;
    return good;
}

/* Frees comm while its nonblocking call is under way. True if all is right. */
static bool reduce_and_free(enum layer layer, MPI_Comm *comm)
{
    static float in[COUNT], out[COUNT];
    MPI_Request request;
    bool good = true;
    int size;

    MPI_Comm_size(*comm, &size);
    for (int i = 0; i < COUNT; i++)
        in[i] = VALUE;
    MPI_Iallreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, *comm, &request);
    MPI_Comm_free(comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < COUNT; i++)
        good &= out[i] == expected(layer, size);
    rewritten += layer == ROUNDED && size > 1;
    return good;
}

static bool reduce(enum layer layer, MPI_Comm comm)
{
    int size;

    MPI_Comm_size(comm, &size);
    return reduce_as(layer, comm, size);
}

/* --- attributes of the program's own ------------------------------------- */

static int copies, deletions;

static int copy_attribute(MPI_Comm comm, int key, void *extra, void *value,
                          void *copy, int *flag)
{
    (void)comm, (void)key, (void)extra;
    copies++;
    *(void **)copy = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deletions++;
    return MPI_SUCCESS;
}

/* --- tests --------------------------------------------------------------- */

/* Before any call on MPI_COMM_WORLD. */
static void test_subcommunicator_first(void)
{
    bool odd = mpitap_rank() % 2;
    MPI_Comm half;
    bool good;

    MPI_Comm_split(MPI_COMM_WORLD, odd, mpitap_rank(), &half);
    good = reduce(ROUNDED, half);
    good &= reduce(EXACT, half);
    good &= reduce(ROUNDED, half);
    ok_all(good, "a subcommunicator before MPI_COMM_WORLD");
    good = reduce(ROUNDED, MPI_COMM_WORLD);
    good &= reduce(EXACT, MPI_COMM_WORLD);
    ok_all(good, "then MPI_COMM_WORLD from its first layer on");
    good = reduce(EXACT, half);
    ok_all(good, "the subcommunicator goes on where it was");
    MPI_Comm_free(&half);
}

static void test_one_half(void)
{
    bool inside = mpitap_rank() < 2;
    MPI_Comm pair = MPI_COMM_NULL;
    bool good = true;

    MPI_Comm_split(MPI_COMM_WORLD, inside ? 0 : MPI_UNDEFINED, mpitap_rank(),
                   &pair);
    if (inside) {
        good = reduce(ROUNDED, pair) & reduce(EXACT, pair);
        MPI_Comm_free(&pair);
    }
    ok_all(good, "a communicator that some ranks are not in");
}

static void test_interleaved(void)
{
    MPI_Comm a, b;
    bool good;

    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -mpitap_rank(), &b);
    good = reduce(ROUNDED, a);
    good &= reduce(ROUNDED, b);
    good &= reduce(EXACT, b);
    good &= reduce(ROUNDED, b);
    good &= reduce(EXACT, a);
    good &= reduce(ROUNDED, a);
    good &= reduce(EXACT, b);
    good &= reduce(EXACT, a);
    ok_all(good, "two interleaved communicators keep their own steps");
    MPI_Comm_free(&a);
    good = reduce(ROUNDED, b);
    good &= reduce(EXACT, b);
    ok_all(good, "one goes on when the other is freed");
    MPI_Comm_free(&b);
}

static void test_duplicate(void)
{
    static int value = 42;
    int key, found = 0, *attribute = NULL;
    MPI_Comm parent, copy;
    bool good;

    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL);
    MPI_Comm_set_attr(parent, key, &value);
    good = reduce(ROUNDED, parent);
    ok_all(good && copies == 0,
           "internal communicators do not copy the program's attributes");
    MPI_Comm_dup(parent, &copy);
    MPI_Comm_get_attr(copy, key, &attribute, &found);
    ok_all(copies == 1 && found && attribute && *attribute == 42,
           "a duplicate gets the program's attribute once");
    good = reduce(ROUNDED, copy);
    good &= reduce(EXACT, parent);
    good &= reduce(EXACT, copy);
    ok_all(good, "a duplicate has steps of its own");
    MPI_Comm_free(&parent);
    good = reduce(ROUNDED, copy);
    good &= reduce(EXACT, copy);
    ok_all(good && deletions == 1, "it outlives its parent");
    MPI_Comm_free(&copy);
    ok_all(deletions == 2, "the program's attributes are deleted once each");
    MPI_Comm_free_keyval(&key);
}

static void test_alone(void)
{
    MPI_Comm alone;
    bool good;

    MPI_Comm_split(MPI_COMM_WORLD, mpitap_rank(), 0, &alone);
    good = reduce(ROUNDED, alone);
    good &= reduce(ROUNDED, alone);
    MPI_Comm_free(&alone);
    ok_all(good, "one rank alone passes through");
    good = reduce(ROUNDED, MPI_COMM_SELF);
    good &= reduce(EXACT, MPI_COMM_SELF);
    ok_all(good, "MPI_COMM_SELF passes through");
}

static void test_inter(void)
{
    const int size = mpitap_size();
    bool upper = mpitap_rank() >= 1;
    MPI_Comm side, inter;
    int others = upper ? 1 : size - 1;
    float in[COUNT], out[COUNT];
    bool good = true;

    MPI_Comm_split(MPI_COMM_WORLD, upper, mpitap_rank(), &side);
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, upper ? 0 : 1, 7, &inter);
    for (int i = 0; i < COUNT; i++)
        in[i] = VALUE;
    for (int turn = 0; turn < 3; turn++) {
        MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, inter);
        for (int i = 0; i < COUNT; i++)
            good &= out[i] == VALUE * (float)others;
    }
    ok_all(good, "an intercommunicator passes through");
    MPI_Comm_free(&inter);
    MPI_Comm_free(&side);
}

/* Counts a directory of this process: open files, or mappings by name. */
static int count_entries(const char *path)
{
    DIR *directory = opendir(path);
    int count = 0;

    if (!directory)
        return -1;
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

/* Pages of this process in memory. */
static long count_pages(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long all, resident = -1;

    if (file) {
        if (fscanf(file, "%ld %ld", &all, &resident) != 2)
            resident = -1;
        fclose(file);
    }
    return resident;
}

/* Makes more communicators than there are context ids (MPICH has 2048), so that
 * the ids must be given back. */
static void test_recreated(bool nonblocking, int cycles)
{
    bool good = true;
    int files = 0;
    long pages = 0, more;

    for (int i = 0; i < cycles && good; i++) {
        MPI_Comm comm;

        MPI_Comm_split(MPI_COMM_WORLD, 0, mpitap_rank(), &comm);
        if (nonblocking) {
            good = reduce_and_free(ROUNDED, &comm);
        } else {
            good = reduce(ROUNDED, comm);
            good &= reduce(EXACT, comm);
            MPI_Comm_free(&comm);
        }
        if (i == 0)
            files = count_entries("/proc/self/fd");
        if (i == cycles / 10)
            pages = count_pages();
    }
    more = count_pages() - pages;
    ok_all(good, "made and freed %d times", cycles);
    ok_all(files == count_entries("/proc/self/fd"), "no file is left open");
    if (more > PAGES_MORE)
        diag("rank %d: %ld pages more", mpitap_rank(), more);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip_all("no memory is lost", "the sanitizers keep freed memory");
#else
    ok_all(more <= PAGES_MORE, "no memory is lost");
#endif
}

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    if (argc > 2) {
        test_recreated(strcmp(argv[1], "nonblocking") == 0, atoi(argv[2]));
    } else {
        test_subcommunicator_first();
        test_one_half();
        test_interleaved();
        test_duplicate();
        test_alone();
        test_inter();
    }
    expect_rewritten(rewritten);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Bcast and MPI_Ibcast in few bits: all ranks, the root too, get the bits of a
 * reference that every rank computes from what the root had.
 *
 *   bcast policy     prints the policy
 *   bcast            calls of many lengths and roots; every way has a step of its
 *                    own, which an all-reduce begins
 *   bcast deferred   the calls in the nonblocking form
 *   bcast log        under e4m3: the errors that the log has to show
 *   bcast left       what is left to MPI, or only carried: nothing is rounded
 *   bcast errors     wrong arguments have MPI's errors
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "calls.h"
#include "mpitap.h"
#include "reference_blocks.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define ROOM 200000
#define COUNT 3000

static const struct way ways[] = {
    {.format = "e4m3", .scale = SCALE_TIGHT},
    {.format = "e4m3", .scale = SCALE_APS, .accumulate = ACCUMULATE_FORMAT},
    {.format = "e8m23", .scale = SCALE_NONE},
    {.format = "e3m0", .scale = SCALE_APS},
    {.format = "e5m2", .scale = SCALE_NONE},
    {.format = "e5m2", .scale = SCALE_FIXED, .fixed = 48},
    {.format = "e7m12", .scale = SCALE_APS},
    {.format = "bfp7/576", .scale = SCALE_OWN},
    {.format = "mx-e4m3fn", .scale = SCALE_OWN},
    {.format = "nvfp4", .scale = SCALE_OWN},
};

static int rank, size;
static bool deferred;
static unsigned long made;
static float *x, *expected, *buffer;

static void print_policy(void)
{
    printf("version: 1\nmin_count: 1\nsteps: {calls: 1}\nrules:\n");
    for (size_t i = 0; i < LENGTH(ways); i++) {
        way_print_rule(stdout, &ways[i], -1, -1);
        printf("    calls: [allreduce, bcast]\n    steps: %zu\n", i);
    }
}

/* x[n]: the root's values; some calls have a few values that are not finite. */
static void prepare(unsigned seed, int root, size_t n)
{
    fill((enum fill)(seed % FILLS), seed, root, n, x);
    if (seed % 3 == 1 && n > 40) {
        x[3] = INFINITY;
        x[n / 2] = -INFINITY;
        x[n - 1] = NAN;
    }
    memset(buffer, 0x5a, (n + 1) * sizeof *buffer);
    if (rank == root)
        memcpy(buffer, x, n * sizeof *buffer);
}

static int wait_for(int rc, MPI_Request *request)
{
    return rc == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : rc;
}

/* Alternates between MPI's names of a type, and uses large counts too. */
static int make(unsigned seed, size_t n, int root)
{
    MPI_Datatype type = MPI_FLOAT;
    MPI_Request request;

    if (seed % 5 == 3 && MPI_REAL != MPI_DATATYPE_NULL)
        type = MPI_REAL;
    if (seed % 5 == 4 && MPI_REAL4 != MPI_DATATYPE_NULL)
        type = MPI_REAL4;
    made++;
#ifdef HAVE_PMPI_ALLREDUCE_C
    if (deferred && seed % 2)
        return wait_for(MPI_Ibcast_c(buffer, (MPI_Count)n, type, root,
                                     MPI_COMM_WORLD, &request),
                        &request);
#endif
    if (deferred)
        return wait_for(
            MPI_Ibcast(buffer, (int)n, type, root, MPI_COMM_WORLD, &request),
            &request);
#ifdef HAVE_PMPI_ALLREDUCE_C
    if (seed % 2)
        return MPI_Bcast_c(buffer, (MPI_Count)n, type, root, MPI_COMM_WORLD);
#endif
    return MPI_Bcast(buffer, (int)n, type, root, MPI_COMM_WORLD);
}

static bool has(const char *what, size_t n, const float *got,
                const float *wanted)
{
    const size_t i = first_difference(n, wanted, got);

    if (i < n)
        diag("rank %d: %s: element %zu of %zu is %a, expected %a", rank, what,
             i, n, got[i], wanted[i]);
    return i == n;
}

static bool run_call(const struct way *way, unsigned seed, size_t n, int root)
{
    float guard;
    bool good;

    prepare(seed, root, n);
    guard = buffer[n];
    good = make(seed, n, root) == MPI_SUCCESS;
    good &= memcmp(&guard, &buffer[n], sizeof guard) == 0;
    if (way->scale == SCALE_OWN)
        reference_blocks_bcast(way, size, n, x, expected);
    else
        reference_bcast(way, size, n, x, expected);
    good &= has("broadcast", n, buffer, expected);
    if (strcmp(way->format, "e8m23") == 0)
        good &= has("all bits", n, buffer, x);
    return same_on_all(buffer, n * sizeof *buffer) && good;
}

static void run_way(const struct way *way, unsigned number)
{
    static const size_t lengths[] = {1, 64, 777, 4097, 70001};
    unsigned seed = 100 * number;
    char name[128];
    bool good = true;

    way_name(way, name, sizeof name);
    fill(FILL_GRADIENTS, seed, rank, COUNT, x);
    MPI_Allreduce(x, buffer, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    for (size_t i = 0; i < LENGTH(lengths); i++)
        for (int root = 0; root < size; root++)
            good &= run_call(way, ++seed, lengths[i], root);
    good &= run_call(way, ++seed, ROOM - 1, size - 1);
    ok_all(good, "%s", name);
}

static void run_ways(void)
{
    for (size_t i = 0; i < LENGTH(ways); i++)
        run_way(&ways[i], (unsigned)i);
    if (rank == 0)
        printf("# summary: %lu eligible calls of MPI_Bcast, %lu rewritten\n",
               made, made);
}

/* --- the log ------------------------------------------------------------- */

static void run_log(void)
{
    bool good = true;

    for (int root = 0; root < size; root++) {
        const size_t n = COUNT + (size_t)root;
        double sum = 0;
        size_t compared = 0;

        fill(FILL_GRADIENTS, 5, root, n, x);
        memcpy(buffer, x, n * sizeof *x);
        MPI_Bcast(buffer, (int)n, MPI_FLOAT, root, MPI_COMM_WORLD);
        for (size_t i = 0; i < n; i++) {
            if (x[i] == 0)
                continue;
            sum += fabs(((double)x[i] - (double)buffer[i]) / (double)x[i]);
            compared++;
        }
        good &= compared > 0 && sum > 0;
        if (rank == 0)
            printf("# error %zu %.9g\n", n, sum / (double)compared);
    }
    ok_all(good, "the values are rounded, the root's, too");
}

/* --- not rounded --------------------------------------------------------- */

/* `type` on rank `where`, MPI_FLOAT elsewhere: exact on all. */
static bool exact_with(const char *what, MPI_Datatype type, int count,
                       int where, int root, bool nonblocking)
{
    const bool here = rank == where;
    MPI_Request request;
    int rc;

    prepare(30, root, COUNT);
    if (nonblocking)
        rc = wait_for(MPI_Ibcast(buffer, here ? count : COUNT,
                                 here ? type : MPI_FLOAT, root, MPI_COMM_WORLD,
                                 &request),
                      &request);
    else
        rc = MPI_Bcast(buffer, here ? count : COUNT, here ? type : MPI_FLOAT,
                       root, MPI_COMM_WORLD);
    return rc == MPI_SUCCESS && has(what, COUNT, buffer, x);
}

static void test_derived(void)
{
    MPI_Datatype pair;
    bool good = true;

    MPI_Type_contiguous(2, MPI_FLOAT, &pair);
    MPI_Type_commit(&pair);
    for (int root = 0; root < size; root++)
        for (int where = 0; where < size; where++)
            for (int turn = 0; turn < 2; turn++)
                good &=
                    exact_with("pairs", pair, COUNT / 2, where, root, turn > 0);
    MPI_Type_free(&pair);
    ok_all(good, "pairs on one rank: nothing is rounded");
}

/* One rank uses MPI_BOTTOM and a type that is freed at once. */
static void test_described(void)
{
    const int length = COUNT;
    bool good = true;

    for (int turn = 0; turn < 4; turn++) {
        const int root = turn % 2 ? size - 1 : 0;
        const bool here = rank == 0;
        MPI_Datatype type = MPI_FLOAT;
        MPI_Request request;
        MPI_Aint place;
        int rc;

        prepare(31, root, COUNT);
        MPI_Get_address(buffer, &place);
        if (here) {
            MPI_Type_create_hindexed(1, &length, &place, MPI_FLOAT, &type);
            MPI_Type_commit(&type);
        }
        rc = turn < 2 ? MPI_Ibcast(here ? MPI_BOTTOM : buffer, here ? 1 : COUNT,
                                   type, root, MPI_COMM_WORLD, &request)
                      : MPI_Bcast(here ? MPI_BOTTOM : buffer, here ? 1 : COUNT,
                                  type, root, MPI_COMM_WORLD);
        if (here)
            MPI_Type_free(&type);
        if (turn < 2)
            rc = wait_for(rc, &request);
        good &= rc == MPI_SUCCESS && has("MPI_BOTTOM", COUNT, buffer, x);
    }
    ok_all(good, "from MPI_BOTTOM on: nothing is rounded");
}

/* MPI lets the root send from read-only memory. (MPICH 4.0.2 supports it only
 * on the first rank of a node: other roots send the values to that rank, and
 * receive them again.) */
static void test_read_only(void)
{
    const size_t bytes = COUNT * sizeof *x;
    float *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool good = pages != MAP_FAILED;

    prepare(33, 0, COUNT);
    memcpy(pages, x, bytes);
    mprotect(pages, bytes, PROT_READ);
    for (int turn = 0; turn < 2; turn++) {
        float *at = rank == 0 ? pages : buffer;
        MPI_Request request;
        int rc;

        memset(buffer, 0x5a, bytes);
        rc = turn > 0
                 ? MPI_Ibcast(at, COUNT, MPI_FLOAT, 0, MPI_COMM_WORLD, &request)
                 : MPI_Bcast(at, COUNT, MPI_FLOAT, 0, MPI_COMM_WORLD);
        if (turn > 0)
            rc = wait_for(rc, &request);
        good &= rc == MPI_SUCCESS && has("read-only", COUNT, at, x);
    }
    munmap(pages, bytes);
    ok_all(good, "memory that the root cannot write: nothing is rounded");
}

static void test_others(void)
{
    int numbers[COUNT];
    MPI_Comm half, both;
    MPI_Request request;
    bool good = true;

    for (int i = 0; i < COUNT; i++)
        numbers[i] = rank == 0 ? i * 1001 : -1;
    MPI_Bcast(numbers, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++)
        good &= numbers[i] == i * 1001;
    ok_all(good, "ints");

    prepare(34, 0, 100);
    MPI_Bcast(buffer, 100, MPI_FLOAT, 0, MPI_COMM_WORLD);
    good = has("few", 100, buffer, x);
    MPI_Bcast(NULL, 0, MPI_FLOAT, 0, MPI_COMM_WORLD);
    MPI_Ibcast(NULL, 0, MPI_FLOAT, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    ok_all(good, "few elements, and none");

    prepare(35, rank, COUNT);
    MPI_Bcast(buffer, COUNT, MPI_FLOAT, 0, MPI_COMM_SELF);
    ok_all(has("alone", COUNT, buffer, x), "a communicator of one rank");

    /* The first even rank sends to all odd ranks. */
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both);
    prepare(36, 0, COUNT);
    MPI_Bcast(buffer, COUNT, MPI_FLOAT,
              rank == 0       ? MPI_ROOT
              : rank % 2 == 0 ? MPI_PROC_NULL
                              : 0,
              both);
    ok_all(rank % 2 == 0 || has("between", COUNT, buffer, x),
           "an intercommunicator");
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

/* --- errors -------------------------------------------------------------- */

/* Makes one call with MPI's function and one with the library's. */
#define COMPARE(what, ...)                                                     \
    do {                                                                       \
        int ours, theirs, handled_theirs;                                      \
                                                                               \
        mpitap_handled = 0;                                                    \
        theirs = mpitap_class(PMPI_Bcast(__VA_ARGS__));                        \
        handled_theirs = mpitap_handled;                                       \
        mpitap_handled = 0;                                                    \
        ours = mpitap_class(MPI_Bcast(__VA_ARGS__));                           \
        ok_all(ours == theirs && mpitap_handled == 1 && handled_theirs == 1,   \
               "%s", what);                                                    \
    } while (0)

static void test_errors(void)
{
    MPI_Errhandler errhandler;

    MPI_Comm_create_errhandler(mpitap_handle, &errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
    COMPARE("a root before the first rank", buffer, COUNT, MPI_FLOAT, -1,
            MPI_COMM_WORLD);
    COMPARE("a root after the last rank", buffer, COUNT, MPI_FLOAT, size,
            MPI_COMM_WORLD);
    COMPARE("no type", buffer, COUNT, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
    COMPARE("a negative count", buffer, -1, MPI_FLOAT, 0, MPI_COMM_WORLD);
    if (mpitap_trusting)
        skip_all("no buffer", mpitap_trusted);
    else
        COMPARE("no buffer", NULL, COUNT, MPI_FLOAT, 0, MPI_COMM_WORLD);
    MPI_Errhandler_free(&errhandler);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int level, status;

    if (strcmp(mode, "policy") == 0) {
        print_policy();
        return 0;
    }
    deferred = strcmp(mode, "deferred") == 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
    rank = mpitap_rank();
    size = mpitap_size();
    x = malloc(ROOM * sizeof *x);
    expected = malloc(ROOM * sizeof *expected);
    buffer = malloc(ROOM * sizeof *buffer);
    if (strcmp(mode, "log") == 0)
        run_log();
    else if (strcmp(mode, "left") == 0)
        test_derived(), test_described(), test_read_only(), test_others();
    else if (strcmp(mode, "errors") == 0)
        test_errors();
    else
        run_ways();
    free(x);
    free(expected);
    free(buffer);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

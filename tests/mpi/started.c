/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking forms of the other collectives, several under way at a time.
 *
 *   started together   under e8m23: sums are exact, in whatever order requests
 *                      complete, in place, and with a communicator that the
 *                      program has freed
 *   started left       calls that are left to MPI have MPI's results
 *   started errors     wrong arguments have MPI's errors
 */
#include "config.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "mpitap.h"

#define SHARE 1500 /* elements of a rank */
#define TURNS 6

enum {
    ALL,
    BLOCK,
    SCATTER,
    IN_PLACE,
    REDUCE,
    GATHER,
    GATHER_IN_PLACE,
    BCAST,
    STARTED
};

static int rank, size;
static int counts[RANKS_MAX];
static int given[RANKS_MAX]; /* a copy, overwritten once the call has started */
static float *in[RANKS_MAX]; /* values of every rank */
static float *exact;         /* their sums, in rank order */
static float *out[STARTED];

static void prepare(unsigned seed)
{
    const size_t n = (size_t)size * SHARE;

    for (int r = 0; r < size; r++)
        fill(FILL_GRADIENTS, seed, r, n, in[r]);
    for (size_t i = 0; i < n; i++) {
        exact[i] = in[0][i];
        for (int r = 1; r < size; r++)
            exact[i] += in[r][i];
    }
    for (int kind = 0; kind < STARTED; kind++)
        memset(out[kind], 0x5a, n * sizeof *out[kind]);
    memcpy(out[IN_PLACE], in[rank], n * sizeof *out[IN_PLACE]);
    memcpy(out[GATHER_IN_PLACE] + (size_t)rank * SHARE, in[rank],
           SHARE * sizeof *out[GATHER_IN_PLACE]);
}

static void start(MPI_Comm comm, int root, MPI_Request requests[STARTED])
{
    const int n = size * SHARE;

    MPI_Iallreduce(in[rank], out[ALL], n, MPI_FLOAT, MPI_SUM, comm,
                   &requests[ALL]);
    MPI_Ireduce_scatter_block(in[rank], out[BLOCK], SHARE, MPI_FLOAT, MPI_SUM,
                              comm, &requests[BLOCK]);
    memcpy(given, counts, sizeof given);
    MPI_Ireduce_scatter(in[rank], out[SCATTER], given, MPI_FLOAT, MPI_SUM, comm,
                        &requests[SCATTER]);
    memset(given, 0, sizeof given);
    MPI_Ireduce_scatter_block(MPI_IN_PLACE, out[IN_PLACE], SHARE, MPI_FLOAT,
                              MPI_SUM, comm, &requests[IN_PLACE]);
    MPI_Ireduce(in[rank], rank == root ? out[REDUCE] : NULL, n, MPI_FLOAT,
                MPI_SUM, root, comm, &requests[REDUCE]);
    MPI_Iallgather(in[rank], SHARE, MPI_FLOAT, out[GATHER], SHARE, MPI_FLOAT,
                   comm, &requests[GATHER]);
    MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out[GATHER_IN_PLACE],
                   SHARE, MPI_FLOAT, comm, &requests[GATHER_IN_PLACE]);
    if (rank == root)
        memcpy(out[BCAST], in[rank], (size_t)n * sizeof *out[BCAST]);
    MPI_Ibcast(out[BCAST], n, MPI_FLOAT, root, comm, &requests[BCAST]);
}

static void complete(int turn, MPI_Request requests[STARTED])
{
    MPI_Status statuses[STARTED];
    int index, done = 0;

    switch (turn % 3) {
    case 0:
        MPI_Waitall(STARTED, requests, statuses);
        break;
    case 1:
        for (int i = STARTED; i-- > 0;)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        break;
    default:
        while (!done)
            MPI_Testall(STARTED, requests, &done, statuses);
        MPI_Waitany(STARTED, requests, &index, MPI_STATUS_IGNORE);
    }
}

static bool has(const char *what, size_t n, const float *got,
                const float *wanted)
{
    const size_t i = first_difference(n, wanted, got);

    if (i < n)
        diag("rank %d: %s: element %zu is %a, expected %a", rank, what, i,
             got[i], wanted[i]);
    return i == n;
}

static bool is_right(int root)
{
    const float *own = exact + (size_t)rank * SHARE;
    bool good = has("all-reduce", (size_t)size * SHARE, out[ALL], exact);

    good &= has("reduce-scatter block", SHARE, out[BLOCK], own);
    good &= has("reduce-scatter", SHARE, out[SCATTER], own);
    good &= has("in place", SHARE, out[IN_PLACE], own);
    for (int r = 0; r < size; r++) {
        good &=
            has("all-gather", SHARE, out[GATHER] + (size_t)r * SHARE, in[r]);
        good &= has("all-gather in place", SHARE,
                    out[GATHER_IN_PLACE] + (size_t)r * SHARE, in[r]);
    }
    good &= has("broadcast", (size_t)size * SHARE, out[BCAST], in[root]);
    if (rank == root)
        good &= has("reduce", (size_t)size * SHARE, out[REDUCE], exact);
    return good;
}

static void test_together(void)
{
    MPI_Request requests[STARTED];
    bool good = true;

    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Comm comm = MPI_COMM_WORLD;

        prepare((unsigned)turn);
        if (turn == TURNS - 1) {
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            MPI_Allreduce(in[rank], out[ALL], size * SHARE, MPI_FLOAT, MPI_SUM,
                          comm);
        }
        start(comm, turn % size, requests);
        if (comm != MPI_COMM_WORLD)
            MPI_Comm_free(&comm);
        complete(turn, requests);
        good &= is_right(turn % size);
    }
    ok_all(good, "calls that are under way at the same time are exact");
}

/* The first rank gets all elements; the other ranks give no receive buffer. */
static void test_one_share(void)
{
    const int all = size * SHARE;
    int shares[RANKS_MAX] = {all};
    MPI_Request request;

    prepare(50);
    MPI_Ireduce_scatter(in[rank], rank == 0 ? out[SCATTER] : in[rank], shares,
                        MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    ok_all(rank > 0 || has("one share", (size_t)all, out[SCATTER], exact),
           "a share may be empty, and lie anywhere");
}

/* --- left to MPI --------------------------------------------------------- */

/* Floats of derived types on some ranks, whose types are freed at once: nothing
 * is rounded. */
static void test_derived(void)
{
    MPI_Request requests[3];
    MPI_Status statuses[3];
    MPI_Datatype pair, spread;
    bool good = true;

    prepare(99);
    MPI_Type_contiguous(2, MPI_FLOAT, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_vector(SHARE, 1, 2, MPI_FLOAT, &spread);
    MPI_Type_commit(&spread);
    MPI_Iallgather(in[rank], rank == 0 ? SHARE / 2 : SHARE,
                   rank == 0 ? pair : MPI_FLOAT, out[GATHER], SHARE, MPI_FLOAT,
                   MPI_COMM_WORLD, &requests[0]);
    MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out[GATHER_IN_PLACE],
                   rank == 1 ? SHARE / 2 : SHARE, rank == 1 ? pair : MPI_FLOAT,
                   MPI_COMM_WORLD, &requests[1]);
    /* Sends every second element. */
    MPI_Iallgather(in[rank], rank == size - 1 ? 1 : SHARE,
                   rank == size - 1 ? spread : MPI_FLOAT, out[BLOCK], SHARE,
                   MPI_FLOAT, MPI_COMM_WORLD, &requests[2]);
    MPI_Type_free(&pair);
    MPI_Type_free(&spread);
    MPI_Waitall(3, requests, statuses);
    for (int r = 0; r < size; r++) {
        const size_t first = (size_t)r * SHARE;

        good &= has("pairs", SHARE, out[GATHER] + first, in[r]);
        good &=
            has("pairs in place", SHARE, out[GATHER_IN_PLACE] + first, in[r]);
        for (size_t i = 0; i < SHARE; i++)
            good &= out[BLOCK][first + i] == in[r][r == size - 1 ? 2 * i : i];
    }
    ok_all(good, "derived types: nothing is rounded");
}

/* One rank sends from and another receives to MPI_BOTTOM, with a type that has
 * addresses, and one has a type with a member of no elements. Floats that hold
 * other bits keep them. */
static void test_described(void)
{
    const bool first = rank == 0, last = rank == size - 1;
    const int lengths[2] = {SHARE, 0};
    const MPI_Datatype types[2] = {MPI_FLOAT, MPI_INT};
    MPI_Aint places[2] = {0, 0};
    MPI_Datatype sent, received, padded;
    MPI_Request requests[3];
    MPI_Status statuses[3];
    bool good = true;

    prepare(100);
    for (int r = 0; r < size; r++)
        memset(&in[r][7], 0xff, sizeof *in[r]);
    MPI_Type_create_struct(2, lengths, places, types, &padded);
    MPI_Get_address(in[rank], &places[0]);
    MPI_Type_create_struct(1, lengths, places, types, &sent);
    MPI_Get_address(out[BLOCK], &places[0]);
    MPI_Type_create_struct(1, lengths, places, types, &received);
    MPI_Type_commit(&padded);
    MPI_Type_commit(&sent);
    MPI_Type_commit(&received);
    MPI_Iallgather(first ? MPI_BOTTOM : in[rank], first ? 1 : SHARE,
                   first ? sent : MPI_FLOAT, out[GATHER], SHARE, MPI_FLOAT,
                   MPI_COMM_WORLD, &requests[0]);
    MPI_Iallgather(in[rank], SHARE, MPI_FLOAT, last ? MPI_BOTTOM : out[BLOCK],
                   last ? 1 : SHARE, last ? received : MPI_FLOAT,
                   MPI_COMM_WORLD, &requests[1]);
    MPI_Iallgather(in[rank], first ? 1 : SHARE, first ? padded : MPI_FLOAT,
                   out[SCATTER], SHARE, MPI_FLOAT, MPI_COMM_WORLD,
                   &requests[2]);
    MPI_Type_free(&padded);
    MPI_Type_free(&sent);
    MPI_Type_free(&received);
    MPI_Waitall(3, requests, statuses);
    for (int r = 0; r < size; r++) {
        const size_t begin = (size_t)r * SHARE;

        good &= has("sent from MPI_BOTTOM", SHARE, out[GATHER] + begin, in[r]);
        good &= has("received there", SHARE, out[BLOCK] + begin, in[r]);
        good &= has("with a member of no elements", SHARE, out[SCATTER] + begin,
                    in[r]);
    }
    ok_all(good, "types of one rank alone: bits are kept");
}

static void test_left(void)
{
    MPI_Request requests[3];
    MPI_Status statuses[3];
    int numbers[RANKS_MAX], sum[3] = {0};
    int ones[RANKS_MAX];
    bool good;

    for (int i = 0; i < size; i++) {
        numbers[i] = rank + i;
        ones[i] = 1;
    }
    MPI_Ireduce_scatter_block(numbers, &sum[0], 1, MPI_INT, MPI_SUM,
                              MPI_COMM_WORLD, &requests[0]);
    MPI_Ireduce_scatter(numbers, &sum[1], ones, MPI_INT, MPI_MAX,
                        MPI_COMM_WORLD, &requests[1]);
    MPI_Ireduce(numbers, &sum[2], 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD,
                &requests[2]);
    MPI_Waitall(3, requests, statuses);
    good = sum[0] == size * (size - 1) / 2 + size * rank &&
           sum[1] == size - 1 + rank &&
           (rank != 0 || sum[2] == size * (size - 1) / 2);
    ok_all(good, "ints have MPI's results");
}

/* --- errors -------------------------------------------------------------- */

/* Makes one call with the library's function and one with MPI's: both have the
 * same error class, and call the program's error handler equally often. */
#define COMPARE(what, name, ...)                                               \
    do {                                                                       \
        MPI_Request request;                                                   \
        int ours, theirs, handled_theirs;                                      \
                                                                               \
        mpitap_handled = 0;                                                    \
        theirs = mpitap_class(PMPI_##name(__VA_ARGS__, &request));             \
        handled_theirs = mpitap_handled;                                       \
        mpitap_handled = 0;                                                    \
        ours = mpitap_class(MPI_##name(__VA_ARGS__, &request));                \
        ok_all(ours == theirs && mpitap_handled == 1 && handled_theirs == 1,   \
               "%s: %s", #name, what);                                         \
    } while (0)

#define COMPARE_SUMS(what, type, op, comm)                                     \
    do {                                                                       \
        COMPARE(what, Ireduce_scatter_block, in[rank], out[0], SHARE, type,    \
                op, comm);                                                     \
        COMPARE(what, Ireduce_scatter, in[rank], out[0], counts, type, op,     \
                comm);                                                         \
        COMPARE(what, Ireduce, in[rank], out[0], SHARE, type, op, 0, comm);    \
    } while (0)

static void test_errors(void)
{
    MPI_Errhandler errhandler;

    MPI_Comm_create_errhandler(mpitap_handle, &errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
    if (mpitap_trusts_types())
        skip_all("no type", mpitap_trusted);
    else
        COMPARE_SUMS("no type", MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD);
    COMPARE_SUMS("no operation", MPI_FLOAT, MPI_OP_NULL, MPI_COMM_WORLD);
    COMPARE_SUMS("an operation not for floats", MPI_FLOAT, MPI_BAND,
                 MPI_COMM_WORLD);
    COMPARE("a root before the first rank", Ireduce, in[rank], out[0], SHARE,
            MPI_FLOAT, MPI_SUM, -1, MPI_COMM_WORLD);
    COMPARE("a root after the last rank", Ireduce, in[rank], out[0], SHARE,
            MPI_FLOAT, MPI_SUM, size, MPI_COMM_WORLD);
    COMPARE("a root before the first rank", Ibcast, out[0], SHARE, MPI_FLOAT,
            -1, MPI_COMM_WORLD);
    COMPARE("a root after the last rank", Ibcast, out[0], SHARE, MPI_FLOAT,
            size, MPI_COMM_WORLD);
    COMPARE("no type", Ibcast, out[0], SHARE, MPI_DATATYPE_NULL, 0,
            MPI_COMM_WORLD);
    COMPARE("a negative count", Ibcast, out[0], -1, MPI_FLOAT, 0,
            MPI_COMM_WORLD);
    if (mpitap_trusting)
        skip_all("Ibcast: no buffer", mpitap_trusted);
    else
        COMPARE("no buffer", Ibcast, NULL, SHARE, MPI_FLOAT, 0, MPI_COMM_WORLD);
    COMPARE("no communicator", Ibcast, out[0], SHARE, MPI_FLOAT, 0,
            MPI_COMM_NULL);
    COMPARE("a negative count", Ireduce_scatter_block, in[rank], out[0], -1,
            MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    COMPARE("no type to receive", Iallgather, in[rank], SHARE, MPI_FLOAT,
            out[0], SHARE, MPI_DATATYPE_NULL, MPI_COMM_WORLD);
    COMPARE("no type to send", Iallgather, in[rank], SHARE, MPI_DATATYPE_NULL,
            out[0], SHARE, MPI_FLOAT, MPI_COMM_WORLD);
    if (mpitap_trusting) {
        skip_all("Iallgather: a buffer is missing", mpitap_trusted);
    } else {
        COMPARE("nothing to send", Iallgather, NULL, SHARE, MPI_FLOAT, out[0],
                SHARE, MPI_FLOAT, MPI_COMM_WORLD);
        COMPARE("nowhere to receive", Iallgather, in[rank], SHARE, MPI_FLOAT,
                NULL, SHARE, MPI_FLOAT, MPI_COMM_WORLD);
    }
    COMPARE("a negative count to send", Iallgather, in[rank], -1, MPI_FLOAT,
            out[0], SHARE, MPI_FLOAT, MPI_COMM_WORLD);
    MPI_Errhandler_free(&errhandler);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int level, status;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
    rank = mpitap_rank();
    size = mpitap_size();
    exact = malloc((size_t)size * SHARE * sizeof *exact);
    for (int i = 0; i < size; i++) {
        in[i] = malloc((size_t)size * SHARE * sizeof *in[i]);
        counts[i] = SHARE;
    }
    for (int i = 0; i < STARTED; i++)
        out[i] = malloc((size_t)size * SHARE * sizeof *out[i]);
    prepare(0);
    if (strcmp(mode, "together") == 0)
        test_together(), test_one_share();
    else if (strcmp(mode, "left") == 0)
        test_left(), test_derived(), test_described();
    else
        test_errors();
    free(exact);
    for (int i = 0; i < size; i++)
        free(in[i]);
    for (int i = 0; i < STARTED; i++)
        free(out[i]);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

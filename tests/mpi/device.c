/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers in GPU memory give what the same calls on host memory give, bit for
 * bit, whichever ranks have them, and whether their calls are rewritten or
 * pass.
 *
 *   device policy      prints the policy of `device sums`: a way to reduce for
 *                      every thousand elements
 *   device sums        all-reduces
 *   device long        all-reduces of several of the longest chunks
 *   device plain       those of `long` that are on host memory, without a GPU
 *   device others      the other calls that may be rewritten
 *   device nonblocking MPI_Iallreduce and persistent ones
 *   device passed      calls of all kinds that go to an MPI which is not aware
 *   device log WHERE   some calls of all kinds, on `host` or `device` memory
 *   device failing [shared|aware]  copies that fail on rank 1
 *   device aware       a call that an aware MPI gets as it is
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "gpu.h"
#include "mpitap.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* MPICH declares the statuses as an array, and MPI_STATUSES_IGNORE is 1. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

static const struct way ways[] = {
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
};

/* Way i has the counts from i * STEP + 1 on, and some from LONG + i * STEP on.
 */
#define STEP 1000
#define LONG 300000
#define MOST (LONG + STEP * (LENGTH(ways) + 1))

/* Who has what where. */
enum where {
    DEVICE,    /* both buffers */
    TO_HOST,   /* the send buffer only */
    FROM_HOST, /* the other only */
    SOME,      /* odd ranks have none of both */
    IN_PLACE,
    SOME_IN_PLACE, /* on odd ranks; the others have them in managed memory */
    MANAGED,
    WHERES
};
static const char *const where_names[WHERES] = {
    "device memory",  "device to host", "host to device",
    "on some ranks",  "in place",       "some in place, some managed",
    "managed memory",
};

static int rank, ranks;
static bool passes; /* all calls, to MPI */
static unsigned long rewritten;
static float *in, *expected, *got; /* host */
static float *device_in, *device_out, *managed_in, *managed_out;

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

/* --- buffers ------------------------------------------------------------ */

static bool is_device(const void *p)
{
    const char *at = p;
    const size_t room = MOST * sizeof(float);

    return (at >= (char *)device_in && at < (char *)device_in + room) ||
           (at >= (char *)device_out && at < (char *)device_out + room) ||
           (at >= (char *)managed_in && at < (char *)managed_in + room) ||
           (at >= (char *)managed_out && at < (char *)managed_out + room);
}

static void put(void *to, const void *from, size_t bytes)
{
    if (is_device(to))
        gpu_put(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

static void get(void *to, const void *from, size_t bytes)
{
    if (is_device(from))
        gpu_get(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

/* What the ranks send and receive in, with a shift of some elements. */
struct buffers {
    float *send; /* NULL: in place */
    float *receive;
};

static float host_send[MOST], host_receive[MOST];

static struct buffers buffers_of(enum where where, size_t shift)
{
    const bool odd = rank % 2;
    struct buffers buffers = {device_in, device_out};

    switch (where) {
    case TO_HOST:
        buffers.receive = host_receive;
        break;
    case FROM_HOST:
        buffers.send = host_send;
        break;
    case SOME:
        if (odd)
            buffers = (struct buffers){host_send, host_receive};
        break;
    case IN_PLACE:
        buffers.send = NULL;
        break;
    case SOME_IN_PLACE:
        if (odd)
            buffers.send = NULL;
        else
            buffers = (struct buffers){managed_in, managed_out};
        break;
    case MANAGED:
        buffers = (struct buffers){managed_in, managed_out};
        break;
    default:
        break;
    }
    if (buffers.send)
        buffers.send += shift;
    buffers.receive += shift;
    return buffers;
}

/* in[sent] to where a call reads it; a pattern where it writes, with one
 * element before and behind. */
static void lay_out(const struct buffers *buffers, size_t sent, size_t received)
{
    memset(got, 0x5a, (received + 2) * sizeof *got);
    put(buffers->receive - 1, got, (received + 2) * sizeof *got);
    if (buffers->send)
        put(buffers->send, in, sent * sizeof *in);
    else
        put(buffers->receive, in, sent * sizeof *in);
}

/* Did the call leave expected[received], and all else alone? */
static bool check(const struct buffers *buffers, size_t sent, size_t received)
{
    static const unsigned char pattern[4] = {0x5a, 0x5a, 0x5a, 0x5a};
    bool good = true;
    size_t i;

    if (buffers->send) {
        get(got, buffers->send, sent * sizeof *got);
        good = memcmp(got, in, sent * sizeof *got) == 0;
    }
    get(got, buffers->receive - 1, (received + 2) * sizeof *got);
    good &= memcmp(got, pattern, 4) == 0;
    if (buffers->send || received >= sent)
        good &= memcmp(got + received + 1, pattern, 4) == 0;
    i = first_difference(received, expected, got + 1);
    if (!good || i < received)
        diag("rank %d: element %zu of %zu is %a, expected %a%s", rank, i,
             received, i < received ? got[i + 1] : 0,
             i < received ? expected[i] : 0, good ? "" : "; wrote elsewhere");
    return good && i == received;
}

static const void *send_of(const struct buffers *buffers)
{
    return buffers->send ? (const void *)buffers->send : MPI_IN_PLACE;
}

/* --- all-reduces -------------------------------------------------------- */

static bool sum(enum where where, size_t n, uint64_t seed)
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

static void run_sums(void)
{
    static const size_t counts[] = {1, 7, 64, 65, 777, 1000};
    char name[128];
    uint64_t seed = 0;

    for (size_t i = 0; i < LENGTH(ways); i++) {
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
    /* The driver's contexts are left as they were found: none. */
    gpu_leave();
    (void)MPI_Allreduce(device_in, device_out, 1000, MPI_FLOAT, MPI_SUM,
                        MPI_COMM_WORLD);
    rewritten++;
    gpu_enter();
    ok_all(true, "without a context in this thread");
    expect_rewritten(rewritten);
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

/* Calls on host memory and on devices' in turn: what they share is used by
 * both. */
static void run_long(bool has_gpu)
{
    const size_t n = 4 * 1024 * 1024 + 77;
    float *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    float *z = malloc(n * sizeof *z);
    float *device = has_gpu ? gpu_alloc(n * sizeof *x, false) : NULL;

    for (uint64_t seed = 0; seed < FILLS; seed++) {
        fill((enum fill)seed, seed, rank, n, x);
        MPI_Allreduce(x, y, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0)
            printf("# sum %d: %016llx\n", (int)seed,
                   (unsigned long long)hash_floats(y, n));
        if (!has_gpu)
            continue;
        gpu_put(device, x, n * sizeof *x);
        MPI_Allreduce(MPI_IN_PLACE, device, (int)n, MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
        gpu_get(z, device, n * sizeof *x);
        ok_all(first_difference(n, y, z) == n, "%zu elements, %d", n,
               (int)seed);
    }
    if (device)
        gpu_free(device);
    free(x);
    free(y);
    free(z);
}

/* --- the other collectives ------------------------------------------------------- */

static bool scatter(enum where where, size_t share, bool block)
{
    const size_t n = share * (size_t)ranks;
    const struct buffers buffers = buffers_of(where, 1);
    const MPI_Comm comm = MPI_COMM_WORLD;
    int counts[RANKS_MAX];
    int rc;

    for (int i = 0; i < ranks; i++)
        counts[i] = (int)share;
    if (!block) { /* some for the first from the last */
        counts[0] += (int)share / 2;
        counts[ranks - 1] -= (int)share / 2;
    }
    lay_out(&buffers, n, buffers.send ? (size_t)counts[rank] : n);
    if (block) {
        MPI_Reduce_scatter_block(in, expected, (int)share, MPI_FLOAT, MPI_SUM,
                                 comm);
        rc = MPI_Reduce_scatter_block(send_of(&buffers), buffers.receive,
                                      (int)share, MPI_FLOAT, MPI_SUM, comm);
    } else {
        MPI_Reduce_scatter(in, expected, counts, MPI_FLOAT, MPI_SUM, comm);
        rc = MPI_Reduce_scatter(send_of(&buffers), buffers.receive, counts,
                                MPI_FLOAT, MPI_SUM, comm);
    }
    return check(&buffers, n, (size_t)counts[rank]) && rc == MPI_SUCCESS;
}

static bool gather(enum where where, size_t n)
{
    const size_t all = n * (size_t)ranks;
    struct buffers buffers = buffers_of(where, 1);
    int rc;

    lay_out(&buffers, buffers.send ? n : 0, all);
    if (!buffers.send)
        put(buffers.receive + (size_t)rank * n, in, n * sizeof *in);
    MPI_Allgather(in, (int)n, MPI_FLOAT, expected, (int)n, MPI_FLOAT,
                  MPI_COMM_WORLD);
    rc = MPI_Allgather(send_of(&buffers), (int)n, MPI_FLOAT, buffers.receive,
                       (int)n, MPI_FLOAT, MPI_COMM_WORLD);
    return check(&buffers, buffers.send ? n : 0, all) && rc == MPI_SUCCESS;
}

static bool reduce(enum where where, size_t n, int root)
{
    struct buffers buffers = buffers_of(where, 1);
    const void *send;
    int rc;

    /* MPICH (4.0.2) crashes in place where that is long and the root not 0. */
    if (passes && !buffers.send && n > 64)
        buffers.send = device_in;
    send = send_of(&buffers);
    lay_out(&buffers, n, n);
    memset(expected, 0x5a, n * sizeof *expected);
    if (rank != root && !buffers.send) /* only the root can be in place */
        send = buffers.receive;
    MPI_Reduce(in, expected, (int)n, MPI_FLOAT, MPI_SUM, root, MPI_COMM_WORLD);
    rc = MPI_Reduce(send, rank == root ? buffers.receive : NULL, (int)n,
                    MPI_FLOAT, MPI_SUM, root, MPI_COMM_WORLD);
    if (rank != root && !buffers.send)
        return rc == MPI_SUCCESS;
    return check(&buffers, n, n) && rc == MPI_SUCCESS;
}

static void run_others(void)
{
    static const size_t sizes[] = {64, 777, 40001};

    for (int where = 0; where < WHERES; where++) {
        bool good[3] = {true, true, true};

        for (size_t i = 0; i < LENGTH(sizes); i++) {
            fill((enum fill)(i % FILLS), (uint64_t)where, rank,
                 sizes[i] * (size_t)ranks, in);
            good[0] &= scatter((enum where)where, sizes[i], true);
            good[0] &= scatter((enum where)where, sizes[i], false);
            good[1] &= gather((enum where)where, sizes[i]);
            for (int root = 0; root < ranks; root++)
                good[2] &= reduce((enum where)where, sizes[i], root);
        }
        ok_all(good[0], "reduce_scatter: %s", where_names[where]);
        ok_all(good[1], "allgather: %s", where_names[where]);
        ok_all(good[2], "reduce: %s", where_names[where]);
    }
}

/* --- nonblocking ones ---------------------------------------------------- */

#define CALLS 8

/* Call i has a place of its own in the buffers, so far behind the last one's;
 * the last is long. */
#define CALL_ROOM 20000
static size_t count_of(int i)
{
    if (i == CALLS - 1)
        return 150001;
    return i == 3 ? 19999 : 3000 + 501 * (size_t)i;
}

static struct buffers buffers_of_call(int i)
{
    struct buffers buffers = buffers_of((enum where)(i % WHERES), 1);

    if (buffers.send)
        buffers.send += (size_t)i * CALL_ROOM;
    buffers.receive += (size_t)i * CALL_ROOM;
    return buffers;
}

/* expected[n] of in[n], on host memory: by a blocking call, whose order of sums
 * is another if MPI makes them. */
static void expect(size_t n, MPI_Comm comm)
{
    MPI_Request request;

    if (passes)
        MPI_Iallreduce(in, expected, (int)n, MPI_FLOAT, MPI_SUM, comm,
                       &request);
    else
        MPI_Allreduce(in, expected, (int)n, MPI_FLOAT, MPI_SUM, comm);
    if (passes)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Are the results of all those of calls on host memory? */
static bool are_right(void)
{
    bool good = true;

    for (int i = 0; i < CALLS; i++) {
        const struct buffers buffers = buffers_of_call(i);

        fill(FILL_GRADIENTS, (uint64_t)i, rank, count_of(i), in);
        expect(count_of(i), MPI_COMM_WORLD);
        good &= check(&buffers, count_of(i), count_of(i));
    }
    return good;
}

static void lay_out_calls(void)
{
    for (int i = 0; i < CALLS; i++) {
        const struct buffers buffers = buffers_of_call(i);

        fill(FILL_GRADIENTS, (uint64_t)i, rank, count_of(i), in);
        lay_out(&buffers, count_of(i), count_of(i));
    }
}

static void run_nonblocking(bool persistent)
{
    MPI_Request requests[CALLS];

    for (int turn = 0; turn < 3; turn++) {
        lay_out_calls();
        for (int i = 0; i < CALLS; i++) {
            const struct buffers buffers = buffers_of_call(i);

            MPI_Iallreduce(send_of(&buffers), buffers.receive, (int)count_of(i),
                           MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
        }
        for (int i = 0; i < CALLS && turn == 0; i++)
            MPI_Wait(&requests[(5 * i + rank) % CALLS], MPI_STATUS_IGNORE);
        if (turn == 1)
            MPI_Barrier(MPI_COMM_WORLD);
        for (int done = 0; turn == 2 && !done;)
            MPI_Testall(CALLS, requests, &done, MPI_STATUSES_IGNORE);
        MPI_Waitall(CALLS, requests, MPI_STATUSES_IGNORE);
        ok_all(are_right(), "nonblocking, turn %d", turn);
    }
#ifdef HAVE_PMPI_ALLREDUCE_INIT
    MPI_Info info = mpitap_strict_order();

    for (int i = 0; i < CALLS && persistent; i++) {
        const struct buffers buffers = buffers_of_call(i);

        MPI_Allreduce_init(send_of(&buffers), buffers.receive, (int)count_of(i),
                           MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, info,
                           &requests[i]);
    }
    MPI_Info_free(&info);
    for (int turn = 0; turn < 2 && persistent; turn++) {
        lay_out_calls();
        MPI_Startall(CALLS, requests);
        MPI_Waitall(CALLS, requests, MPI_STATUSES_IGNORE);
        ok_all(are_right(), "persistent, turn %d", turn);
    }
    for (int i = 0; i < CALLS && persistent; i++)
        MPI_Request_free(&requests[i]);
#else
    (void)persistent;
#endif
}

/* --- calls that pass ----------------------------------------------------- */

/* Every second of two floats, so that there are gaps. */
static void test_gaps(void)
{
    const struct buffers buffers = buffers_of(DEVICE, 1);
    MPI_Datatype pairs;
    bool good = true;

    MPI_Type_vector(500, 1, 2, MPI_FLOAT, &pairs);
    MPI_Type_commit(&pairs);
    fill(FILL_GRADIENTS, 3, rank, 2000, in);
    lay_out(&buffers, 2000, 2000);
    get(expected, buffers.receive, 2000 * sizeof *expected);
    for (size_t i = 0; i < 1000; i++)
        if (i % 2 == 0)
            expected[i] = 3;
    if (rank == 0) {
        for (size_t i = 0; i < 1000; i += 2)
            put(buffers.receive + i, &expected[i], sizeof *expected);
    }
    MPI_Bcast(buffers.receive, 1, pairs, 0, MPI_COMM_WORLD);
    good = check(&buffers, 2000, 2000);
    MPI_Type_free(&pairs);
    ok_all(good, "a type with gaps");
}

static void test_bcast(int root)
{
    for (int where = 0; where < WHERES; where++) {
        const struct buffers buffers = buffers_of((enum where)where, 2);
        const size_t n = 5001;
        int rc;

        fill(FILL_WIDE, 5, root, n, expected);
        memset(got, 0x5a, (n + 2) * sizeof *got);
        put(buffers.receive - 1, got, (n + 2) * sizeof *got);
        if (rank == root)
            put(buffers.receive, expected, n * sizeof *expected);
        rc =
            MPI_Bcast(buffers.receive, (int)n, MPI_FLOAT, root, MPI_COMM_WORLD);
        get(got, buffers.receive, n * sizeof *got);
        ok_all(rc == MPI_SUCCESS && first_difference(n, expected, got) == n,
               "MPI_Bcast from %d: %s", root, where_names[where]);
    }
}

/* Other types and operations. */
static void test_others(void)
{
    const struct buffers buffers = buffers_of(SOME_IN_PLACE, 2);
    const size_t n = 3000; /* doubles */
    double *values = (double *)(void *)in, *wanted = (double *)(void *)expected;

    for (size_t i = 0; i < n; i++)
        values[i] = (double)((i * 7 + (size_t)rank * 13) % 101);
    MPI_Allreduce(values, wanted, (int)n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    lay_out(&buffers, 2 * n, 2 * n);
    MPI_Allreduce(send_of(&buffers), buffers.receive, (int)n, MPI_DOUBLE,
                  MPI_MAX, MPI_COMM_WORLD);
    ok_all(check(&buffers, 2 * n, 2 * n), "the greatest doubles");
#ifdef HAVE_PMPI_ALLREDUCE_C
    lay_out(&buffers, 2 * n, 2 * n);
    MPI_Allreduce_c(send_of(&buffers), buffers.receive, (MPI_Count)n,
                    MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    ok_all(check(&buffers, 2 * n, 2 * n), "the greatest doubles, by _c");
#endif
}

/* Completed in another order than they were made, on communicators of which the
 * ranks are at different places. */
static void test_two_communicators(void)
{
    const struct buffers a = buffers_of_call(0), b = buffers_of_call(4);
    MPI_Request requests[2];
    MPI_Comm other;
    int token = 0;

    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    lay_out_calls();
    if (rank == 0) /* its first one can only end when rank 1 has got word */
        MPI_Iallreduce(send_of(&a), a.receive, (int)count_of(0), MPI_FLOAT,
                       MPI_SUM, other, &requests[0]);
    MPI_Iallreduce(send_of(&b), b.receive, (int)count_of(4), MPI_FLOAT, MPI_SUM,
                   MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    if (rank == 0)
        for (int i = 1; i < ranks; i++)
            MPI_Send(&token, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0)
        MPI_Iallreduce(send_of(&a), a.receive, (int)count_of(0), MPI_FLOAT,
                       MPI_SUM, other, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    fill(FILL_GRADIENTS, 0, rank, count_of(0), in);
    expect(count_of(0), other);
    ok_all(check(&a, count_of(0), count_of(0)),
           "two nonblocking calls, the second complete first");
    MPI_Comm_free(&other);
}

static void run_passed(void)
{
    bool good[WHERES];

    passes = true;
    for (int where = 0; where < WHERES; where++) {
        good[where] = sum((enum where)where, 1, 5);
        good[where] &= sum((enum where)where, 4097, 2);
        ok_all(good[where], "MPI_Allreduce: %s", where_names[where]);
    }
    run_others();
    for (int root = 0; root < ranks; root += ranks - 1)
        test_bcast(root);
    test_gaps();
    test_others();
    /* Without a policy persistent ones are MPI's own all the way. */
    run_nonblocking(getenv("APSMPI_POLICY") != NULL);
    test_two_communicators();
}

/* --- the log ------------------------------------------------------------- */

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

/* --- what goes wrong ----------------------------------------------------- */

/* Is no value beyond what the ranks' values x[n] can add up to? All call it. */
static bool is_bounded(size_t n, const float *x, const float *sum)
{
    float most = 0;
    bool bounded = true;

    for (size_t i = 0; i < n; i++)
        most = fmaxf(most, fabsf(x[i]));
    PMPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
    for (size_t i = 0; i < n; i++)
        bounded &= fabsf(sum[i]) <= 2 * most * (float)ranks;
    return bounded;
}

static void try_failing(const char *name, size_t n, long after, bool waits)
{
    const struct buffers buffers = buffers_of(DEVICE, 1);
    MPI_Request request;
    int rc;

    fill(FILL_GRADIENTS, 1, rank, n, in);
    lay_out(&buffers, n, n);
    if (rank == 1)
        gpu_fail_after(after);
    if (waits) {
        rc = MPI_Iallreduce(buffers.send, buffers.receive, (int)n, MPI_FLOAT,
                            MPI_SUM, MPI_COMM_WORLD, &request);
        if (rc == MPI_SUCCESS)
            rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        rc = MPI_Allreduce(buffers.send, buffers.receive, (int)n, MPI_FLOAT,
                           MPI_SUM, MPI_COMM_WORLD);
    }
    gpu_fail_after(-1);
    if (rc != MPI_SUCCESS)
        MPI_Error_class(rc, &rc);
    ok_all(rc == (rank == 1 ? MPI_ERR_OTHER : MPI_SUCCESS),
           "%s, copies fail after %ld: an error on that rank alone", name,
           after);
    get(got, buffers.receive, n * sizeof *got);
    ok_all(is_bounded(n, in, got) || rank == 1,
           "%s: what is missing are zeros for the others", name);
    ok_all(sum(DEVICE, n, 8), "%s: the next call is good", name);
}

/* In memory that ranks share what one has lost is lost for all of its node. The
 * communicator is a new one: its first call makes what is shared. */
static void try_failing_shared(long after)
{
    const size_t n = 5 * STEP + 777;
    MPI_Comm comm;
    int rc[3];

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 3; i++) {
        if (rank == 1 && i == 1)
            gpu_fail_after(after);
        rc[i] = MPI_Allreduce(device_in, device_out, (int)n, MPI_FLOAT, MPI_SUM,
                              comm);
        gpu_fail_after(-1);
        if (rc[i] != MPI_SUCCESS)
            MPI_Error_class(rc[i], &rc[i]);
    }
    ok_all(rc[0] == MPI_SUCCESS, "shared: a call before");
    ok_all(rc[1] == MPI_ERR_OTHER, "shared, fails after %ld: on all ranks",
           after);
    ok_all(rc[2] == MPI_SUCCESS, "shared: a call behind");
    MPI_Comm_free(&comm);
}

/* `aware`: MPI gets what passes, and has nothing to copy. */
static void run_failing(bool shared, bool aware)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (long after = 1; shared && after < 8; after++)
        try_failing_shared(after);
    for (long after = 0; after < 2; after++) {
        try_failing("direct", 777, after, false);
        try_failing("hierarchical", 5 * STEP + 777, after, false);
        try_failing("ring", 9 * STEP + 777, after, false);
        try_failing("master", 11 * STEP + 777, after, false);
        try_failing("gather", 13 * STEP + 777, after, false);
        try_failing("nonblocking", 777, after, true);
        if (aware)
            continue;
        try_failing("passed", 200000, after, false);
        try_failing("nonblocking, passed", 200000, after, true);
    }
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

    /* Buffers that are mapped by themselves, before there is a driver. */
    if (strcmp(mode, "passed") == 0)
        MPI_Bcast(in, (int)MOST, MPI_FLOAT, 0, MPI_COMM_WORLD);
    if (strcmp(mode, "plain") == 0) {
        run_long(false);
        ok_all(true, "sums without a GPU");
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
        run_long(true);
    else if (strcmp(mode, "others") == 0)
        run_others();
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
    /* Nonblocking calls that pass take a thread. */
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

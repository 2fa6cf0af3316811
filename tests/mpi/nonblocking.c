/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking and persistent all-reduces give the bits of blocking ones,
 * whatever call completes them, in any order; and the other ranks serve a rank
 * that waits, wherever they block.
 *
 * The results of the policy must not depend on what is reduced together
 * (reduce: direct, a scale per layer).
 */
#include "config.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

/* MPICH declares the statuses as an array, and MPI_STATUSES_IGNORE is 1. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

#define CALLS 12
#define COUNT 5000

static int rank, ranks;
static unsigned long rewritten;
static float in[CALLS][COUNT], out[CALLS][COUNT], reference[CALLS][COUNT];
static MPI_Request requests[CALLS];
static MPI_Comm other, third;

/* Call i: some are small, some on another communicator. */
static int count_of(int i)
{
    return i == 5 ? 7 : COUNT - 300 * i;
}

static MPI_Comm comm_of(int i)
{
    return i % 3 == 2 ? other : MPI_COMM_WORLD;
}

static void fill(int round)
{
    for (int i = 0; i < CALLS; i++)
        for (int k = 0; k < COUNT; k++)
            in[i][k] = (float)((rank + 1) * (k % 13 - 6) + i + round) /
                       (float)(1 << (i % 8));
    memset(out, 0, sizeof out);
}

/* Compares with blocking calls, after all other calls are complete. */
static bool is_right(void)
{
    bool right = true;

    for (int i = 0; i < CALLS; i++) {
        MPI_Allreduce(in[i], reference[i], count_of(i), MPI_FLOAT, MPI_SUM,
                      comm_of(i));
        right &= memcmp(out[i], reference[i],
                        (size_t)count_of(i) * sizeof(float)) == 0;
    }
    rewritten += CALLS;
    return right && same_on_all(out, sizeof out);
}

static void start(int i)
{
    if (i % 2) { /* in place */
        memcpy(out[i], in[i], (size_t)count_of(i) * sizeof *out[i]);
        MPI_Iallreduce(MPI_IN_PLACE, out[i], count_of(i), MPI_FLOAT, MPI_SUM,
                       comm_of(i), &requests[i]);
    } else {
        MPI_Iallreduce(in[i], out[i], count_of(i), MPI_FLOAT, MPI_SUM,
                       comm_of(i), &requests[i]);
    }
    rewritten++;
}

/* --- completion calls ---------------------------------------------------- */

static void by_wait(void)
{
    for (int i = 0; i < CALLS; i++) /* each rank has its own order */
        MPI_Wait(&requests[(i * 5 + rank) % CALLS], MPI_STATUS_IGNORE);
}

static void by_test(void)
{
    for (int i = CALLS - 1; i >= 0; i--)
        for (int done = 0; !done;)
            MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
}

static void by_waitall(void)
{
    MPI_Waitall(CALLS, requests, MPI_STATUSES_IGNORE);
}

static void by_testall(void)
{
    for (int done = 0; !done;)
        MPI_Testall(CALLS, requests, &done, MPI_STATUSES_IGNORE);
}

static void by_waitany(void)
{
    for (int index = 0; index != MPI_UNDEFINED;)
        MPI_Waitany(CALLS, requests, &index, MPI_STATUS_IGNORE);
}

static void by_testany(void)
{
    for (int index = 0, done = 0; !done || index != MPI_UNDEFINED;)
        MPI_Testany(CALLS, requests, &index, &done, MPI_STATUS_IGNORE);
}

static void by_waitsome(void)
{
    MPI_Status statuses[CALLS];
    int indices[CALLS];

    for (int done = 0; done != MPI_UNDEFINED;)
        MPI_Waitsome(CALLS, requests, &done, indices, statuses);
}

static void by_testsome(void)
{
    int indices[CALLS];

    for (int done = 0; done != MPI_UNDEFINED;)
        MPI_Testsome(CALLS, requests, &done, indices, MPI_STATUSES_IGNORE);
}

static void by_get_status(void)
{
    for (int i = 0; i < CALLS; i++) {
        for (int done = 0; !done;)
            MPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE);
        /* MPICH does not free requests of its own collectives. */
        if (ranks == 1)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        else
            MPI_Request_free(&requests[i]);
    }
}

static const struct {
    const char *name;
    void (*complete)(void);
    bool frees;  /* the function frees persistent requests too */
    bool native; /* MPICH 4.0 completes its own persistent requests by it */
} ways[] = {
    {"MPI_Wait", by_wait, false, true},
    {"MPI_Test", by_test, false, true},
    {"MPI_Waitall", by_waitall, false, true},
    {"MPI_Testall", by_testall, false, false},
    {"MPI_Waitany", by_waitany, false, false},
    {"MPI_Testany", by_testany, false, false},
    {"MPI_Waitsome", by_waitsome, false, false},
    {"MPI_Testsome", by_testsome, false, false},
    {"MPI_Request_get_status and MPI_Request_free", by_get_status, true, false},
};
#define WAYS (sizeof ways / sizeof *ways)

static void test_completion(void)
{
    for (size_t way = 0; way < WAYS; way++) {
        bool gone = true;

        fill((int)way);
        for (int i = 0; i < CALLS; i++)
            start(i);
        ways[way].complete();
        for (int i = 0; i < CALLS; i++)
            gone &= requests[i] == MPI_REQUEST_NULL;
        ok_all(is_right() && gone, "completed by %s", ways[way].name);
    }
}

static void test_persistent(void)
{
#ifdef HAVE_PMPI_ALLREDUCE_INIT
    MPI_Info info = mpitap_strict_order();

    for (int i = 0; i < CALLS; i++)
        MPI_Allreduce_init(in[i], out[i], count_of(i), MPI_FLOAT, MPI_SUM,
                           comm_of(i), info, &requests[i]);
    MPI_Info_free(&info);
    for (size_t way = 0; way < WAYS; way++) {
        bool there = true;

        if (ways[way].frees || (ranks == 1 && !ways[way].native))
            continue;
        fill((int)way);
        if (way % 2)
            MPI_Startall(CALLS, requests);
        else
            for (int i = 0; i < CALLS; i++)
                MPI_Start(&requests[i]);
        rewritten += CALLS;
        ways[way].complete();
        for (int i = 0; i < CALLS; i++)
            there &= requests[i] != MPI_REQUEST_NULL;
        ok_all(is_right() && there, "persistent, completed by %s",
               ways[way].name);
    }
    for (int i = 0; i < CALLS; i++)
        MPI_Request_free(&requests[i]);
    ok_all(requests[0] == MPI_REQUEST_NULL, "persistent requests are freed");
#endif
}

/* --- ranks that wait for each other -------------------------------------- */

static void receive(int *token, int from)
{
    MPI_Recv(token, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void probe(int *token, int from)
{
    MPI_Status status;

    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Recv(token, 1, MPI_INT, from, status.MPI_TAG, MPI_COMM_WORLD, &status);
}

static void probe_message(int *token, int from)
{
    MPI_Message message;

    MPI_Mprobe(from, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(token, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

static void wait_for_message(int *token, int from)
{
    MPI_Request request;

    MPI_Irecv(token, 1, MPI_INT, from, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A wrong status makes the token wrong. */
static void check_status(int *token, int from, const MPI_Status *status)
{
    int count;

    MPI_Get_count(status, MPI_INT, &count);
    if (status->MPI_SOURCE != from || status->MPI_TAG != 0 || count != 1)
        *token = -1;
}

static void exchange(int *token, int from)
{
    MPI_Status status;
    MPI_Request own;
    int room[2] = {0}, back = -1;

    MPI_Irecv(&back, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &own);
    MPI_Sendrecv(&rank, 1, MPI_INT, rank, 1, room, 2, MPI_INT, from, 0,
                 MPI_COMM_WORLD, &status);
    *token = room[0];
    check_status(token, from, &status);
    MPI_Wait(&own, MPI_STATUS_IGNORE);
    if (back != rank)
        *token = -1;
}

/* Uses mine[2], by its address or by a type that holds the address. */
static void exchange_at(int *token, int from, int mine[2], void *buffer,
                        int count, MPI_Datatype type)
{
    MPI_Status status;
    MPI_Request own;
    int back[2] = {0};

    MPI_Irecv(back, 2, MPI_INT, rank, 1, MPI_COMM_WORLD, &own);
    MPI_Sendrecv_replace(buffer, count, type, rank, 1, from, 0, MPI_COMM_WORLD,
                         &status);
    *token = mine[0];
    check_status(token, from, &status);
    MPI_Wait(&own, MPI_STATUS_IGNORE);
    if (back[0] != rank || back[1] != 7 || mine[1] != 7)
        *token = -1;
}

static void exchange_in_place(int *token, int from)
{
    int mine[2] = {rank, 7};

    exchange_at(token, from, mine, mine, 2, MPI_INT);
}

static void exchange_at_bottom(int *token, int from)
{
    int mine[2] = {rank, 7};
    MPI_Aint place;
    MPI_Datatype placed;

    MPI_Get_address(mine, &place);
    MPI_Type_create_hindexed(1, &(int){2}, &place, MPI_INT, &placed);
    MPI_Type_commit(&placed);
    exchange_at(token, from, mine, MPI_BOTTOM, 1, placed);
    MPI_Type_free(&placed);
}

static void take_part(int *token, int from)
{
    (void)from;
    MPI_Bcast(token, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void take_part_elsewhere(int *token, int from)
{
    int sum, mine = rank == 0 ? *token : 0;

    (void)from;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, third);
    *token = sum;
}

static const struct {
    const char *name;
    void (*receive)(int *token, int from);
} blocks[] = {
    {"MPI_Recv", receive},
    {"MPI_Probe", probe},
    {"MPI_Mprobe and MPI_Mrecv", probe_message},
    {"MPI_Wait for a message", wait_for_message},
    {"MPI_Sendrecv", exchange},
    {"MPI_Sendrecv_replace", exchange_in_place},
    {"MPI_Sendrecv_replace at MPI_BOTTOM", exchange_at_bottom},
    {"MPI_Bcast", take_part},
    {"MPI_Allreduce on a third communicator", take_part_elsewhere},
};

/* Rank 0 sends only after its calls are complete, for which it needs the other
 * ranks; these complete theirs only after they have received. */
static void test_blocked(void)
{
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
        int token = 42;

        fill((int)b);
        for (int i = 0; i < CALLS; i++)
            start(i);
        if (rank == 0) {
            by_wait();
            if (blocks[b].receive == take_part ||
                blocks[b].receive == take_part_elsewhere)
                blocks[b].receive(&token, 0);
            else
                for (int to = 1; to < ranks; to++)
                    MPI_Ssend(&token, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
        } else {
            token = 0;
            blocks[b].receive(&token, 0);
            by_waitall();
        }
        ok_all(is_right() && token == 42, "a rank in %s serves one that waits",
               blocks[b].name);
    }
}

/* All ranks make their first calls on two communicators, each rank in another order. */
static void test_crossed(void)
{
    MPI_Comm comms[2];
    float x[2][COUNT];

    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < 2; i++) {
        int which = (i + rank) % 2;

        for (int k = 0; k < COUNT; k++)
            x[which][k] = 1;
        MPI_Iallreduce(MPI_IN_PLACE, x[which], COUNT, MPI_FLOAT, MPI_SUM,
                       comms[which], &requests[which]);
    }
    rewritten += 2;
    /* Frees the communicators before the calls are complete, which Open MPI
     * (4.1) itself does not survive. */
    if (mpitap_trusting)
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    ok_all(x[0][COUNT - 1] == (float)ranks && x[1][0] == (float)ranks,
           "first calls in different orders, communicators freed before");
}

/* A blocking call follows nonblocking ones on its communicator. */
static void test_mixed(void)
{
    float blocking[COUNT];
    double exact = 1;

    fill(100);
    for (int i = 0; i < CALLS; i++) {
        start(i);
        for (int k = 0; k < COUNT; k++)
            blocking[k] = (float)i;
        if (i % 4 == 3) {
            MPI_Allreduce(MPI_IN_PLACE, blocking, COUNT, MPI_FLOAT, MPI_SUM,
                          comm_of(i));
            rewritten++;
        }
        MPI_Allreduce(MPI_IN_PLACE, &exact, 1, MPI_DOUBLE, MPI_MAX, comm_of(i));
    }
    by_waitsome();
    ok_all(is_right() && exact == 1, "blocking calls between nonblocking ones");
}

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    rank = mpitap_rank();
    ranks = mpitap_size();
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_dup(MPI_COMM_WORLD, &third);
    test_crossed();
    test_completion();
    test_persistent();
    test_blocked();
    test_mixed();
    MPI_Comm_free(&other);
    MPI_Comm_free(&third);
    expect_rewritten(ranks > 1 ? rewritten : 0);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks without a policy adopt that of another rank, which rounds every sum to
 * e3m0, at the first sum of a communicator that makes a world of its own
 * (APSMPI_WORLD=off, or a session).
 *
 *     adopt world|session    several threads at a time, each on its own
 *                            communicator
 *     adopt types            sums of double, which ranks without a policy leave to MPI,
 *                            before and after the ranks agree
 */
#include "config.h"

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "e3m0_sum.h"
#include "mpitap.h"

#define THREADS 8
#define CALLS 3

struct thread {
    pthread_t thread;
    pthread_barrier_t *barrier;
    MPI_Comm comm;
    int number;
    int right; /* sums that were rounded */
};

/* A different thread is the first on each rank. */
static void *sum_in_thread(void *argument)
{
    struct thread *this = argument;

    pthread_barrier_wait(this->barrier);
    usleep((useconds_t)(300 * ((this->number + mpitap_rank()) % THREADS)));
    for (int i = 0; i < CALLS; i++)
        this->right += e3m0_sum(this->comm) == e3m0_sum_rounded(mpitap_size());
    return NULL;
}

static void test_threads(const MPI_Comm comms[THREADS])
{
    struct thread threads[THREADS];
    pthread_barrier_t barrier;
    int right = 0;

    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        threads[i] =
            (struct thread){.barrier = &barrier, .comm = comms[i], .number = i};
        pthread_create(&threads[i].thread, NULL, sum_in_thread, &threads[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i].thread, NULL);
        right += threads[i].right;
    }
    pthread_barrier_destroy(&barrier);
    if (right < THREADS * CALLS)
        diag("rank %d: %d of %d sums are rounded", mpitap_rank(), right,
             THREADS * CALLS);
    ok_all(right == THREADS * CALLS, "every sum of every thread is rewritten");
}

static void test_world(void)
{
    MPI_Comm comms[THREADS];

    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    test_threads(comms);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&comms[i]);
}

#if MPI_VERSION >= 4
static int test_session(void)
{
    MPI_Comm own, comms[THREADS];
    MPI_Session session;
    MPI_Group group;
    MPI_Info info;
    int status;

    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Session_init(info, MPI_ERRORS_RETURN, &session);
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "tests", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                               &own);
    for (int i = 0; i < THREADS; i++)
        PMPI_Comm_dup(own, &comms[i]);
    MPI_Group_free(&group);
    mpitap_begin_on(own);
    test_threads(comms);
    status = mpitap_end();
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Comm_free(&own);
    MPI_Session_finalize(&session);
    return status;
}
#else
static int test_session(void)
{
    plan_skip_all("MPI has no sessions");
}
#endif

/* Returns the sum of 1.25 of every rank, as doubles. */
static double sum_of_doubles(void)
{
    double values[E3M0_SUM_COUNT];

    for (int i = 0; i < E3M0_SUM_COUNT; i++)
        values[i] = 1.25;
    MPI_Allreduce(MPI_IN_PLACE, values, E3M0_SUM_COUNT, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    return values[E3M0_SUM_COUNT - 1];
}

/* True if a derived type of doubles arrives from rank 0, in a call that no rule of a
 * rank without a policy is for. */
static bool derived_doubles_arrive(void)
{
    double values[E3M0_SUM_COUNT];
    MPI_Datatype pair;
    bool arrived = true;

    for (int i = 0; i < E3M0_SUM_COUNT; i++)
        values[i] = mpitap_rank() == 0 ? 1.25 : 0;
    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
    MPI_Type_commit(&pair);
    MPI_Bcast(values, E3M0_SUM_COUNT / 2, pair, 0, MPI_COMM_WORLD);
    MPI_Type_free(&pair);
    for (int i = 0; i < E3M0_SUM_COUNT; i++)
        arrived &= values[i] == 1.25;
    return arrived;
}

static void test_types(void)
{
    const float exact = e3m0_sum_exact(mpitap_size());
    const float rounded = e3m0_sum_rounded(mpitap_size());

    ok_all(derived_doubles_arrive(), "a derived type before it: by MPI");
    ok_all(sum_of_doubles() == (double)exact,
           "doubles before an agreement: by MPI");
    ok_all(e3m0_sum(MPI_COMM_WORLD) == rounded, "floats: rounded");
    ok_all(sum_of_doubles() == (double)rounded, "doubles after it: rounded");
}

int main(int argc, char **argv)
{
    int level, status;

    if (argc > 1 && strcmp(argv[1], "session") == 0)
        return test_session();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
    if (argc > 1 && strcmp(argv[1], "types") == 0)
        test_types();
    else
        test_world();
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

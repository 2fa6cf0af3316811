/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program's error handlers while a nonblocking reduction is under way and a
 * thread blocks in MPI_Recv, MPI_Sendrecv or MPI_Ssend: handlers that another
 * thread sets stay set.
 */
#include "config.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>

#include "mpitap.h"

#define COUNT 65536
#define TIMES 20000 /* at most, and for some SECONDS: MPI's lock is not fair */
#define SECONDS 2.0

static float values[COUNT];
static MPI_Comm other, third;
static MPI_Errhandler handlers[2];

static void ignore(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

/* --- calls that block, on rank 0 until rank 1 comes ----------------------- */

static void receive(void)
{
    int token = 0;

    if (mpitap_rank() == 0)
        MPI_Recv(&token, 1, MPI_INT, 1, 0, other, MPI_STATUS_IGNORE);
    else
        MPI_Send(&token, 1, MPI_INT, 0, 0, other);
}

static void exchange(void)
{
    int mine = mpitap_rank(), theirs;

    MPI_Sendrecv(&mine, 1, MPI_INT, !mine, 1, &theirs, 1, MPI_INT, !mine, 1,
                 other, MPI_STATUS_IGNORE);
}

static void send(void)
{
    int token = 0;

    if (mpitap_rank() == 0)
        MPI_Ssend(&token, 1, MPI_INT, 1, 2, other);
    else
        MPI_Recv(&token, 1, MPI_INT, 0, 2, other, MPI_STATUS_IGNORE);
}

static const struct {
    const char *what;
    void (*run)(void);
} calls[] = {
    {"MPI_Recv", receive}, {"MPI_Sendrecv", exchange}, {"MPI_Ssend", send}};

static void *run(void *which)
{
    calls[*(const size_t *)which].run();
    return NULL;
}

/* Sets handlers meanwhile. True if each handler stays as it was set. */
static bool set_handlers(void)
{
    const MPI_Comm comms[2] = {MPI_COMM_WORLD, other};
    const double begin = MPI_Wtime();
    bool good = true;

    for (int i = 0; i < TIMES && MPI_Wtime() < begin + SECONDS; i++) {
        MPI_Errhandler now;

        MPI_Comm_set_errhandler(comms[i % 2], handlers[i / 2 % 2]);
        sched_yield();
        MPI_Comm_get_errhandler(comms[i % 2], &now);
        good &= now == handlers[i / 2 % 2];
        if (now != MPI_ERRHANDLER_NULL)
            MPI_Errhandler_free(&now);
    }
    return good;
}

static void test(size_t which)
{
    MPI_Request request;
    pthread_t thread;
    bool good = true;
    int token = 0;

    if (mpitap_rank() == 0) {
        MPI_Iallreduce(MPI_IN_PLACE, values, COUNT, MPI_FLOAT, MPI_SUM,
                       MPI_COMM_WORLD, &request);
        pthread_create(&thread, NULL, run, &which);
        good = set_handlers();
        MPI_Send(&token, 1, MPI_INT, 1, 0, third);
        pthread_join(thread, NULL);
    } else {
        MPI_Recv(&token, 1, MPI_INT, 0, 0, third, MPI_STATUS_IGNORE);
        calls[which].run();
        MPI_Iallreduce(MPI_IN_PLACE, values, COUNT, MPI_FLOAT, MPI_SUM,
                       MPI_COMM_WORLD, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    ok_all(good, "%s leaves the communicators' error handlers alone",
           calls[which].what);
}

int main(int argc, char **argv)
{
    int level, status;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_dup(MPI_COMM_WORLD, &third);
    MPI_Comm_create_errhandler(ignore, &handlers[0]);
    MPI_Comm_create_errhandler(ignore, &handlers[1]);
    /* The communicator of the reduction has its context by then. */
    MPI_Allreduce(MPI_IN_PLACE, values, COUNT, MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        test(i);
    MPI_Errhandler_free(&handlers[0]);
    MPI_Errhandler_free(&handlers[1]);
    MPI_Comm_free(&other);
    MPI_Comm_free(&third);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that block while a nonblocking reduction is under way: rank 1 waits for
 * the reduction before it makes the call for which rank 0 blocks, so rank 0
 * must progress the reduction inside its call.
 *
 * With the argument `threads` another thread of rank 0 blocks, before the
 * reduction begins; then two threads wait for messages of any tag. With
 * `threads again` rank 1 once makes the other call before it waits.
 */
#include "config.h"

#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpitap.h"

#define COUNT 65536
#define LARGE (1 << 21) /* too large for an eager message */

/* Thread-local variables, like Fortran's threadprivate arrays: a thread's stack
 * cannot hold them unless it is enlarged for them (meanwhile_locals). */
#ifndef LOCALS
#define LOCALS 1
#endif
static _Thread_local volatile char locals[LOCALS];

static float values[COUNT];
static MPI_Comm other;
static int handled;

static void begin(MPI_Request *request)
{
    locals[LOCALS - 1] = 1;
    for (int i = 0; i < COUNT; i++)
        values[i] = (float)(i % 3);
    MPI_Iallreduce(MPI_IN_PLACE, values, COUNT, MPI_FLOAT, MPI_SUM,
                   MPI_COMM_WORLD, request);
}

static bool end(MPI_Request *request)
{
    bool right = true;

    MPI_Wait(request, MPI_STATUS_IGNORE);
    for (int i = 0; i < COUNT; i++)
        right &= values[i] == (float)(i % 3 * mpitap_size());
    return right;
}

/* --- blocking calls: each returns true if all was well -------------------- */

static bool receive(void)
{
    int token = 7;

    if (mpitap_rank() != 0)
        return MPI_Send(&token, 1, MPI_INT, 0, 0, other) == MPI_SUCCESS;
    token = 0;
    MPI_Recv(&token, 1, MPI_INT, 1, 0, other, MPI_STATUS_IGNORE);
    return token == 7;
}

static bool wait_for_message(void)
{
    MPI_Request request;
    int token = 7;

    if (mpitap_rank() != 0)
        return MPI_Send(&token, 1, MPI_INT, 0, 0, other) == MPI_SUCCESS;
    token = 0;
    MPI_Irecv(&token, 1, MPI_INT, 1, 0, other, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return token == 7;
}

static bool barrier(void)
{
    return MPI_Barrier(other) == MPI_SUCCESS;
}

static bool detach(void)
{
    const int size = LARGE + MPI_BSEND_OVERHEAD;
    static char bytes[LARGE];
    char *buffer;
    int detached;

    if (mpitap_rank() != 0)
        return MPI_Recv(bytes, LARGE, MPI_CHAR, 0, 0, other,
                        MPI_STATUS_IGNORE) == MPI_SUCCESS;
    buffer = malloc((size_t)size);
    MPI_Buffer_attach(buffer, size);
    MPI_Bsend(bytes, LARGE, MPI_CHAR, 1, 0, other);
    MPI_Buffer_detach(&buffer, &detached);
    free(buffer);
    return detached == size;
}

static bool window(void)
{
    static int word;
    MPI_Win made;
    bool good = MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, other,
                               &made) == MPI_SUCCESS;

    good &= MPI_Win_fence(0, made) == MPI_SUCCESS;
    MPI_Win_free(&made);
    return good;
}

static bool file(void)
{
    MPI_File made;
    const char *name = "apsmpi-meanwhile.tmp";
    bool good = MPI_File_open(other, name,
                              MPI_MODE_CREATE | MPI_MODE_RDWR |
                                  MPI_MODE_DELETE_ON_CLOSE,
                              MPI_INFO_NULL, &made) == MPI_SUCCESS;

    good = good &&
           MPI_File_write_at_all(made, 4 * mpitap_rank(), "ranks", 4, MPI_CHAR,
                                 MPI_STATUS_IGNORE) == MPI_SUCCESS;
    good = good &&
           MPI_File_write_all_begin(made, "more", 4, MPI_CHAR) == MPI_SUCCESS;
    good = good && MPI_File_write_all_end(made, "more", MPI_STATUS_IGNORE) ==
                       MPI_SUCCESS;
    return good && MPI_File_close(&made) == MPI_SUCCESS;
}

/* A signal that the program blocks after the reduction began stays blocked. */
static bool blocked_signal(void)
{
    sigset_t signals;
    bool good;
    int which;

    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    pthread_kill(pthread_self(), SIGUSR2);
    good = receive();
    good &= sigwait(&signals, &which) == 0 && which == SIGUSR2;
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    return good;
}

static int handled_class;

static void handler(MPI_Comm *comm, int *code, ...)
{
    MPI_Error_class(*code, &handled_class);
    handled += *comm == other;
}

/* The communicator's handler gets the error, once. */
static bool truncated(void)
{
    const int tokens[2] = {1, 2};
    MPI_Errhandler errhandler, theirs;
    int token;

    if (mpitap_rank() != 0)
        return MPI_Send(tokens, 2, MPI_INT, 0, 0, other) == MPI_SUCCESS;
    MPI_Comm_get_errhandler(other, &theirs);
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(other, errhandler);
    MPI_Recv(&token, 1, MPI_INT, 1, 0, other, MPI_STATUS_IGNORE);
    MPI_Comm_set_errhandler(other, theirs);
    MPI_Errhandler_free(&errhandler);
    return handled_class == MPI_ERR_TRUNCATE && handled == 1;
}

static const struct {
    const char *what;
    bool (*run)(void);
} calls[] = {
    {"MPI_Recv", receive},
    {"MPI_Wait for a message", wait_for_message},
    {"MPI_Barrier of another communicator", barrier},
    {"MPI_Buffer_detach", detach},
    {"calls that make and free a window", window},
    {"calls on a file", file},
    {"MPI_Recv with a signal blocked", blocked_signal},
    {"MPI_Recv that fails", truncated},
};
#define CALLS (sizeof calls / sizeof *calls)
#define FOR_THREADS 3 /* number of rows for threads */

static void test_calls(void)
{
    for (size_t i = 0; i < CALLS; i++) {
        MPI_Request request;
        bool good;

        begin(&request);
        if (mpitap_rank() == 0) {
            good = calls[i].run();
            good &= end(&request);
        } else {
            good = end(&request);
            good &= calls[i].run();
        }
        ok_all(good, "%s", calls[i].what);
    }
}

/* Rank 1 blocks in an all-reduce after a nonblocking one; rank 0 begins neither
 * before a communicator is duplicated, for which rank 1 must progress. */
static void test_drain(void)
{
    static float sums[COUNT];
    MPI_Request requests[2];
    MPI_Comm copy;
    int done = 0;

    MPI_Comm_idup(other, &copy, &requests[0]);
    while (mpitap_rank() == 0 && !done)
        MPI_Request_get_status(requests[0], &done, MPI_STATUS_IGNORE);
    begin(&requests[1]);
    MPI_Allreduce(MPI_IN_PLACE, sums, COUNT, MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    ok_all(end(&requests[1]), "MPI_Allreduce after a nonblocking one");
    MPI_Comm_free(&copy);
}

static void *run(void *good)
{
    const size_t *which = good;

    return calls[*which].run() ? good : NULL;
}

/* `first`: rank 1 makes the call for which the thread of rank 0 blocks before
 * it waits for the reduction. */
static void test_thread(size_t which, bool first)
{
    MPI_Request request;
    bool good;

    if (mpitap_rank() == 0) {
        void *result = NULL;
        pthread_t thread;

        pthread_create(&thread, NULL, run, &which);
        usleep(100000); /* the thread blocks by now */
        begin(&request);
        pthread_join(thread, &result);
        good = end(&request) && result;
    } else {
        begin(&request);
        good = !first || calls[which].run();
        good &= end(&request);
        good &= first || calls[which].run();
    }
    ok_all(good, "another thread in %s", calls[which].what);
}

/* --- two threads ---------------------------------------------------------- */

static pthread_barrier_t both;
static _Thread_local bool meets; /* it meets the other one at its next
                                  * message */

/* Replaces MPI's function: two threads find the same message before one of them
 * receives it. */
__attribute__((visibility("default"))) int
PMPI_Iprobe(int from, int tag, MPI_Comm comm, int *found, MPI_Status *status)
{
    int (*next)(int, int, MPI_Comm, int *, MPI_Status *);
    int rc;

    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Iprobe");
    rc = next(from, tag, comm, found, status);
    if (meets && comm == other && rc == MPI_SUCCESS && *found) {
        meets = false;
        pthread_barrier_wait(&both);
    }
    return rc;
}

static void *receive_any(void *sum)
{
    MPI_Status status;
    int token = 0;

    meets = true;
    MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, other, &status);
    meets = false;
    *(int *)sum = 10 * token + status.MPI_TAG;
    return NULL;
}

/* Each thread gets one of the two messages. */
static void test_two_threads(void)
{
    int sums[2] = {0, 0}, token = 0;
    MPI_Request request;
    pthread_t thread;

    if (mpitap_rank() == 0) {
        pthread_barrier_init(&both, NULL, 2);
        begin(&request);
        pthread_create(&thread, NULL, receive_any, &sums[0]);
        (void)receive_any(&sums[1]);
        pthread_join(thread, NULL);
        pthread_barrier_destroy(&both);
        MPI_Send(&token, 1, MPI_INT, 1, 0, other);
    } else {
        for (int tag = 1; tag <= 2; tag++)
            MPI_Send(&tag, 1, MPI_INT, 0, tag, other);
        MPI_Recv(&token, 1, MPI_INT, 0, 0, other, MPI_STATUS_IGNORE);
        begin(&request);
    }
    ok_all(end(&request) && (mpitap_rank() > 0 || sums[0] + sums[1] == 33),
           "two threads in MPI_Recv for messages of any tag");
}

int main(int argc, char **argv)
{
    const bool threads = argc > 1 && strcmp(argv[1], "threads") == 0;
    int level, status;

    MPI_Init_thread(&argc, &argv,
                    threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    mpitap_begin();
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    if (threads) {
        if (argc > 2)
            test_thread(0, true);
        for (size_t i = 0; i < FOR_THREADS; i++)
            test_thread(i, false);
        test_two_threads();
    } else {
        test_calls();
    }
    test_drain();
    MPI_Comm_free(&other);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

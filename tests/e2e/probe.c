/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small MPI program for the end-to-end tests; does not use apsmpi. Its first
 * argument names the test, below.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mpi.h>

#define COUNT 4096
#define THREADS 3

static int rank, ranks;

/* Fills small numbers of rank `me`. */
static void fill(float values[COUNT], int me)
{
    for (int i = 0; i < COUNT; i++)
        values[i] = (float)(1 + me) + (float)(i % 7) / 8;
}

/* True if this is their sum over `size` ranks, within the error of a few bits. */
static int is_right(const float values[COUNT], int size)
{
    for (int i = 0; i < COUNT; i++) {
        float wanted =
            (float)(size * (size + 1)) / 2 + (float)size * (float)(i % 7) / 8;
        float off = values[i] - wanted;

        if (off > wanted / 4 || off < -wanted / 4)
            return 0;
    }
    return 1;
}

/* COLLECTIVE over comm, of `size` ranks, this one `me`. */
static int sum(MPI_Comm comm, int me, int size)
{
    static _Thread_local float values[COUNT];

    fill(values, me);
    MPI_Allreduce(MPI_IN_PLACE, values, COUNT, MPI_FLOAT, MPI_SUM, comm);
    return is_right(values, size);
}

/* Like `sum`, with a nonblocking call. */
static int isum(MPI_Comm comm, int me, int size)
{
    static _Thread_local float in[COUNT], out[COUNT];
    MPI_Request request;

    fill(in, me);
    MPI_Iallreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return is_right(out, size);
}

/* COLLECTIVE over comm. Rank 0 of MPI_COMM_WORLD prints. */
static int sums(MPI_Comm comm, long times)
{
    int me, size, good = 1;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    for (long i = 0; i < times; i++)
        good &= sum(comm, me, size);
    if (rank == 0)
        printf("%ld sums %s\n", times, good ? "right" : "WRONG");
    return good ? 0 : 1;
}

/* Every rank forks a child that prints a word, and sums after that. */
static int children(void)
{
    pid_t child;
    int status = 1;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        execlp("sh", "sh", "-c", "echo child $((6 * 7))", (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        return 1;
    return sums(MPI_COMM_WORLD, 2);
}

/* Every rank starts children by system() and popen(), between sums. */
static int shells(void)
{
    char line[64] = "";
    int status = sums(MPI_COMM_WORLD, 1);
    FILE *pipe;

    fflush(stdout);
    if (system("test \"$(printf '%s' a b)\" = ab") != 0)
        return 1;
    status |= sums(MPI_COMM_WORLD, 1);
    fflush(stdout);
    pipe = popen("ls / | grep -x proc; exit 5", "r");
    if (!pipe || !fgets(line, sizeof line, pipe) ||
        strcmp(line, "proc\n") != 0 || WEXITSTATUS(pclose(pipe)) != 5)
        return 1;
    return status | sums(MPI_COMM_WORLD, 1);
}

/* Makes many communicators, one after the other. */
static int communicators(long times)
{
    int status = 0;

    for (long i = 0; i < times && status == 0; i++) {
        MPI_Comm comm;

        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        status = sums(comm, 1);
        MPI_Comm_free(&comm);
    }
    return status;
}

/* Returns the resident memory of this process in KB; the maximum would not show
 * a growth. */
static long resident(void)
{
    long pages = 0, ignored;
    FILE *file = fopen("/proc/self/statm", "r");

    if (!file || fscanf(file, "%ld %ld", &ignored, &pages) != 2)
        pages = -1;
    if (file)
        fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Makes, uses and frees communicators of several kinds, and prints the growth
 * of memory after the first tenth of them. */
static int recreated(long times)
{
    long early = 0, growth, greatest;
    int good = 1;

    for (long i = 0; i < times && good; i++) {
        int me, size;
        MPI_Comm comm;

        if (i % 4 == 3)
            MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comm);
        else
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_rank(comm, &me);
        MPI_Comm_size(comm, &size);
        good = sum(comm, me, size);
        if (i % 2 == 1)
            good &= isum(comm, me, size);
        MPI_Comm_free(&comm);
        if (i == times / 10)
            early = resident();
    }
    growth = resident() - early;
    MPI_Reduce(&growth, &greatest, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld communicators %s, %ld KB more\n", times,
               good ? "right" : "WRONG", greatest);
    return good ? 0 : 1;
}

/* Even and odd ranks sum among themselves. */
static int halves(long times)
{
    MPI_Comm comm;
    int status;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
    status = sums(comm, times);
    MPI_Comm_free(&comm);
    return status;
}

struct thread {
    pthread_t id;
    MPI_Comm comm;
    long times;
    int status;
};

static void *thread_main(void *argument)
{
    struct thread *thread = argument;

    thread->status = sums(thread->comm, thread->times);
    return NULL;
}

/* Makes threads that sum at the same time, each on its own communicator. */
static int threads(long times)
{
    struct thread list[THREADS];
    int status = 0;

    for (int i = 0; i < THREADS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &list[i].comm);
        list[i].times = times;
        list[i].status = 1;
    }
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&list[i].id, NULL, thread_main, &list[i]) != 0)
            MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(list[i].id, NULL);
        status |= list[i].status;
        MPI_Comm_free(&list[i].comm);
    }
    return status;
}

/* Sums until rank `who` ends in the given way, after `times` sums. */
static int until(const char *how, long times)
{
    const int who = ranks - 1;

    for (long i = 0;; i++) {
        sum(MPI_COMM_WORLD, rank, ranks);
        if (i == times && rank == 0) {
            puts("so far");
            fflush(stdout);
        }
        if (i < times || rank != who)
            continue;
        if (strcmp(how, "kill") == 0)
            raise(SIGKILL);
        else if (strcmp(how, "abort") == 0)
            MPI_Abort(MPI_COMM_WORLD, 7);
        else if (strcmp(how, "exit") == 0)
            _exit(9);
        /* "endless" goes on, but yields the core */
        usleep(1000);
    }
}

/* Without MPI_Init: the library never sees the world model's calls. */
static int sessions(void)
{
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int status;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "probe", MPI_INFO_NULL,
                               MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    status = sums(comm, 3);
    if (!isum(comm, rank, ranks))
        status = 1;
    MPI_Pcontrol(0); /* no other rank must agree */
    status |= sums(comm, 1);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return status;
#else
    puts("no sessions");
    return 0;
#endif
}

static int run(const char *what, long times)
{
    if (strcmp(what, "sums") == 0)
        return sums(MPI_COMM_WORLD, times);
    if (strcmp(what, "halves") == 0)
        return halves(times);
    if (strcmp(what, "threads") == 0)
        return threads(times);
    if (strcmp(what, "children") == 0)
        return children();
    if (strcmp(what, "shells") == 0)
        return shells();
    if (strcmp(what, "communicators") == 0)
        return communicators(times);
    if (strcmp(what, "recreated") == 0)
        return recreated(times);
    if (strcmp(what, "version") == 0) {
        char text[8192];
        int length;

        MPI_Get_library_version(text, &length);
        return rank == 0 && puts(text) < 0;
    }
    if (strcmp(what, "nothing") == 0) {
        if (rank == 0)
            puts("nothing");
        return 0;
    }
    return until(what, times);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "sums";
    const long times = argc > 2 ? atol(argv[2]) : 1;
    int provided = MPI_THREAD_MULTIPLE, status;

    if (strcmp(what, "sessions") == 0)
        return sessions();
    if (strcmp(what, "threads") == 0)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (provided < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 1);
    status = run(what, times);
    MPI_Finalize();
    return status;
}

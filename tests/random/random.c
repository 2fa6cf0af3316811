/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A random program under a random policy, checked against the program's own
 * model: sums of all ranks' values, which every rank knows.
 *
 *     random policy SEED RANKS      prints the policy and other settings
 *     mpiexec -n RANKS random SEED
 *
 * The program writes its policy into the working directory and sets the
 * library's variables itself. In the environment:
 *
 *     RANDOM_TRACE     every rank prints its calls on standard error
 *     RANDOM_PACE      a number: other ways and times of completion
 *     RANDOM_TIMEOUT   seconds without an event on a rank, after which the program
 *                      counts as hung (60)
 *
 * Rank 0 prints a line: seed, communicators, calls, and a hash of all results.
 */
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "task.h"

#define TIMEOUT 60
#define EXIT_HUNG 3
#define LATE 10 /* seconds */

static struct setup setup;
static struct task tasks[1 + MAX_THREADS];
static bool trace;
static unsigned patience = TIMEOUT;

/* --- output of ranks ------------------------------------------------------ */

void doing(struct task *task, const char *format, ...)
{
    char text[sizeof task->said];
    va_list args;
    int length;

    length = snprintf(text, sizeof text, "# seed %llu rank %d.%d event %d: ",
                      (unsigned long long)setup.seed, task->rank, task->number,
                      task->event);
    va_start(args, format);
    vsnprintf(text + length, sizeof text - 1 - (size_t)length, format, args);
    va_end(args);
    strcat(text, "\n");
    memcpy(task->said, text, sizeof text);
    alarm(patience);
    if (trace)
        fputs(text, stderr);
}

void wrong(struct task *task, const char *format, ...)
{
    char text[400];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!task->bad)
        fprintf(stderr, "# seed %llu rank %d.%d event %d: WRONG: %s\n",
                (unsigned long long)setup.seed, task->rank, task->number,
                task->event, text);
    task->bad = true;
}

void must_fail(struct task *task, const char *call, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;

    MPI_Error_string(code, text, &length);
    wrong(task, "%s: %s", call, text);
    _exit(1);
}

static void hang(int signal)
{
    (void)signal;
    for (int t = 0; t <= setup.threads; t++)
        if (write(STDERR_FILENO, tasks[t].said, strlen(tasks[t].said)) < 0)
            break;
    sleep(2); /* for the last lines of the other ranks */
    _exit(EXIT_HUNG);
}

void nap(int times)
{
    const struct timespec time = {.tv_nsec = times < 20 ? 20000 : 200000};

    if (times >= 2)
        nanosleep(&time, NULL);
}

/* --- a thread ------------------------------------------------------------- */

static void *run(void *argument)
{
    struct task *task = argument;
    const char *pace = getenv("RANDOM_PACE");
    const int late = draw_below(&task->shared, setup.events);
    const int who = draw_below(&task->shared, setup.size);

    for (task->event = 0; task->event < setup.events; task->event++) {
        task->own.state =
            mix(mix(setup.seed + (uint64_t)task->number * 1000 +
                    (uint64_t)(pace ? atoi(pace) : 0) * 7777) +
                (uint64_t)task->event * MAX_RANKS + (uint64_t)task->rank);
        if (setup.special == SPECIAL_LATE && task->number == 0 &&
            task->event == late && task->rank == who)
            nanosleep(&(struct timespec){.tv_sec = LATE}, NULL);
        /* Enough places for all calls, on all ranks. */
        if (__builtin_popcount(op_pending(task)) > MAX_OPS - 5)
            op_complete(task, op_pending(task), true);
        event_draw(task);
    }
    op_complete(task, op_pending(task), true);
    for (int i = 1; i < MAX_COMMS; i++)
        if (task->comms[i].live)
            comm_free(task, &task->comms[i]);
    doing(task, "has ended");
    return NULL;
}

static void start(struct task *task, int number, int rank)
{
    struct comm *first = &task->comms[0];

    task->setup = &setup;
    task->number = number;
    task->rank = rank;
    task->shared.state = mix(setup.seed * 8 + (uint64_t)number);
    first->live = true;
    first->size = setup.size;
    for (int i = 0; i < setup.size; i++)
        first->members[i] = i;
    first->handle = MPI_COMM_WORLD;
    sums_make(&task->sums);
    if (number > 0)
        MUST(task, MPI_Comm_dup(MPI_COMM_WORLD, &first->handle));
}

/* --- all ranks ------------------------------------------------------------ */

/* MPICH 4.0 compares MPI_UINT64_T as a signed type. */
#define POSITIVE (UINT64_MAX >> 1)

/* COLLECTIVE over MPI_COMM_WORLD. Compares the results that all ranks have. */
static void compare(struct task *task)
{
    static uint64_t both[2 * MAX_SERIALS], most[2 * MAX_SERIALS];

    /* The MAX of the complement is the complement of the MIN. */
    for (int i = 0; i < MAX_SERIALS; i++) {
        both[i] = task->hashes[i];
        both[MAX_SERIALS + i] =
            task->hashes[i] ? POSITIVE ^ task->hashes[i] : 0;
    }
    PMPI_Allreduce(both, most, 2 * MAX_SERIALS, MPI_UINT64_T, MPI_MAX,
                   MPI_COMM_WORLD);
    for (int i = 0; i < MAX_SERIALS; i++)
        if (most[i] != 0 && most[i] != (POSITIVE ^ most[MAX_SERIALS + i])) {
            if (task->hashes[i])
                wrong(task, "call %d of thread %d: ranks have other results", i,
                      task->number);
            return;
        }
}

static int report(void)
{
    uint64_t mine[4] = {0}, all[4];

    for (int t = 0; t <= setup.threads; t++) {
        compare(&tasks[t]);
        mine[0] += tasks[t].bad;
        mine[1] += tasks[t].made;
        mine[2] += (uint64_t)tasks[t].serial;
        mine[3] += tasks[t].hash;
    }
    if (tasks[0].rank > 0)
        mine[2] = 0;
    PMPI_Allreduce(mine, all, 4, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (tasks[0].rank == 0)
        printf("seed %llu ranks %d communicators %llu calls %llu hash %016llx"
               "%s%s\n",
               (unsigned long long)setup.seed, setup.size,
               (unsigned long long)all[1], (unsigned long long)all[2],
               (unsigned long long)all[3], setup.fixed ? " fixed" : "",
               all[0] > 0 ? " WRONG" : "");
    fflush(stdout);
    return all[0] > 0;
}

static void print_policy(void)
{
    printf("%s# threads %d%s, absent on %x, nodes %d%s, special %d\n",
           setup.policy, setup.threads, setup.multiple ? "" : ", MPI_Init",
           setup.absent, setup.nodes, setup.cyclic ? " cyclic" : "",
           setup.special);
}

static void handle_quietly(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static void run_all(int rank)
{
    pthread_t threads[1 + MAX_THREADS];

    MPI_Comm_create_errhandler(handle_quietly, &tasks[0].handlers[0]);
    MPI_Comm_create_errhandler(handle_quietly, &tasks[0].handlers[1]);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, tasks[0].handlers[0]);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int t = 0; t <= setup.threads; t++)
        start(&tasks[t], t, rank);
    if (setup.special == SPECIAL_MANY) {
        comm_many(&tasks[0]);
        setup.events = 10;
    }
    for (int t = 1; t <= setup.threads; t++)
        if (pthread_create(&threads[t], NULL, run, &tasks[t]) != 0)
            must_fail(&tasks[t], "pthread_create", MPI_ERR_OTHER);
    run(&tasks[0]);
    for (int t = 1; t <= setup.threads; t++) {
        pthread_join(threads[t], NULL);
        MPI_Comm_free(&tasks[t].comms[0].handle);
    }
    for (int t = 0; t <= setup.threads; t++)
        sums_free(&tasks[t].sums);
    for (int i = 0; i < 2; i++)
        MPI_Errhandler_free(&tasks[0].handlers[i]);
}

static int environment(const char *name, int otherwise)
{
    const char *text = getenv(name);

    return text && *text ? atoi(text) : otherwise;
}

int main(int argc, char **argv)
{
    const bool prints = argc > 3 && strcmp(argv[1], "policy") == 0;
    int rank = environment("PMI_RANK", environment("OMPI_COMM_WORLD_RANK", 0));
    int size = environment("PMI_SIZE", environment("OMPI_COMM_WORLD_SIZE", 1));
    int level, status;

    if (argc < 2) {
        fprintf(stderr, "usage: random [policy] SEED [RANKS]\n");
        return 2;
    }
    setup_draw(&setup, strtoull(argv[prints ? 2 : 1], NULL, 10),
               prints ? atoi(argv[3]) : size);
    if (prints) {
        print_policy();
        return 0;
    }
    trace = getenv("RANDOM_TRACE") != NULL;
    if (setup_environment(&setup, rank) < 0) {
        perror("random: policy");
        return 1;
    }
    signal(SIGALRM, hang);
    patience = (unsigned)environment("RANDOM_TIMEOUT", TIMEOUT);
    alarm(patience);
    if (setup.multiple)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    else
        MPI_Init(&argc, &argv);
    run_all(rank);
    status = report();
    MPI_Finalize();
    return status;
}

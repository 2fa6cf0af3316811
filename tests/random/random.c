/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A random program under a random policy, checked against a model of its own:
 * sums by all ranks' values, which every rank knows.
 *
 *     random policy SEED RANKS      prints the policy and what else is special
 *     mpiexec -n RANKS random SEED
 *
 * The program writes its policy into the working directory and sets the
 * library's variables itself. In the environment:
 *
 *     RANDOM_TRACE     every rank says on standard error what it does
 *     RANDOM_PACE      a number: completed otherwise and at other times
 *     RANDOM_TIMEOUT   seconds until the program is taken for hung (60)
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

/* --- what ranks say ------------------------------------------------------- */

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
    sleep(2); /* for the others' last words */
    _exit(EXIT_HUNG);
}

void nap(int times)
{
    const struct timespec time = {.tv_nsec = times < 20 ? 20000 : 200000};

    if (times >= 2)
        nanosleep(&time, NULL);
}

/* --- events --------------------------------------------------------------- */

static void call_event(struct task *task, enum way way)
{
    const struct comm *comm =
        comm_draw(task, draw_chance(&task->shared, 80) ? 2 : 1);
    struct op *op = op_place(task), unused;

    /* Ranks may have places for other numbers of calls. */
    if (!op && comm_rank(comm, task->rank) >= 0) {
        op_complete(task, op_pending(task), true);
        op = op_place(task);
    }
    if (comm_rank(comm, task->rank) < 0)
        op = &unused;
    op_draw(task, comm, way, op);
    if (op != &unused)
        op_begin(task, op);
}

/* Nonblocking calls on several communicators, begun in an order of the rank's
 * own. */
static void burst_event(struct task *task)
{
    struct op drawn[4];
    int count = 0, order[4];

    for (int i = 0; i < 4; i++) {
        const struct comm *comm = comm_draw(task, 1);
        bool known = false;

        for (int j = 0; j < count; j++)
            known |= drawn[j].comm.handle == comm->handle;
        if (!known || comm->handle == MPI_COMM_NULL)
            op_draw(task, comm, NONBLOCKING, &drawn[count++]);
        else
            op_draw(task, comm, NONBLOCKING, &(struct op){0});
    }
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        const int j = draw_below(&task->own, i + 1), other = order[i];

        order[i] = order[j];
        order[j] = other;
    }
    for (int i = 0; i < count; i++) {
        struct op *op;

        if (comm_rank(&drawn[order[i]].comm, task->rank) < 0)
            continue;
        op = op_place(task);
        if (!op) {
            /* The others may wait for what is not begun here yet. */
            wrong(task, "no place for a call");
            return;
        }
        *op = drawn[order[i]];
        op_begin(task, op);
    }
}

/* One rank by itself. */
static void alone_event(struct task *task)
{
    struct draw *draw = &task->shared;
    const int rank = draw_below(draw, setup.size);
    const int times = 1 + draw_below(draw, 3);
    const bool makes = draw_chance(draw, 30);
    double one = 1, two = 0;
    float some[3] = {1, 2, 3};
    MPI_Comm copy;

    if (rank != task->rank)
        return;
    doing(task, "calls on MPI_COMM_SELF");
    for (int i = 0; i < times; i++) {
        MUST(task,
             MPI_Allreduce(&one, &two, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF));
        MUST(task, MPI_Allreduce(MPI_IN_PLACE, some, 3, MPI_FLOAT, MPI_SUM,
                                 MPI_COMM_SELF));
    }
    if (two != 1 || some[2] != 3)
        wrong(task, "MPI_COMM_SELF: another sum");
    if (!makes)
        return;
    if (setup.threads == 0) {
        MPI_Request request;

        doing(task, "idup of MPI_COMM_SELF");
        MUST(task, MPI_Comm_idup(MPI_COMM_SELF, &copy, &request));
        MUST(task, MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        MUST(task, MPI_Comm_dup(MPI_COMM_SELF, &copy));
    }
    MUST(task, MPI_Comm_free(&copy));
}

/* Several blocking sums of two lengths, as a training step has them; some ranks
 * make calls of their own between them. */
static void run_event(struct task *task)
{
    struct draw *draw = &task->shared;
    const struct comm *comm = comm_draw(task, 2);
    const int counts[] = {setup.counts[draw_below(draw, COUNTS)],
                          setup.counts[draw_below(draw, COUNTS)]};
    const int times = 3 + draw_below(draw, 5);

    for (int i = 0; i < times; i++) {
        const bool member = comm_rank(comm, task->rank) >= 0;
        struct op *op = op_place(task), unused;

        op = member ? op : &unused;
        op_draw_sum(task, comm, counts[draw_below(draw, 3) == 0], op);
        if (member)
            op_begin(task, op);
        if (draw_chance(draw, 30))
            alone_event(task);
    }
}

/* A wrong call, by one rank or by all; MPI finds it before anything is sent. */
static void mistake_event(struct task *task)
{
    struct draw *draw = &task->shared;
    const struct comm *comm = comm_draw(task, 1);
    const int kind = draw_below(draw, 5), only = draw_below(draw, setup.size);
    const bool all = draw_chance(draw, 50);
    const int count = setup.counts[draw_below(draw, COUNTS)];
    float *x;
    MPI_Request request;
    int rc;

    if (comm->handle == MPI_COMM_NULL || !(all || task->rank == only))
        return;
    doing(task, "a wrong call, %d", kind);
    x = calloc((size_t)count + 1, sizeof *x);
    if (kind == 0)
        rc = MPI_Allreduce(x, x, count + 1, MPI_FLOAT, MPI_SUM, comm->handle);
    else if (kind == 1)
        rc = MPI_Allreduce(MPI_IN_PLACE, x, count, MPI_FLOAT, MPI_BAND,
                           comm->handle);
    else if (kind == 2)
        rc = MPI_Iallreduce(MPI_IN_PLACE, x, count, MPI_FLOAT, MPI_OP_NULL,
                            comm->handle, &request);
    else if (kind == 3)
        rc = MPI_Allreduce(MPI_IN_PLACE, x, count, MPI_DATATYPE_NULL, MPI_SUM,
                           comm->handle);
    else
        rc = MPI_Iallreduce(MPI_IN_PLACE, x, count, MPI_FLOAT, MPI_SUM,
                            MPI_COMM_NULL, &request);
    if (rc == MPI_SUCCESS)
        wrong(task, "a wrong call that MPI takes: %d", kind);
    free(x);
}

/* All ranks where it acts, which only the main thread may when it is alone; one
 * rank where it does not. */
static void pcontrol_event(struct task *task)
{
    const int level = draw_below(&task->shared, 4);
    const int rank = draw_below(&task->shared, setup.size);

    if (task->number > 0 || (setup.threads > 0 && level != 2 && setup.pcontrol))
        return;
    if (!setup.pcontrol && rank != task->rank)
        return;
    doing(task, "MPI_Pcontrol(%d)", level);
    MPI_Pcontrol(level);
}

/* The error handler of MPI_COMM_WORLD is the program's. */
static void handler_event(struct task *task)
{
    MPI_Errhandler now;

    if (task->number > 0)
        return;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &now);
    if (now != task->handlers[task->handler])
        wrong(task, "another error handler of MPI_COMM_WORLD");
    MPI_Errhandler_free(&now);
    task->handler = draw_below(&task->own, 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, task->handlers[task->handler]);
}

static void late_event(struct task *task)
{
    const int rank = draw_below(&task->shared, setup.size);
    const long micros = draw_below(&task->own, 4000);

    if (rank == task->rank)
        nanosleep(&(struct timespec){.tv_nsec = 1000 * micros}, NULL);
}

static void one_event(struct task *task)
{
    const int kind = draw_below(&task->shared, 100);

    if (kind < 24)
        call_event(task, BLOCKING);
    else if (kind < 30)
        run_event(task);
    else if (kind < 46)
        call_event(task, NONBLOCKING);
    else if (kind < 50)
        call_event(task, PERSISTENT);
    else if (kind < 58)
        burst_event(task);
    else if (kind < 68)
        comm_make(task);
    else if (kind < 73)
        comm_free_one(task);
    else if (kind < 79)
        alone_event(task);
    else if (kind < 88)
        op_complete(task, op_pending(task), draw_chance(&task->own, 40));
    else if (kind < 90)
        mistake_event(task);
    else if (kind < 93)
        pcontrol_event(task);
    else if (kind < 96)
        handler_event(task);
    else
        late_event(task);
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
        /* Enough places for whatever comes, on all ranks. */
        if (__builtin_popcount(op_pending(task)) > MAX_OPS - 5)
            op_complete(task, op_pending(task), true);
        one_event(task);
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
    if (number > 0)
        MUST(task, MPI_Comm_dup(MPI_COMM_WORLD, &first->handle));
}

/* --- all of them ---------------------------------------------------------- */

/* MPICH 4.0 compares MPI_UINT64_T as if it had a sign. */
#define POSITIVE (UINT64_MAX >> 1)

/* COLLECTIVE over MPI_COMM_WORLD. Results that are everybody's are the same. */
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
    printf("%s# threads %d%s, absent on %x, nodes %d%s, special %d %s\n",
           setup.policy, setup.threads, setup.multiple ? "" : ", MPI_Init",
           setup.absent, setup.nodes, setup.cyclic ? " cyclic" : "",
           setup.special, setup.failure);
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
    alarm((unsigned)environment("RANDOM_TIMEOUT", TIMEOUT));
    if (setup.multiple)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    else
        MPI_Init(&argc, &argv);
    run_all(rank);
    status = report();
    MPI_Finalize();
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random, but correct MPI programs; does not use apsmpi.
 *
 *     mpiexec -n P conformance FIRST [LAST]
 *
 * runs the programs of the seeds FIRST to LAST, one after the other, and prints
 * for each a hash of all that all ranks received: the same for every MPI. In
 * the environment:
 *
 *     CONFORMANCE_TRACE    every rank says on standard error what it does
 *     CONFORMANCE_EVENTS   the length of a program
 *     CONFORMANCE_WAYS     a number: other ways and times to the same hash
 *     CONFORMANCE_TIMEOUT  seconds until a program counts as hung
 *
 * program.h describes how a program is made, and why it ends.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collective.h"
#include "communicator.h"
#include "message.h"
#include "mistake.h"
#include "program.h"
#include "request.h"

#define TIMEOUT 30
#define EXIT_HUNG 3

static void hang(int signal)
{
    (void)signal;
    say_doing();
    sleep(2); /* for the last lines of the other ranks */
    _exit(EXIT_HUNG);
}

/* --- more events ---------------------------------------------------------- */

/* Delays some ranks. */
static void delay_event(struct program *program)
{
    const struct timespec time = {.tv_nsec =
                                      1000L * draw_below(&program->own, 3000)};

    if (draw_chance(&program->own, 50))
        nanosleep(&time, NULL);
}

/* An all-reduce begins; one rank ends it first, and only then sends the message
 * for which another rank waits before it ends its own. */
static void chain_event(struct program *program)
{
    const int index = comm_draw(program, 2, false);
    const struct comm *comm = &program->comms[index];
    struct op *op = op_place(program);
    int source, target;

    if (!op || comm->size[0] < 2)
        return;
    source = draw_below(&program->shared, comm->size[0]);
    target = (source + 1) % comm->size[0];
    op->kind = OP_COLLECTIVE;
    op->comm = index;
    op->ranks = comm_ranks(comm);
    op->order = ++program->order;
    do
        collective_draw(program, comm, NONBLOCKING, &op->what);
    while (op->what.kind != ALLREDUCE);
    if (op->ranks & bit(program->rank))
        collective_prepare(program, comm, &op->what);
    request_catch_up(program, index, op->ranks);
    request_end(program, comm->members[0][source],
                UINT64_C(1) << (op - program->ops));
    message_send(program, index, comm->members[0][source],
                 comm->members[0][target]);
}

static void world_event(struct program *program)
{
    barrier_event(program, 0);
}

static const struct {
    int weight;
    void (*event)(struct program *program);
} events[] = {
    {22, request_begin_event},
    {8, request_burst_event},
    {12, request_persistent_event},
    {8, request_catch_up_event},
    {20, request_end_event},
    {14, request_poke_event},
    {14, collective_event},
    {18, message_event},
    {3, message_ring_event},
    {3, message_any_event},
    {3, message_persistent_event},
    {12, communicator_event},
    {4, attribute_event},
    {2, handler_event},
    {4, mistake_event},
    {4, delay_event},
    {4, chain_event},
    {1, world_event},
};
#define EVENTS (int)(sizeof events / sizeof events[0])

static void draw_event(struct program *program)
{
    int total = 0, chosen;

    for (int i = 0; i < EVENTS; i++)
        total += events[i].weight;
    chosen = draw_below(&program->shared, total);
    for (int i = 0; i < EVENTS; i++) {
        chosen -= events[i].weight;
        if (chosen < 0) {
            events[i].event(program);
            return;
        }
    }
}

/* --- one program ---------------------------------------------------------- */

static void begin(struct program *program, uint64_t seed)
{
    const int rank = program->rank, size = program->size;
    struct comm *world = &program->comms[0];

    memset(program, 0, sizeof *program);
    program->seed = seed;
    program->rank = rank;
    program->size = size;
    program->shared.state = mix(seed);
    program->hash = mix(seed + (uint64_t)size);
    world->state = COMM_LIVE;
    world->handle = MPI_COMM_WORLD;
    world->size[0] = size;
    for (int i = 0; i < size; i++)
        world->members[0][i] = i;
    communicator_setup(program);
}

/* Ends everything that is left. */
static void end(struct program *program)
{
    request_catch_up(program, -1, bit(program->size) - 1);
    message_settle(program, -1, -1);
    request_end_all(program, requests_of(program, -1));
    for (int i = 0; i < MAX_OPS; i++)
        if (program->ops[i].kind != OP_NONE)
            request_free(program, &program->ops[i]);
    for (int i = 1; i < MAX_COMMS; i++)
        if (program->comms[i].state == COMM_LIVE)
            communicator_free(program, i);
    for (int i = 0; i < KEYS; i++)
        if (program->comms[0].attributes[i])
            MUST(program,
                 MPI_Comm_delete_attr(MPI_COMM_WORLD, program->keys[i]));
    MUST(program, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    take_word(program, (uint64_t)program->copies);
    take_word(program, (uint64_t)program->deletions);
    take_word(program, (uint64_t)program->handled);
    communicator_teardown(program);
}

/* COLLECTIVE over MPI_COMM_WORLD. */
static void print_hash(struct program *program)
{
    uint64_t hashes[MAX_RANKS], hash = program->seed;

    doing(program, "end");
    MUST(program, MPI_Gather(&program->hash, 1, MPI_UINT64_T, hashes, 1,
                             MPI_UINT64_T, 0, MPI_COMM_WORLD));
    if (program->rank != 0)
        return;
    for (int i = 0; i < program->size; i++)
        hash = hash_word(hash, hashes[i]);
    printf("seed %llu ranks %d hash %016llx\n",
           (unsigned long long)program->seed, program->size,
           (unsigned long long)hash);
    fflush(stdout);
}

static void run(struct program *program, uint64_t seed, long length,
                uint64_t ways)
{
    begin(program, seed);
    for (program->event = 0; program->event < length; program->event++) {
        program->own.state =
            mix(mix(mix(seed) + ways) + (uint64_t)program->event * MAX_RANKS +
                (uint64_t)program->rank);
        draw_event(program);
    }
    end(program);
    print_hash(program);
}

/* Returns a shorter length if ranks may outnumber the cores: each of MPI's
 * waits then takes a time slice of the scheduler. */
static long default_length(int size)
{
    return size <= 2 ? 200 : 100;
}

static long setting(const char *name, long other)
{
    const char *text = getenv(name);

    return text && *text ? strtol(text, NULL, 10) : other;
}

int main(int argc, char **argv)
{
    static struct program program;
    uint64_t first, last;
    long length;

    if (argc < 2) {
        fprintf(stderr, "usage: conformance FIRST [LAST]\n");
        return 2;
    }
    first = strtoull(argv[1], NULL, 10);
    last = argc > 2 ? strtoull(argv[2], NULL, 10) : first;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &program.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &program.size);
    if (program.size > MAX_RANKS) {
        fprintf(stderr, "conformance: more than %d ranks\n", MAX_RANKS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    length = setting("CONFORMANCE_EVENTS", default_length(program.size));
    signal(SIGALRM, hang);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (uint64_t seed = first; seed <= last; seed++) {
        alarm((unsigned)setting("CONFORMANCE_TIMEOUT", TIMEOUT));
        run(&program, seed, length, (uint64_t)setting("CONFORMANCE_WAYS", 0));
    }
    alarm(0);
    base_types_free();
    MPI_Finalize();
    return 0;
}

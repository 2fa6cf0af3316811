/* SPDX-License-Identifier: BSD-3-Clause */
#include "program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char said[512];
static volatile size_t said_length;

void doing(struct program *program, const char *format, ...)
{
    static int trace = -1;
    va_list args;
    int length, more;

    if (trace < 0)
        trace = getenv("CONFORMANCE_TRACE") != NULL;
    said_length = 0;
    length = snprintf(said, sizeof said,
                      "# seed %llu rank %d event %ld hash %016llx: ",
                      (unsigned long long)program->seed, program->rank,
                      program->event, (unsigned long long)program->hash);
    va_start(args, format);
    more = vsnprintf(said + length, sizeof said - 1 - (size_t)length, format,
                     args);
    va_end(args);
    length += more;
    if (length > (int)sizeof said - 2)
        length = (int)sizeof said - 2;
    said[length++] = '\n';
    said_length = (size_t)length;
    if (trace)
        say_doing();
}

void say_doing(void)
{
    if (write(STDERR_FILENO, said, said_length) < 0)
        return;
}

void give_up(struct program *program, const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "out of memory";
    int length;

    if (code != MPI_SUCCESS)
        MPI_Error_string(code, text, &length);
    say_doing();
    fprintf(stderr, "# seed %llu rank %d: %s: %s\n",
            (unsigned long long)program->seed, program->rank, what, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

void *allocate(struct program *program, size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);

    if (!memory)
        give_up(program, "malloc", MPI_SUCCESS);
    return memory;
}

void take_word(struct program *program, uint64_t word)
{
    program->hash = hash_word(program->hash, word);
}

unsigned comm_ranks(const struct comm *comm)
{
    unsigned ranks = 0;

    for (int side = 0; side < 2; side++)
        for (int i = 0; i < comm->size[side]; i++)
            ranks |= bit(comm->members[side][i]);
    return ranks;
}

static bool find(const struct comm *comm, int rank, int *side, int *place)
{
    for (*side = 0; *side < 2; ++*side)
        for (*place = 0; *place < comm->size[*side]; ++*place)
            if (comm->members[*side][*place] == rank)
                return true;
    return false;
}

int comm_side(const struct comm *comm, int rank)
{
    int side, place;

    return find(comm, rank, &side, &place) ? side : -1;
}

int comm_rank(const struct comm *comm, int rank)
{
    int side, place;

    return find(comm, rank, &side, &place) ? place : -1;
}

int comm_draw(struct program *program, int least, bool inter)
{
    int found[MAX_COMMS], count = 0;

    for (int i = 0; i < MAX_COMMS; i++) {
        const struct comm *comm = &program->comms[i];

        if (comm->state == COMM_LIVE && comm->size[0] >= least &&
            (inter || comm->size[1] == 0))
            found[count++] = i;
    }
    return count == 0 ? 0 : found[draw_below(&program->shared, count)];
}

int comm_place(struct program *program)
{
    for (int i = 1; i < MAX_COMMS; i++)
        if (program->comms[i].state == COMM_FREE)
            return i;
    return -1;
}

bool comm_is_busy(const struct program *program, int comm)
{
    for (int i = 0; i < MAX_OPS; i++) {
        const struct op *op = &program->ops[i];

        if (op->kind != OP_NONE && op->comm == comm &&
            (!op->persistent || !op->idle))
            return true;
    }
    return false;
}

struct op *op_place(struct program *program)
{
    for (int i = 0; i < MAX_OPS; i++) {
        struct op *op = &program->ops[i];

        if (op->kind == OP_NONE) {
            memset(op, 0, sizeof *op);
            op->request = MPI_REQUEST_NULL;
            return op;
        }
    }
    return NULL;
}

void nap(int times)
{
    const struct timespec time = {.tv_nsec = times < 20 ? 20000 : 200000};

    if (times >= 2)
        nanosleep(&time, NULL);
}

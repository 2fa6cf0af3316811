/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A random program, while it runs. It is a sequence of events, the same on all ranks;
 * each event names the ranks that take part. All ranks draw all events (from `shared`)
 * and so know the progress of each rank; each carries out its own part.
 *
 * No such program can hang: a rank that blocks in event t waits only for operations
 * that other ranks begin in events up to t, and all ranks go through the events in the
 * same order. Calls that do not block may come late (deferred), so that ranks begin
 * them in different orders; no rank waits for such a request before the event in which
 * the last rank has begun it.
 *
 * Its hash is always the same: a rank hashes the received data in the order of events,
 * not of arrivals; messages match by unambiguous envelopes, and a barrier follows a
 * receive from any source. `own` decides how a rank completes its requests, and never
 * changes the hashed data.
 */
#ifndef CONFORMANCE_PROGRAM_H
#define CONFORMANCE_PROGRAM_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "data.h"
#include "draw.h"

#define MAX_RANKS 16
#define MAX_COMMS 10
#define MAX_OPS 40
#define KEYS 2
#define TAGS 6 /* messages have tags 0 .. 5 */

enum comm_state {
    COMM_FREE,
    COMM_MAKING, /* MPI_Comm_idup has begun */
    COMM_LIVE
};

struct comm {
    enum comm_state state;
    MPI_Comm handle;           /* MPI_COMM_NULL: not a member */
    int size[2];               /* size[1] is 0 except in intercommunicators */
    int members[2][MAX_RANKS]; /* ranks of MPI_COMM_WORLD */
    int dimensions;            /* number of dimensions of a Cartesian one */
    int dims[2];
    bool attributes[KEYS];
};

enum collective_kind {
    ALLREDUCE,
    REDUCE,
    REDUCE_SCATTER_BLOCK,
    REDUCE_SCATTER,
    ALLGATHER,
    BCAST,
    BARRIER,
    SCAN,
    COLLECTIVES
};

/* One collective call: data known to all ranks, then this rank's part. */
struct collective {
    enum collective_kind kind;
    struct values values;
    enum operation operation;
    bool own_operation; /* made for this call, freed as soon as it has begun */
    int multiple;       /* elements in one of a derived type; 1: a base type */
    int count;          /* number of elements of the type */
    int counts[MAX_RANKS];
    int root;
    bool in_place;
    bool large; /* by the large-count function (_c) */

    int me;
    int sizes[2]; /* sizes of this rank's group and the other one */
    size_t send_elements, receive_elements, result_elements;
    void *send, *receive;
};

enum op_kind { OP_NONE, OP_COLLECTIVE, OP_DUPLICATE, OP_SEND, OP_RECEIVE };

/* An operation that ends with a request. */
struct op {
    enum op_kind kind;
    unsigned long order; /* number of the beginning, among all */
    int comm;            /* communicator, until all ranks have begun it */
    unsigned ranks;      /* ranks that take part, a bit for each */
    unsigned begun;      /* ranks that have begun it */
    unsigned ended;      /* ranks that have completed and checked it */
    bool persistent;
    bool idle;               /* persistent, and between two rounds */
    bool matched;            /* a message whose other side has begun, too */
    int duplicate;           /* OP_DUPLICATE: index of the new communicator */
    struct collective what;  /* OP_COLLECTIVE */
    int source, target, tag; /* envelope of a message */
    struct values values;    /* values of a message */
    int count;               /* number of values of a message */
    bool synchronous;        /* OP_SEND: MPI_Issend */

    void *buffer; /* this rank's buffer of a message */
    MPI_Request request;
    bool active; /* this rank has begun it and not seen its end */
    MPI_Status status;
};

struct program {
    uint64_t seed;
    int rank, size; /* in MPI_COMM_WORLD */
    long event;
    struct draw shared; /* the same on all ranks */
    struct draw own;    /* for how and when, never for what */
    uint64_t hash;      /* hash of the data that this rank has received */
    struct comm comms[MAX_COMMS];
    struct op ops[MAX_OPS];
    unsigned long order;
    int keys[KEYS];
    int copies, deletions; /* calls of MPI's attribute callbacks */
    int handled;           /* errors that the program's own handler has seen */
};

/* Records what this rank is about to do: for CONFORMANCE_TRACE, and for the
 * message of a program that hangs. */
void doing(struct program *program, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints the last text of doing(), with seed and rank; safe in a signal handler. */
void say_doing(void);

void give_up(struct program *program, const char *what, int code)
    __attribute__((noreturn));

/* A call that must succeed. */
#define MUST(program, call)                                                    \
    do {                                                                       \
        const int code_ = (call);                                              \
                                                                               \
        if (code_ != MPI_SUCCESS)                                              \
            give_up((program), #call, code_);                                  \
    } while (0)

/* Allocates memory, or ends the job. */
void *allocate(struct program *program, size_t bytes);

/* Add a word, or values, to this rank's hash. */
void take_word(struct program *program, uint64_t word);

static inline unsigned bit(int rank)
{
    return 1u << rank;
}

/* --- communicators -------------------------------------------------------- */

/* Returns the members of both groups. */
unsigned comm_ranks(const struct comm *comm);

/* Returns the group of a rank of MPI_COMM_WORLD, and its place; -1: none. */
int comm_side(const struct comm *comm, int rank);
int comm_rank(const struct comm *comm, int rank);

/* Draws a live communicator, with at least `least` members in its first group; `inter`
 * allows intercommunicators. MPI_COMM_WORLD, number 0, always exists. */
int comm_draw(struct program *program, int least, bool inter);

/* Returns a free place for a communicator, or -1. */
int comm_place(struct program *program);

/* True if a request on the communicator has not ended everywhere. */
bool comm_is_busy(const struct program *program, int comm);

/* Returns a free place for an op, or NULL. */
struct op *op_place(struct program *program);

/* Sleeps, so that other ranks get the core; briefly at first. */
void nap(int times);

#endif

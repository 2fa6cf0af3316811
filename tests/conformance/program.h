/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A random program, while it runs. It is a sequence of events, the same on all
 * ranks; each event names the ranks that it lets do something. All ranks draw
 * all events (from `shared`) and so know who has come how far; each carries out
 * its own part.
 *
 * Why no such program can hang: whoever blocks in event t waits for nothing but
 * what others begin in events up to t, and all ranks go through the events in
 * the same order. Calls that do not block may come late (deferred), so that
 * ranks begin them in different orders; nobody waits for such a request before
 * the event in which the last rank has begun it.
 *
 * Why its hash is always the same: a rank hashes what it received in the order
 * of events, not of arrivals; messages match by envelopes that are unambiguous,
 * and a receive from any source is followed by a barrier. How a rank completes
 * its requests comes from `own` and never changes what is hashed.
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
    int size[2];               /* size[1] is 0 but for intercommunicators */
    int members[2][MAX_RANKS]; /* ranks of MPI_COMM_WORLD */
    int dimensions;            /* of a Cartesian one */
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

/* One collective call: what all ranks know, then this rank's part. */
struct collective {
    enum collective_kind kind;
    struct values values;
    enum operation operation;
    bool own_operation; /* made for this call, freed as soon as it has begun */
    int multiple;       /* elements in one of a derived type; 1: a base type */
    int count;          /* of the type */
    int counts[MAX_RANKS];
    int root;
    bool in_place;
    bool large; /* by the function with _c */

    int me;
    int sizes[2]; /* of the own group and, in an intercommunicator, the other */
    size_t send_elements, receive_elements, result_elements;
    void *send, *receive;
};

enum op_kind { OP_NONE, OP_COLLECTIVE, OP_DUPLICATE, OP_SEND, OP_RECEIVE };

/* Something that ends with a request. */
struct op {
    enum op_kind kind;
    unsigned long order; /* of the beginning, among all */
    int comm;            /* while it is not begun everywhere: which one */
    unsigned ranks;      /* who takes part, a bit for a rank */
    unsigned begun;      /* who has begun it */
    unsigned ended;      /* who has completed it and looked at the result */
    bool persistent;
    bool idle;               /* persistent, and between two rounds */
    bool matched;            /* a message: the other side has begun, too */
    int duplicate;           /* OP_DUPLICATE: index of the new communicator */
    struct collective what;  /* OP_COLLECTIVE */
    int source, target, tag; /* of a message */
    struct values values;    /* likewise */
    int count;               /* likewise */
    bool synchronous;        /* OP_SEND: MPI_Issend */

    void *buffer; /* this rank's, of a message */
    MPI_Request request;
    bool active; /* this rank has begun it and not seen its end */
    MPI_Status status;
};

struct program {
    uint64_t seed;
    int rank, size; /* in MPI_COMM_WORLD */
    long event;
    struct draw shared; /* the same on all ranks */
    struct draw own;    /* how and when, but never what */
    uint64_t hash;      /* of what this rank has received */
    struct comm comms[MAX_COMMS];
    struct op ops[MAX_OPS];
    unsigned long order;
    int keys[KEYS];
    int copies, deletions; /* of attributes, by MPI's calls */
    int handled;           /* errors that the program's own handler has seen */
};

/* Say what this rank is about to do: for CONFORMANCE_TRACE, and for the message
 * of a program that hangs. */
void doing(struct program *program, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The last words of doing(), with seed and rank; safe in a signal handler. */
void say_doing(void);

/* End the job with a message. */
void give_up(struct program *program, const char *what, int code)
    __attribute__((noreturn));

/* A call that is to succeed. */
#define MUST(program, call)                                                    \
    do {                                                                       \
        const int code_ = (call);                                              \
                                                                               \
        if (code_ != MPI_SUCCESS)                                              \
            give_up((program), #call, code_);                                  \
    } while (0)

/* Memory, or the end of the job. */
void *allocate(struct program *program, size_t bytes);

/* This rank receives a word, or values. */
void take_word(struct program *program, uint64_t word);

static inline unsigned bit(int rank)
{
    return 1u << rank;
}

/* --- communicators -------------------------------------------------------- */

/* The members of both groups. */
unsigned comm_ranks(const struct comm *comm);

/* Which group a rank of MPI_COMM_WORLD is in, and where; -1: none. */
int comm_side(const struct comm *comm, int rank);
int comm_rank(const struct comm *comm, int rank);

/* A live communicator, with at least `least` members in its first group;
 * `inter` allows intercommunicators. There is always MPI_COMM_WORLD, number
 * 0. */
int comm_draw(struct program *program, int least, bool inter);

/* A free place for a communicator, or -1. */
int comm_place(struct program *program);

/* Anything that ends with a request and has not ended everywhere? */
bool comm_is_busy(const struct program *program, int comm);

/* A free place for an op, or NULL. */
struct op *op_place(struct program *program);

/* A nap, so that others can have the core; short at first. */
void nap(int times);

#endif

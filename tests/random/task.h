/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thread of a random program: communicators of its own and the calls on
 * them. It is a sequence of events that all ranks draw alike (from `shared`);
 * each rank carries out its part. How and when a rank completes its requests
 * comes from `own`.
 *
 * Why no such program can hang: a rank that blocks in event t waits for nothing
 * but what other ranks begin in events up to t, and all ranks go through the
 * events of a thread in the same order. Threads have no communicator in common.
 */
#ifndef RANDOM_TASK_H
#define RANDOM_TASK_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "draw.h"
#include "setup.h"

#define MAX_COMMS 9
#define MAX_OPS 24
#define MAX_SERIALS 2000

struct comm {
    bool live;
    MPI_Comm handle; /* MPI_COMM_NULL: not a member */
    int size;
    int members[MAX_RANKS]; /* ranks of MPI_COMM_WORLD */
};

enum kind {
    ALLREDUCE,
    REDUCE_SCATTER_BLOCK,
    REDUCE_SCATTER,
    ALLGATHER,
    REDUCE,
    BCAST
};
enum way { BLOCKING, NONBLOCKING, PERSISTENT };
enum base { BASE_FLOAT, BASE_DOUBLE, BASE_INT };
enum operation { SUM, MAX, MIN };

/* One call: what all ranks know, then this rank's part. */
struct op {
    bool used;
    int serial;       /* among all calls of the thread; 0: of this rank alone */
    struct comm comm; /* as it was; it may be freed since */
    enum kind kind;
    enum way way;
    enum base base;
    enum operation operation;
    int count; /* of MPI's call */
    int counts[MAX_RANKS];
    int root;
    bool in_place, large;
    uint64_t key;
    int exponent; /* of all values */
    bool any;     /* any floats, whose sum depends on the order */

    int me;
    char *send, *receive;
    size_t total,
        result; /* elements summed or gathered; of this rank's result */
    MPI_Request request;
};

struct task {
    const struct setup *setup;
    int number, rank;
    struct draw shared, own;
    int event;
    struct comm comms[MAX_COMMS];
    struct op ops[MAX_OPS];
    int serial;
    uint64_t hashes[MAX_SERIALS]; /* of results that are everybody's; 0: none */
    uint64_t hash;                /* of all that this rank has received */
    unsigned long made;           /* communicators */
    bool bad;
    char said[200];
    MPI_Errhandler handlers[2]; /* of the main thread, for MPI_COMM_WORLD */
    int handler;
};

/* Say what this rank is about to do: for RANDOM_TRACE, and for the message of a
 * program that hangs. */
void doing(struct task *task, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Something is not as it should be. */
void wrong(struct task *task, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A call that is to succeed. */
#define MUST(task, call)                                                       \
    do {                                                                       \
        const int code_ = (call);                                              \
                                                                               \
        if (code_ != MPI_SUCCESS)                                              \
            must_fail((task), #call, code_);                                   \
    } while (0)
void must_fail(struct task *task, const char *call, int code)
    __attribute__((noreturn));

/* Asleep, so that others can have the core; short at first. */
void nap(int times);

/* --- events (event.c) ------------------------------------------------------- */

/* Draw an event, and carry out this rank's part. */
void event_draw(struct task *task);

/* --- calls (op.c, check.c) ------------------------------------------------- */

/* A free place, or NULL. */
struct op *op_place(struct task *task);

/* Draw a call on the communicator. */
void op_draw(struct task *task, const struct comm *comm, enum way way,
             struct op *op);

/* ... a blocking sum of `count` floats. */
void op_draw_sum(struct task *task, const struct comm *comm, int count,
                 struct op *op);

const char *op_text(const struct op *op);

/* This rank begins the call: a blocking one is over then. COLLECTIVE over its
 * communicator. */
void op_begin(struct task *task, struct op *op);

/* The call has ended with an MPI error code: look at the result, forget the
 * call. */
void op_end(struct task *task, struct op *op, int code);

/* Complete calls, a bit for each, in a way of this rank's own; `all`: every one.
 */
void op_complete(struct task *task, unsigned ops, bool all);

/* The calls under way here. */
unsigned op_pending(const struct task *task);

/* `count` values that `rank` of MPI_COMM_WORLD contributes. */
void op_fill(const struct op *op, int rank, char *buffer, size_t first,
             size_t count);

/* Is the result what the ranks' values say? */
void op_check(struct task *task, const struct op *op);

size_t base_size(enum base base);

/* --- communicators (communicator.c) ---------------------------------------- */

/* This rank's rank in it, or -1. */
int comm_rank(const struct comm *comm, int rank);

/* One that is live, with at least `least` members. */
struct comm *comm_draw(struct task *task, int least);

void comm_make(struct task *task);
void comm_free(struct task *task, struct comm *comm);
void comm_free_one(struct task *task);

/* 1,500 at a time, with a nonblocking sum on each. */
void comm_many(struct task *task);

#endif

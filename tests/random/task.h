/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thread of a random program: communicators of its own and the calls on them. It is
 * a sequence of events that all ranks draw equally (from `shared`); each rank carries
 * out its part. `own` decides how and when a rank completes its requests.
 *
 * No such program can hang: a rank that blocks in event t waits only for operations
 * that other ranks begin in events up to t, and all ranks go through the events of a
 * thread in the same order. Threads have no communicator in common.
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
enum base { BASE_FLOAT, BASE_DOUBLE, BASE_INT, BASE_BF16, BASE_FP16 };
enum operation { SUM, MAX, MIN };

/* One call: data known to all ranks, then this rank's part. */
struct op {
    bool used;
    int serial;       /* number among the thread's calls; 0: this rank's */
    struct comm comm; /* a copy; the communicator may be freed since */
    enum kind kind;
    enum way way;
    enum base base;
    enum operation operation;
    const struct sums *sums;
    int count; /* count of MPI's call */
    int counts[MAX_RANKS];
    int root;
    bool in_place, large;
    uint64_t key;
    int exponent; /* exponent of all values */
    bool any;     /* any floats, whose sum depends on the order */

    int me;
    char *send, *receive;
    size_t total,
        result; /* elements summed or gathered; of this rank's result */
    MPI_Request request;
};

/* A datatype of two bytes and operations that add bf16 and fp16, made by the program,
 * since most MPIs have none. */
struct sums {
    MPI_Datatype type;
    MPI_Op bf16, fp16;
};

struct task {
    const struct setup *setup;
    int number, rank;
    struct draw shared, own;
    int event;
    struct comm comms[MAX_COMMS];
    struct op ops[MAX_OPS];
    int serial;
    uint64_t hashes[MAX_SERIALS]; /* hashes of common results; 0: none */
    uint64_t hash;                /* hash of the received data */
    unsigned long made;           /* number of communicators */
    bool bad;
    char said[200];
    MPI_Errhandler handlers[2]; /* the main thread's, for MPI_COMM_WORLD */
    int handler;
    struct sums sums;
};

/* Records what this rank is about to do: for RANDOM_TRACE, and for the message
 * of a program that hangs. */
void doing(struct task *task, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reports an error. */
void wrong(struct task *task, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A call that must succeed. */
#define MUST(task, call)                                                       \
    do {                                                                       \
        const int code_ = (call);                                              \
                                                                               \
        if (code_ != MPI_SUCCESS)                                              \
            must_fail((task), #call, code_);                                   \
    } while (0)
void must_fail(struct task *task, const char *call, int code)
    __attribute__((noreturn));

/* Sleeps, so that other ranks get the core; briefly at first. */
void nap(int times);

/* --- events (event.c) ----------------------------------------------------- */

/* Draws an event, and carries out this rank's part. */
void event_draw(struct task *task);

/* --- calls (op.c, check.c) ------------------------------------------------ */

/* Returns a free place, or NULL. */
struct op *op_place(struct task *task);

void op_draw(struct task *task, const struct comm *comm, enum way way,
             struct op *op);

/* Draws a blocking sum of `count` floats. */
void op_draw_sum(struct task *task, const struct comm *comm, int count,
                 struct op *op);

const char *op_text(const struct op *op);

/* COLLECTIVE over the call's communicator. Begins the call on this rank; a
 * blocking one is over then. */
void op_begin(struct task *task, struct op *op);

/* Handles the end of a call with an MPI error code: checks the result and frees
 * the call. */
void op_end(struct task *task, struct op *op, int code);

/* Completes calls, a bit for each, in a random way; `all`: every one. */
void op_complete(struct task *task, unsigned ops, bool all);

/* Returns the calls under way here. */
unsigned op_pending(const struct task *task);

/* Fills the `count` values that `rank` of MPI_COMM_WORLD contributes. */
void op_fill(const struct op *op, int rank, char *buffer, size_t first,
             size_t count);

/* Checks that the result follows from the ranks' values. */
void op_check(struct task *task, const struct op *op);

size_t base_size(enum base base);

/* Makes the datatype and the operations. */
void sums_make(struct sums *sums);
void sums_free(struct sums *sums);

/* --- communicators (communicator.c) --------------------------------------- */

/* Returns this rank's rank in it, or -1. */
int comm_rank(const struct comm *comm, int rank);

/* Draws a live communicator with at least `least` members. */
struct comm *comm_draw(struct task *task, int least);

void comm_make(struct task *task);
void comm_free(struct task *task, struct comm *comm);
void comm_free_one(struct task *task);

/* Makes 1,500 at a time, with a nonblocking sum on each. */
void comm_many(struct task *task);

#endif

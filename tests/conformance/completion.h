/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of MPI that complete requests, or test them: on a batch of this
 * rank's requests.
 */
#ifndef CONFORMANCE_COMPLETION_H
#define CONFORMANCE_COMPLETION_H

#include "program.h"

#define EXTRA 2 /* null requests among the others */
#define BATCH (MAX_OPS + EXTRA)

/* Some of this rank's requests, and null ones, in a random order. */
struct batch {
    int count;
    struct op *ops[BATCH]; /* NULL: a null request */
    MPI_Request requests[BATCH];
    MPI_Status statuses[BATCH];
    int indices[BATCH];
};

/* Fills the batch with ops, a bit for each, in a random order of this rank. */
void completion_fill(struct program *program, uint64_t ops,
                     struct batch *batch);

/* Gives the requests back, as MPI left them. */
void completion_return(struct batch *batch);

/* True if one of the requests has not ended yet. */
bool completion_is_active(const struct batch *batch);

/* Draws a way to complete the batch. If ranks may outnumber the cores, MPI's blocking
 * waits take time slices of the scheduler: other ways are more frequent. */
int completion_draw(struct program *program, const struct batch *batch);
const char *completion_name(int way);
void completion_run(struct program *program, struct batch *batch, int way);

/* Tests the batch once, which may end some requests. `certain`: one of the
 * batch can end, so that a wait for any is allowed. */
void completion_look(struct program *program, struct batch *batch,
                     bool certain);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of MPI that complete requests, or look at them: on a batch of this
 * rank's requests.
 */
#ifndef CONFORMANCE_COMPLETION_H
#define CONFORMANCE_COMPLETION_H

#include "program.h"

#define EXTRA 2 /* null requests among the others */
#define BATCH (MAX_OPS + EXTRA)

/* Some of this rank's requests, and null ones, in an order of its own. */
struct batch {
    int count;
    struct op *ops[BATCH]; /* NULL: a null request */
    MPI_Request requests[BATCH];
    MPI_Status statuses[BATCH];
    int indices[BATCH];
};

/* The batch of ops, a bit for each; the order is drawn from this rank's own. */
void completion_fill(struct program *program, uint64_t ops,
                     struct batch *batch);

/* Give the requests back, as MPI left them. */
void completion_return(struct batch *batch);

/* Has one of them not ended yet? */
bool completion_is_active(const struct batch *batch);

/* A way to complete the batch. Where ranks may outnumber the cores, MPI's
 * blocking waits cost turns of the scheduler: mostly others. */
int completion_draw(struct program *program, const struct batch *batch);
const char *completion_name(int way);
void completion_run(struct program *program, struct batch *batch, int way);

/* One look at the batch, which may end some. certain: one of the batch can end,
 * so that a wait for any is in order. */
void completion_look(struct program *program, struct batch *batch,
                     bool certain);

#endif

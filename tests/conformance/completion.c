/* SPDX-License-Identifier: BSD-3-Clause */
#include "completion.h"

void completion_fill(struct program *program, uint64_t ops, struct batch *batch)
{
    batch->count = 0;
    for (int i = 0; i < MAX_OPS; i++)
        if (ops >> i & 1)
            batch->ops[batch->count++] = &program->ops[i];
    for (int i = draw_below(&program->own, EXTRA + 1); i > 0; i--)
        batch->ops[batch->count++] = NULL;
    for (int i = batch->count - 1; i > 0; i--) {
        const int other = draw_below(&program->own, i + 1);
        struct op *const op = batch->ops[i];

        batch->ops[i] = batch->ops[other];
        batch->ops[other] = op;
    }
    for (int i = 0; i < batch->count; i++)
        batch->requests[i] =
            batch->ops[i] ? batch->ops[i]->request : MPI_REQUEST_NULL;
}

void completion_return(struct batch *batch)
{
    for (int i = 0; i < batch->count; i++)
        if (batch->ops[i])
            batch->ops[i]->request = batch->requests[i];
}

static void batch_ended(struct batch *batch, int i, const MPI_Status *status)
{
    struct op *const op = batch->ops[i];

    if (op && op->active) {
        op->active = false;
        op->status = *status;
    }
}

bool completion_is_active(const struct batch *batch)
{
    for (int i = 0; i < batch->count; i++)
        if (batch->ops[i] && batch->ops[i]->active)
            return true;
    return false;
}

static void all_ended(struct batch *batch)
{
    for (int i = 0; i < batch->count; i++)
        batch_ended(batch, i, &batch->statuses[i]);
}

static void some_ended(struct batch *batch, int count)
{
    for (int i = 0; i < count; i++)
        batch_ended(batch, batch->indices[i], &batch->statuses[i]);
}

static void wait_each(struct program *program, struct batch *batch)
{
    for (int i = 0; i < batch->count; i++) {
        MPI_Status status;

        MUST(program, MPI_Wait(&batch->requests[i], &status));
        batch_ended(batch, i, &status);
    }
}

static void test_each(struct program *program, struct batch *batch)
{
    for (int i = 0; i < batch->count; i++) {
        MPI_Status status;
        int done = 0;

        for (int times = 0; !done; times++) {
            MUST(program, MPI_Test(&batch->requests[i], &done, &status));
            if (!done)
                nap(times);
        }
        batch_ended(batch, i, &status);
    }
}

/* Calls MPI_Request_get_status until it has ended; then completes it, in one of
 * the allowed ways. */
static void look_each(struct program *program, struct batch *batch)
{
    for (int i = 0; i < batch->count; i++) {
        const struct op *op = batch->ops[i];
        MPI_Status status;
        int done = 0;

        for (int times = 0; !done; times++) {
            MUST(program,
                 MPI_Request_get_status(batch->requests[i], &done, &status));
            if (!done)
                nap(times);
        }
        if (op && op->active && op->kind == OP_SEND && !op->persistent &&
            draw_chance(&program->own, 50)) {
            MUST(program, MPI_Request_free(&batch->requests[i]));
        } else if (draw_chance(&program->own, 50)) {
            MUST(program, MPI_Wait(&batch->requests[i], &status));
        } else {
            MUST(program, MPI_Test(&batch->requests[i], &done, &status));
            if (!done)
                give_up(program, "MPI_Test after MPI_Request_get_status",
                        MPI_ERR_REQUEST);
        }
        batch_ended(batch, i, &status);
    }
}

/* Finds the failed requests. */
static void check_all(struct program *program, struct batch *batch,
                      const char *what, int rc)
{
    if (rc == MPI_ERR_IN_STATUS)
        for (int i = 0; i < batch->count; i++)
            if (batch->statuses[i].MPI_ERROR != MPI_SUCCESS)
                give_up(program, what, batch->statuses[i].MPI_ERROR);
    if (rc != MPI_SUCCESS)
        give_up(program, what, rc);
}

static void wait_all(struct program *program, struct batch *batch)
{
    check_all(program, batch, "MPI_Waitall",
              MPI_Waitall(batch->count, batch->requests, batch->statuses));
    all_ended(batch);
}

static void test_all(struct program *program, struct batch *batch)
{
    int done = 0;

    for (int times = 0; !done; times++) {
        check_all(
            program, batch, "MPI_Testall",
            MPI_Testall(batch->count, batch->requests, &done, batch->statuses));
        if (!done)
            nap(times);
    }
    all_ended(batch);
}

static void wait_any(struct program *program, struct batch *batch)
{
    MPI_Status status;
    int index;

    MUST(program, MPI_Waitany(batch->count, batch->requests, &index, &status));
    if (index != MPI_UNDEFINED)
        batch_ended(batch, index, &status);
}

static bool test_any(struct program *program, struct batch *batch)
{
    MPI_Status status;
    int index, done;

    MUST(program,
         MPI_Testany(batch->count, batch->requests, &index, &done, &status));
    if (done && index != MPI_UNDEFINED)
        batch_ended(batch, index, &status);
    return done;
}

static void wait_some(struct program *program, struct batch *batch)
{
    int count;

    MUST(program, MPI_Waitsome(batch->count, batch->requests, &count,
                               batch->indices, batch->statuses));
    if (count != MPI_UNDEFINED)
        some_ended(batch, count);
}

static bool test_some(struct program *program, struct batch *batch)
{
    int count;

    MUST(program, MPI_Testsome(batch->count, batch->requests, &count,
                               batch->indices, batch->statuses));
    if (count != MPI_UNDEFINED)
        some_ended(batch, count);
    return count != 0;
}

static void wait_any_each(struct program *program, struct batch *batch)
{
    while (completion_is_active(batch))
        wait_any(program, batch);
}

static void wait_some_each(struct program *program, struct batch *batch)
{
    while (completion_is_active(batch))
        wait_some(program, batch);
}

static void test_any_each(struct program *program, struct batch *batch)
{
    for (int times = 0; completion_is_active(batch); times++)
        if (!test_any(program, batch))
            nap(times);
}

static void test_some_each(struct program *program, struct batch *batch)
{
    for (int times = 0; completion_is_active(batch); times++)
        if (!test_some(program, batch))
            nap(times);
}

/*
 * Ways to complete requests. MPICH 4.0 has errors with persistent collective
 * ones in MPI_Testall and in the calls for any and some: `safe` ways have none.
 */
static const struct {
    const char *name;
    void (*end)(struct program *, struct batch *);
    bool blocks;
    bool safe;
} ways[] = {
    {"wait", wait_each, true, true},
    {"waitall", wait_all, true, true},
    {"waitany", wait_any_each, true, false},
    {"waitsome", wait_some_each, true, false},
    {"test", test_each, false, true},
    {"testall", test_all, false, false},
    {"testany", test_any_each, false, false},
    {"testsome", test_some_each, false, false},
    {"get_status", look_each, false, true},
};
#define WAYS (int)(sizeof ways / sizeof ways[0])

static bool is_delicate(const struct op *op)
{
    return op->kind == OP_COLLECTIVE && op->persistent;
}

static bool has_delicate(const struct batch *batch)
{
    for (int i = 0; i < batch->count; i++)
        if (batch->ops[i] && is_delicate(batch->ops[i]))
            return true;
    return false;
}

int completion_draw(struct program *program, const struct batch *batch)
{
    const bool may_block = program->size <= 2 || draw_chance(&program->own, 40);
    const bool delicate = has_delicate(batch);
    int way;

    do
        way = draw_below(&program->own, WAYS);
    while ((ways[way].blocks && !may_block) || (!ways[way].safe && delicate));
    return way;
}

const char *completion_name(int way)
{
    return ways[way].name;
}

void completion_run(struct program *program, struct batch *batch, int way)
{
    ways[way].end(program, batch);
}

void completion_look(struct program *program, struct batch *batch, bool certain)
{
    const int kinds = has_delicate(batch) ? 2 : certain ? 7 : 5;
    int done;

    switch (draw_below(&program->own, kinds)) {
    case 0:
        for (int i = 0; i < batch->count; i++) {
            MPI_Status status;

            MUST(program, MPI_Test(&batch->requests[i], &done, &status));
            if (done)
                batch_ended(batch, i, &status);
        }
        break;
    case 1:
        for (int i = 0; i < batch->count; i++)
            MUST(program, MPI_Request_get_status(batch->requests[i], &done,
                                                 MPI_STATUS_IGNORE));
        break;
    case 2:
        check_all(
            program, batch, "MPI_Testall",
            MPI_Testall(batch->count, batch->requests, &done, batch->statuses));
        if (done)
            all_ended(batch);
        break;
    case 3:
        test_any(program, batch);
        break;
    case 4:
        test_some(program, batch);
        break;
    case 5:
        wait_any(program, batch);
        break;
    default:
        wait_some(program, batch);
        break;
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "request.h"

#include <string.h>

#include "communicator.h"
#include "message.h"

#define EXTRA 2 /* null requests among the others */
#define BATCH (MAX_OPS + EXTRA)

/* --- begin ---------------------------------------------------------------- */

void request_begin(struct program *program, struct op *op)
{
    if (op->kind == OP_SEND || op->kind == OP_RECEIVE) {
        message_begin(program, op);
    } else if (op->persistent) {
        doing(program, "start %s on %d", collective_text(&op->what, PERSISTENT),
              op->comm);
        MUST(program, MPI_Start(&op->request));
    } else if (op->kind == OP_DUPLICATE) {
        doing(program, "idup of %d to %d", op->comm, op->duplicate);
        MUST(program, MPI_Comm_idup(program->comms[op->comm].handle,
                                    &program->comms[op->duplicate].handle,
                                    &op->request));
    } else {
        doing(program, "%s on %d", collective_text(&op->what, NONBLOCKING),
              op->comm);
        collective_call(program, &program->comms[op->comm], &op->what,
                        NONBLOCKING, &op->request);
    }
    op->active = true;
}

static bool is_put_off(const struct op *op, int comm, unsigned ranks)
{
    return op->kind != OP_NONE && !op->idle && (comm < 0 || op->comm == comm) &&
           (op->ranks & ~op->begun & ranks) != 0;
}

/* The next that this rank begins: the oldest of some communicator. */
static struct op *next_put_off(struct program *program, int comm)
{
    struct op *oldest[MAX_COMMS] = {NULL}, *some[MAX_COMMS];
    int count = 0;

    for (int i = 0; i < MAX_OPS; i++) {
        struct op *op = &program->ops[i];

        if (is_put_off(op, comm, bit(program->rank)) && !op->active &&
            (!oldest[op->comm] || op->order < oldest[op->comm]->order))
            oldest[op->comm] = op;
    }
    for (int i = 0; i < MAX_COMMS; i++)
        if (oldest[i])
            some[count++] = oldest[i];
    return count > 0 ? some[draw_below(&program->own, count)] : NULL;
}

/* Persistent ones that follow each other start together. */
static void start_all(struct program *program, struct op **ops, int count)
{
    MPI_Request requests[MAX_OPS];

    for (int i = 0; i < count; i++)
        requests[i] = ops[i]->request;
    doing(program, "startall of %d", count);
    MUST(program, MPI_Startall(count, requests));
    for (int i = 0; i < count; i++)
        ops[i]->request = requests[i];
}

static void catch_up_mine(struct program *program, int comm)
{
    struct op *started[MAX_OPS];
    int count = 0;

    for (;;) {
        struct op *op = next_put_off(program, comm);

        if (op && op->persistent) {
            started[count++] = op;
            op->active = true;
            continue;
        }
        if (count == 1)
            request_begin(program, started[0]);
        else if (count > 1)
            start_all(program, started, count);
        count = 0;
        if (!op)
            return;
        request_begin(program, op);
    }
}

void request_catch_up(struct program *program, int comm, unsigned ranks)
{
    if (ranks & bit(program->rank))
        catch_up_mine(program, comm);
    for (int i = 0; i < MAX_OPS; i++) {
        struct op *op = &program->ops[i];

        if (is_put_off(op, comm, ranks))
            op->begun |= op->ranks & ranks;
    }
}

/* --- end ------------------------------------------------------------------ */

bool request_can_end(const struct op *op, int rank)
{
    if (op->kind == OP_NONE || op->idle || !(op->begun & bit(rank)) ||
        op->ended & bit(rank))
        return false;
    return op->kind == OP_SEND || op->kind == OP_RECEIVE
               ? op->matched
               : op->begun == op->ranks;
}

uint64_t requests_of(const struct program *program, int comm)
{
    uint64_t ops = 0;

    for (int i = 0; i < MAX_OPS; i++) {
        const struct op *op = &program->ops[i];

        if (op->kind != OP_NONE && !op->idle && (comm < 0 || op->comm == comm))
            ops |= UINT64_C(1) << i;
    }
    return ops;
}

/* Some of this rank's requests, and null ones, in an order of its own. */
struct batch {
    int count;
    struct op *ops[BATCH]; /* NULL: a null request */
    MPI_Request requests[BATCH];
    MPI_Status statuses[BATCH];
    int indices[BATCH];
};

static void batch_fill(struct program *program, uint64_t ops,
                       struct batch *batch)
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

/* Give the requests back, as MPI left them. */
static void batch_return(struct batch *batch)
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

static bool batch_is_active(const struct batch *batch)
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

/* MPI_Request_get_status until it has ended; then let it go, in one of the ways
 * that are allowed. */
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

/* Which of them failed? */
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
    while (batch_is_active(batch))
        wait_any(program, batch);
}

static void wait_some_each(struct program *program, struct batch *batch)
{
    while (batch_is_active(batch))
        wait_some(program, batch);
}

static void test_any_each(struct program *program, struct batch *batch)
{
    for (int times = 0; batch_is_active(batch); times++)
        if (!test_any(program, batch))
            nap(times);
}

static void test_some_each(struct program *program, struct batch *batch)
{
    for (int times = 0; batch_is_active(batch); times++)
        if (!test_some(program, batch))
            nap(times);
}

/*
 * The ways to complete requests. MPICH 4.0 errs with persistent collective ones
 * in MPI_Testall and in the calls for any and some: `safe` tells where it does
 * not.
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

/* Where ranks may outnumber the cores, MPI's blocking waits cost turns of the
 * scheduler: mostly others. */
static int draw_way(struct program *program, const struct batch *batch)
{
    const bool may_block = program->size <= 2 || draw_chance(&program->own, 40);
    const bool delicate = has_delicate(batch);
    int way;

    do
        way = draw_below(&program->own, WAYS);
    while ((ways[way].blocks && !may_block) || (!ways[way].safe && delicate));
    return way;
}

static void take(struct program *program, struct op *op)
{
    take_word(program, op->request != MPI_REQUEST_NULL);
    switch (op->kind) {
    case OP_COLLECTIVE:
        collective_take(program, &op->what);
        if (!op->persistent)
            collective_release(&op->what);
        break;
    case OP_DUPLICATE:
        communicator_take(program, op->duplicate);
        break;
    default:
        message_take(program, op);
        if (!op->persistent)
            message_release(op);
        break;
    }
}

static void end_mine(struct program *program, uint64_t ops)
{
    struct batch batch;
    int way;

    batch_fill(program, ops, &batch);
    way = draw_way(program, &batch);
    for (int i = 0; i < MAX_OPS; i++)
        if (ops >> i & 1)
            doing(program, "%s (%s)", ways[way].name,
                  program->ops[i].kind == OP_COLLECTIVE
                      ? collective_text(&program->ops[i].what, NONBLOCKING)
                  : program->ops[i].kind == OP_SEND    ? "a send"
                  : program->ops[i].kind == OP_RECEIVE ? "a receive"
                                                       : "idup");
    ways[way].end(program, &batch);
    batch_return(&batch);
    if (batch_is_active(&batch))
        give_up(program, "a request is active after its end", MPI_ERR_REQUEST);
    for (int i = 0; i < MAX_OPS; i++)
        if (ops >> i & 1)
            take(program, &program->ops[i]);
}

/* Ended everywhere. */
static void retire(struct program *program, struct op *op)
{
    if (op->kind == OP_DUPLICATE)
        program->comms[op->duplicate].state = COMM_LIVE;
    if (op->persistent)
        op->idle = true;
    else
        op->kind = OP_NONE;
}

void request_end(struct program *program, int rank, uint64_t ops)
{
    if (ops == 0)
        return;
    if (rank == program->rank)
        end_mine(program, ops);
    for (int i = 0; i < MAX_OPS; i++) {
        struct op *op = &program->ops[i];

        if (!(ops >> i & 1))
            continue;
        op->ended |= bit(rank);
        if (op->ended == op->ranks)
            retire(program, op);
    }
}

void request_end_all(struct program *program, uint64_t ops)
{
    for (int rank = 0; rank < program->size; rank++) {
        uint64_t mine = 0;

        for (int i = 0; i < MAX_OPS; i++)
            if (ops >> i & 1 && request_can_end(&program->ops[i], rank))
                mine |= UINT64_C(1) << i;
        request_end(program, rank, mine);
    }
}

void request_free(struct program *program, struct op *op)
{
    if (op->ranks & bit(program->rank)) {
        doing(program, "free a persistent request");
        MUST(program, MPI_Request_free(&op->request));
        if (op->kind == OP_COLLECTIVE)
            collective_release(&op->what);
        else
            message_release(op);
    }
    op->kind = OP_NONE;
}

/* --- events --------------------------------------------------------------- */

/* Those who begin at once. */
static unsigned draw_prompt(struct program *program)
{
    const unsigned all = bit(program->size) - 1;

    if (draw_chance(&program->shared, 50))
        return all;
    return (unsigned)draw_word(&program->shared) & all;
}

/* A call on a communicator that nobody has begun; NULL: no place for it. */
static struct op *make(struct program *program, enum way way)
{
    const int index = comm_draw(program, 1, true);
    const struct comm *comm = &program->comms[index];
    struct op *op = op_place(program);

    if (!op)
        return NULL;
    op->kind = OP_COLLECTIVE;
    op->comm = index;
    op->ranks = comm_ranks(comm);
    op->order = ++program->order;
    op->persistent = way == PERSISTENT;
    collective_draw(program, comm, way, &op->what);
    if (op->ranks & bit(program->rank))
        collective_prepare(program, comm, &op->what);
    return op;
}

static void make_duplicate(struct program *program)
{
    const int index = comm_draw(program, 1, false);
    const int place = comm_place(program);
    struct op *op = op_place(program);

    if (place < 0 || !op)
        return;
    op->kind = OP_DUPLICATE;
    op->comm = index;
    op->duplicate = place;
    op->ranks = comm_ranks(&program->comms[index]);
    op->order = ++program->order;
    communicator_copy(program, index, place);
}

void request_begin_event(struct program *program)
{
    int comm;

    if (draw_chance(&program->shared, 5)) {
        make_duplicate(program);
        request_catch_up(program, -1, draw_prompt(program));
        return;
    }
    struct op *op = make(program, NONBLOCKING);

    if (!op)
        return;
    comm = op->comm;
    request_catch_up(program, comm, draw_prompt(program));
}

void request_burst_event(struct program *program)
{
    const int count = 2 + draw_below(&program->shared, 4);

    for (int i = 0; i < count; i++)
        make(program, NONBLOCKING);
    request_catch_up(program, -1, draw_prompt(program));
}

/* A persistent request that sleeps, if there is one. */
static struct op *draw_idle(struct program *program)
{
    struct op *found[MAX_OPS];
    int count = 0;

    for (int i = 0; i < MAX_OPS; i++)
        if (program->ops[i].kind != OP_NONE && program->ops[i].idle)
            found[count++] = &program->ops[i];
    return count > 0 ? found[draw_below(&program->shared, count)] : NULL;
}

/* Another round of it, with other values; it begins when its ranks catch up. */
static void prepare_round(struct program *program, struct op *op)
{
    op->idle = false;
    op->begun = op->ended = 0;
    op->order = ++program->order;
    op->what.values.key = mix(op->what.values.key);
    if (op->ranks & bit(program->rank))
        collective_refill(program, &op->what);
}

void request_persistent_event(struct program *program)
{
    struct op *op = draw_idle(program);
    const int kind = draw_below(&program->shared, 100);

    if (MPI_VERSION >= 4 && (!op || kind < 20)) {
        op = make(program, PERSISTENT);
        if (!op)
            return;
        op->idle = true;
        /* The call is collective: after all that comes before it. */
        request_catch_up(program, op->comm, op->ranks);
        if (op->ranks & bit(program->rank)) {
            doing(program, "%s on %d", collective_text(&op->what, PERSISTENT),
                  op->comm);
            collective_call(program, &program->comms[op->comm], &op->what,
                            PERSISTENT, &op->request);
        }
    } else if (op && (op->kind == OP_SEND || op->kind == OP_RECEIVE)) {
        if (kind < 90)
            message_round(program, op);
        else
            request_free(program, op);
    } else if (op && kind < 90) {
        prepare_round(program, op);
        while (draw_chance(&program->shared, 50) &&
               (op = draw_idle(program)) != NULL && op->kind == OP_COLLECTIVE)
            prepare_round(program, op);
        request_catch_up(program, -1, draw_prompt(program));
    } else if (op) {
        request_free(program, op);
    }
}

void request_catch_up_event(struct program *program)
{
    const int comm =
        draw_chance(&program->shared, 50) ? -1 : comm_draw(program, 1, true);

    request_catch_up(program, comm, draw_prompt(program));
}

void request_end_event(struct program *program)
{
    const bool all = draw_chance(&program->shared, 40);
    const int only = draw_below(&program->shared, program->size);

    for (int rank = 0; rank < program->size; rank++) {
        const uint64_t some = draw_chance(&program->shared, 40)
                                  ? UINT64_MAX
                                  : draw_word(&program->shared);
        uint64_t ops = 0;

        for (int i = 0; i < MAX_OPS; i++)
            if (request_can_end(&program->ops[i], rank))
                ops |= UINT64_C(1) << i;
        if (all || rank == only)
            request_end(program, rank, ops & some);
    }
}

/* certain: one of the batch can end, so that a wait for any is in order. */
static void poke(struct program *program, struct batch *batch, bool certain)
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

void request_poke_event(struct program *program)
{
    const uint64_t some = draw_word(&program->own);
    struct batch batch;
    bool certain = false; /* one that is active can end */
    uint64_t ops = 0;

    if (draw_chance(&program->own, 50))
        return;
    for (int i = 0; i < MAX_OPS; i++) {
        const struct op *op = &program->ops[i];

        if (op->kind == OP_NONE || !op->active || !(some >> i & 1))
            continue;
        ops |= UINT64_C(1) << i;
        certain |= request_can_end(op, program->rank);
    }
    batch_fill(program, ops, &batch);
    doing(program, "look at some requests");
    poke(program, &batch, certain);
    batch_return(&batch);
}

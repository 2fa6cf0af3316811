/* SPDX-License-Identifier: BSD-3-Clause */
#include "request.h"

#include <string.h>

#include "communicator.h"
#include "completion.h"
#include "message.h"

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

/* Returns the next op that this rank begins: the oldest of some communicator. */
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

/* Starts successive persistent ones together. */
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

    completion_fill(program, ops, &batch);
    way = completion_draw(program, &batch);
    for (int i = 0; i < MAX_OPS; i++)
        if (ops >> i & 1)
            doing(program, "%s (%s)", completion_name(way),
                  program->ops[i].kind == OP_COLLECTIVE
                      ? collective_text(&program->ops[i].what, NONBLOCKING)
                  : program->ops[i].kind == OP_SEND    ? "a send"
                  : program->ops[i].kind == OP_RECEIVE ? "a receive"
                                                       : "idup");
    completion_run(program, &batch, way);
    completion_return(&batch);
    if (completion_is_active(&batch))
        give_up(program, "a request is active after its end", MPI_ERR_REQUEST);
    for (int i = 0; i < MAX_OPS; i++)
        if (ops >> i & 1)
            take(program, &program->ops[i]);
}

/* Frees an op that has ended everywhere. */
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

/* Draws the ranks that begin at once. */
static unsigned draw_prompt(struct program *program)
{
    const unsigned all = bit(program->size) - 1;

    if (draw_chance(&program->shared, 50))
        return all;
    return (unsigned)draw_word(&program->shared) & all;
}

/* Makes a call that has not begun on any rank, or returns NULL if all are in use. */
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

/* Returns an idle persistent request, if there is one. */
static struct op *draw_idle(struct program *program)
{
    struct op *found[MAX_OPS];
    int count = 0;

    for (int i = 0; i < MAX_OPS; i++)
        if (program->ops[i].kind != OP_NONE && program->ops[i].idle)
            found[count++] = &program->ops[i];
    return count > 0 ? found[draw_below(&program->shared, count)] : NULL;
}

/* Prepares another round, with other values; it begins when its ranks catch up. */
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
        /* The call is collective: it follows all earlier ones. */
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
    completion_fill(program, ops, &batch);
    doing(program, "look at some requests");
    completion_look(program, &batch, certain);
    completion_return(&batch);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "message.h"

#include <stdlib.h>
#include <string.h>

#include "collective.h"
#include "request.h"
#include "transfer.h"

/* Messages for one receive from any source. */
#define MAX_ANY (2 * MAX_RANKS)

/* --- one side ------------------------------------------------------------- */

/* Rank that represents the other side in envelopes. */
static int envelope(const struct program *program, const struct op *op)
{
    return comm_rank(&program->comms[op->comm],
                     op->kind == OP_SEND ? op->target : op->source);
}

/* Makes the request of one side: nonblocking, or persistent. */
static void side_request(struct program *program, struct op *op)
{
    const MPI_Comm comm = program->comms[op->comm].handle;
    const MPI_Datatype type = base_type(op->values.base);
    const int other = envelope(program, op);
    void *const buffer = op->buffer;
    const int n = op->count;
    MPI_Request *const request = &op->request;

    if (op->kind == OP_RECEIVE && op->persistent)
        MUST(program,
             MPI_Recv_init(buffer, n, type, other, op->tag, comm, request));
    else if (op->kind == OP_RECEIVE)
        MUST(program,
             MPI_Irecv(buffer, n, type, other, op->tag, comm, request));
    else if (op->persistent && op->synchronous)
        MUST(program,
             MPI_Ssend_init(buffer, n, type, other, op->tag, comm, request));
    else if (op->persistent)
        MUST(program,
             MPI_Send_init(buffer, n, type, other, op->tag, comm, request));
    else if (op->synchronous)
        MUST(program,
             MPI_Issend(buffer, n, type, other, op->tag, comm, request));
    else
        MUST(program,
             MPI_Isend(buffer, n, type, other, op->tag, comm, request));
}

void message_begin(struct program *program, struct op *op)
{
    doing(program, "%s%s %d -> %d tag %d of %d %s on %d",
          op->persistent ? "start " : "",
          op->kind == OP_SEND ? "isend" : "irecv", op->source, op->target,
          op->tag, op->count, base_name(op->values.base), op->comm);
    if (op->persistent)
        MUST(program, MPI_Start(&op->request));
    else
        side_request(program, op);
}

void message_take(struct program *program, struct op *op)
{
    if (op->kind == OP_RECEIVE)
        transfer_take_status(program, &op->values, &op->status);
    transfer_take(program, &op->values, op->count, op->buffer);
}

void message_release(struct op *op)
{
    free(op->buffer);
    op->buffer = NULL;
}

/* --- both sides ----------------------------------------------------------- */

static int draw_count(struct draw *draw)
{
    const int kind = draw_below(draw, 100);

    if (kind < 5)
        return 0;
    if (kind < 80)
        return 1 + draw_below(draw, 60);
    if (kind < 95)
        return 1000 + draw_below(draw, 1000);
    return 10000 + draw_below(draw, 30000); /* by rendezvous */
}

static void draw_contents(struct program *program, struct message *message)
{
    struct draw *draw = &program->shared;

    message->tag = draw_below(draw, TAGS);
    message->count = draw_count(draw);
    message->synchronous = draw_chance(draw, 25);
    message->values = (struct values){
        .base = draw_chance(draw, 60) ? BASE_FLOAT
                                      : (enum base)draw_below(draw, BASES),
        .pattern = SMALL,
        .key = draw_word(draw),
    };
}

static void draw_pair(struct program *program, struct message *message)
{
    const struct comm *comm;
    int side;

    message->comm = comm_draw(program, 1, true);
    comm = &program->comms[message->comm];
    side = comm->size[1] > 0 ? draw_below(&program->shared, 2) : 0;
    message->source =
        comm->members[side][draw_below(&program->shared, comm->size[side])];
    if (comm->size[1] > 0)
        side = !side;
    message->target =
        comm->members[side][draw_below(&program->shared, comm->size[side])];
}

/* Begins one side now; NULL: there is no place for it. */
static struct op *begin_side(struct program *program, enum op_kind kind,
                             const struct message *message, bool persistent)
{
    struct op *op = op_place(program);
    const int rank = kind == OP_SEND ? message->source : message->target;

    if (!op)
        return NULL;
    op->kind = kind;
    op->order = ++program->order;
    op->comm = message->comm;
    op->ranks = bit(rank);
    op->source = message->source;
    op->target = message->target;
    op->tag = message->tag;
    op->values = message->values;
    op->count = message->count;
    op->synchronous = message->synchronous;
    op->persistent = persistent;
    if (rank == program->rank)
        op->buffer =
            transfer_buffer(program, &op->values, op->count, kind == OP_SEND);
    if (persistent) {
        op->idle = true;
        if (rank == program->rank) {
            doing(program, "persistent message %d -> %d on %d", op->source,
                  op->target, op->comm);
            side_request(program, op);
        }
        return op;
    }
    op->begun = op->ranks;
    if (rank == program->rank)
        request_begin(program, op);
    return op;
}

static bool is_half(const struct op *op)
{
    return (op->kind == OP_SEND || op->kind == OP_RECEIVE) && !op->idle &&
           !op->matched;
}

/* Returns the oldest side with this envelope whose other side is missing. */
static struct op *find_half(struct program *program,
                            const struct message *message)
{
    struct op *oldest = NULL;

    for (int i = 0; i < MAX_OPS; i++) {
        struct op *op = &program->ops[i];

        if (is_half(op) && op->comm == message->comm &&
            op->source == message->source && op->target == message->target &&
            op->tag == message->tag && (!oldest || op->order < oldest->order))
            oldest = op;
    }
    return oldest;
}

/* Makes the missing side, by a call that blocks or not. */
static void match(struct program *program, struct op *half, bool blocks)
{
    struct message message = {
        .comm = half->comm,
        .source = half->source,
        .target = half->target,
        .tag = half->tag,
        .count = half->count,
        .values = half->values,
    };
    struct op *op = NULL;

    half->matched = true;
    /* The buffer is larger than the message. */
    if (half->kind == OP_SEND)
        message.count += draw_below(&program->shared, 4);
    else
        message.count -= draw_below(&program->shared, half->count + 1) / 2;
    if (!blocks)
        op = begin_side(program, half->kind == OP_SEND ? OP_RECEIVE : OP_SEND,
                        &message, false);
    if (op)
        op->matched = true;
    else if (half->kind == OP_SEND)
        transfer_receive(program, &message);
    else
        transfer_send(program, &message);
}

void message_settle(struct program *program, int comm, int target)
{
    for (;;) {
        struct op *oldest = NULL;

        for (int i = 0; i < MAX_OPS; i++) {
            struct op *op = &program->ops[i];

            if (is_half(op) && (comm < 0 || op->comm == comm) &&
                (target < 0 || op->target == target) &&
                (!oldest || op->order < oldest->order))
                oldest = op;
        }
        if (!oldest)
            return;
        match(program, oldest, draw_chance(&program->shared, 30));
    }
}

/* Settles all sides with this envelope. */
static void settle_envelope(struct program *program,
                            const struct message *message)
{
    struct op *half;

    while ((half = find_half(program, message)) != NULL)
        match(program, half, draw_chance(&program->shared, 50));
}

void message_round(struct program *program, struct op *op)
{
    struct op *sides[2] = {op, NULL};
    const struct message message = {
        .comm = op->comm,
        .source = op->source,
        .target = op->target,
        .tag = op->tag,
    };

    for (int i = 0; i < MAX_OPS; i++) {
        struct op *other = &program->ops[i];

        /* Any send matches any receive of the same envelope. */
        if (other->kind == (op->kind == OP_SEND ? OP_RECEIVE : OP_SEND) &&
            other->idle && other->comm == op->comm &&
            other->source == op->source && other->target == op->target &&
            other->tag == op->tag && other->values.base == op->values.base &&
            other->count == op->count)
            sides[1] = other;
    }
    if (!sides[1])
        return;
    settle_envelope(program, &message);
    for (int i = 0; i < 2; i++) {
        struct op *side = sides[i];

        side->idle = false;
        side->matched = true;
        side->begun = side->ranks;
        side->ended = 0;
        side->order = ++program->order;
        side->values.key = mix(side->values.key);
        if (!(side->ranks & bit(program->rank)))
            continue;
        if (side->kind == OP_SEND)
            values_fill(&side->values, program->rank, side->buffer,
                        (size_t)side->count);
        request_begin(program, side);
    }
}

/* --- events --------------------------------------------------------------- */

void message_send(struct program *program, int comm, int source, int target)
{
    struct message message = {.comm = comm, .source = source, .target = target};

    draw_contents(program, &message);
    settle_envelope(program, &message);
    transfer_send(program, &message);
    transfer_receive(program, &message);
}

void message_event(struct program *program)
{
    struct message message;
    struct op *half;
    const int kind = draw_below(&program->shared, 100);

    draw_pair(program, &message);
    draw_contents(program, &message);
    half = find_half(program, &message);
    if (half && kind < 50) {
        match(program, half, kind < 25);
    } else if (kind < 60 && message.source != message.target) {
        settle_envelope(program, &message);
        transfer_send(program, &message);
        transfer_receive(program, &message);
    } else {
        begin_side(program,
                   half            ? half->kind
                   : kind % 2 == 0 ? OP_SEND
                                   : OP_RECEIVE,
                   &message, false);
    }
}

void message_persistent_event(struct program *program)
{
    struct message message;

    draw_pair(program, &message);
    draw_contents(program, &message);
    begin_side(program, OP_SEND, &message, true);
    message.synchronous = false;
    begin_side(program, OP_RECEIVE, &message, true);
}

void message_ring_event(struct program *program)
{
    const int index = comm_draw(program, 1, false);
    const struct comm *comm = &program->comms[index];
    const int me = comm_rank(comm, program->rank), size = comm->size[0];
    const int step = draw_below(&program->shared, size);
    struct message message = {.comm = index};
    int to, from;
    MPI_Datatype type;
    MPI_Status status;
    void *out, *in;
    bool replace;

    draw_contents(program, &message);
    replace = draw_chance(&program->shared, 50);
    message_settle(program, index, -1);
    if (me < 0)
        return;
    to = (me + step) % size;
    from = (me + size - step) % size;
    if (comm->dimensions > 0)
        MUST(program,
             MPI_Cart_shift(comm->handle, comm->dimensions - 1, 1, &from, &to));
    type = base_type(message.values.base);
    out = transfer_buffer(program, &message.values, message.count, true);
    in = transfer_buffer(program, &message.values, message.count, false);
    doing(program, "sendrecv to %d from %d of %d on %d", to, from,
          message.count, index);
    if (replace)
        MUST(program,
             MPI_Sendrecv_replace(out, message.count, type, to, message.tag,
                                  from, message.tag, comm->handle, &status));
    else
        MUST(program, MPI_Sendrecv(out, message.count, type, to, message.tag,
                                   in, message.count, type, from, message.tag,
                                   comm->handle, &status));
    transfer_take_status(program, &message.values, &status);
    transfer_take(program, &message.values, message.count, out);
    transfer_take(program, &message.values, message.count, in);
    free(out);
    free(in);
}

/* Messages from one rank of a communicator, in this order. */
struct arrivals {
    int count[MAX_RANKS];
    void *buffers[MAX_RANKS][2];
    MPI_Status statuses[MAX_RANKS][2];
};

static void receive_any(struct program *program, const struct message *message,
                        const int *from, int total, struct arrivals *arrivals)
{
    const MPI_Comm comm = program->comms[message->comm].handle;
    const MPI_Datatype type = base_type(message->values.base);
    const int tag = draw_chance(&program->own, 50) ? MPI_ANY_TAG : message->tag;
    const bool together = draw_chance(&program->own, 30);
    MPI_Request requests[MAX_ANY];
    MPI_Status statuses[MAX_ANY];
    void *buffers[MAX_ANY];

    for (int i = 0; i < total; i++) {
        buffers[i] =
            transfer_buffer(program, &message->values, message->count, false);
        if (together)
            MUST(program, MPI_Irecv(buffers[i], message->count, type,
                                    MPI_ANY_SOURCE, tag, comm, &requests[i]));
        else
            transfer_receive_into(
                program, comm, buffers[i], message->count, type,
                tag == MPI_ANY_TAG && i == 0 ? from[0] : MPI_ANY_SOURCE, tag,
                &statuses[i]);
    }
    if (together)
        MUST(program, MPI_Waitall(total, requests, statuses));
    for (int i = 0; i < total; i++) {
        const int source = statuses[i].MPI_SOURCE;

        if (arrivals->count[source] == 2)
            give_up(program, "a third message", MPI_ERR_RANK);
        arrivals->buffers[source][arrivals->count[source]] = buffers[i];
        arrivals->statuses[source][arrivals->count[source]++] = statuses[i];
    }
}

void message_any_event(struct program *program)
{
    const int index = comm_draw(program, 2, false);
    const struct comm *comm = &program->comms[index];
    const int size = comm->size[0];
    struct message message = {.comm = index};
    struct arrivals arrivals = {{0}, {{NULL}}, {{{0}}}};
    int from[MAX_ANY], total = 0;

    if (size < 2)
        return;
    draw_contents(program, &message);
    message.target = comm->members[0][draw_below(&program->shared, size)];
    for (int i = 0; i < size; i++)
        for (int n = draw_below(&program->shared, 3); n > 0; n--)
            if (comm->members[0][i] != message.target)
                from[total++] = i;
    message_settle(program, index, message.target);
    for (int i = 0; i < total; i++) {
        message.source = comm->members[0][from[i]];
        transfer_send(program, &message);
    }
    if (program->rank == message.target) {
        doing(program, "receive %d from any on %d", total, index);
        receive_any(program, &message, from, total, &arrivals);
    }
    for (int i = 0; i < size; i++) {
        for (int n = 0; n < arrivals.count[i]; n++) {
            transfer_take_status(program, &message.values,
                                 &arrivals.statuses[i][n]);
            transfer_take(program, &message.values, message.count,
                          arrivals.buffers[i][n]);
            free(arrivals.buffers[i][n]);
        }
    }
    /* No later message may arrive while receives from any source wait. */
    barrier_event(program, index);
}

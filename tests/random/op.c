/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "task.h"

/* Bytes after every buffer that no call may touch. */
#define GUARD 32
#define CANARY 0x5a

/* --- drawing a call ------------------------------------------------------- */

struct op *op_place(struct task *task)
{
    for (int i = 0; i < MAX_OPS; i++)
        if (!task->ops[i].used)
            return &task->ops[i];
    return NULL;
}

static void draw_values(struct task *task, struct op *op)
{
    static const enum base others[6] = {BASE_DOUBLE, BASE_DOUBLE, BASE_INT,
                                        BASE_BF16,   BASE_FP16,   BASE_FP16};
    struct draw *draw = &task->shared;

    op->key = draw_word(draw);
    op->exponent = draw_below(draw, 7) - 3;
    if (draw_chance(draw, 35))
        op->base = others[draw_below(draw, 6)];
    if (op->base != BASE_BF16 && op->base != BASE_FP16 && draw_chance(draw, 10))
        op->operation = draw_chance(draw, 50) ? MAX : MIN;
    op->any = draw_chance(draw, 50) && task->setup->ordered &&
              op->kind == ALLREDUCE && op->base == BASE_FLOAT &&
              op->operation == SUM && op->count >= task->setup->min_count &&
              op->comm.size > 1;
}

void op_draw(struct task *task, const struct comm *comm, enum way way,
             struct op *op)
{
    struct draw *draw = &task->shared;
    const int kind = draw_below(draw, 100);

    memset(op, 0, sizeof *op);
    op->used = true;
    op->serial = ++task->serial;
    op->comm = *comm;
    op->sums = &task->sums;
    op->way = way;
    op->request = MPI_REQUEST_NULL;
    if (way == BLOCKING && kind < 30)
        op->kind = (enum kind)(1 + kind % 5);
    op->count = task->setup->counts[draw_below(draw, COUNTS)];
    if (draw_chance(draw, 3))
        op->count = 0;
    if (op->kind == REDUCE_SCATTER_BLOCK || op->kind == REDUCE_SCATTER ||
        op->kind == ALLGATHER)
        op->count = (op->count + 1) / 2;
    op->root = draw_below(draw, comm->size);
    op->in_place = draw_chance(draw, 50);
    /* MPICH 4.0 aborts in MPI_Reduce in place if the root is not rank 0. */
    if (op->kind == REDUCE && op->root != 0)
        op->in_place = false;
    for (int r = 0; r < comm->size; r++)
        op->counts[r] = op->in_place || draw_chance(draw, 60)
                            ? op->count
                            : draw_below(draw, 300);
    op->large = draw_chance(draw, 25);
    draw_values(task, op);
}

void op_draw_sum(struct task *task, const struct comm *comm, int count,
                 struct op *op)
{
    op_draw(task, comm, BLOCKING, op);
    op->kind = ALLREDUCE;
    op->base = BASE_FLOAT;
    op->operation = SUM;
    op->count = count;
    op->any = false;
}

const char *op_text(const struct op *op)
{
    static const char *const kinds[] = {
        "allreduce",      "reduce_scatter_block",
        "reduce_scatter", "allgather",
        "reduce",         "bcast"};
    static const char *const ways[] = {"", "nonblocking ", "persistent "};
    static const char *const bases[] = {"float", "double", "int", "bf16",
                                        "fp16"};
    static const char *const operations[] = {"sum", "max", "min"};
    static _Thread_local char text[160];

    snprintf(text, sizeof text, "call %d: %s%s%s of %d %s %s%s%s by %d ranks",
             op->serial, ways[op->way], kinds[op->kind], op->large ? "_c" : "",
             op->count, bases[op->base], operations[op->operation],
             op->in_place ? " in place" : "", op->any ? " in order" : "",
             op->comm.size);
    return text;
}

/* --- buffers -------------------------------------------------------------- */

static void measure(struct op *op)
{
    const size_t count = (size_t)op->count, size = (size_t)op->comm.size;

    op->total = op->result = count;
    switch (op->kind) {
    case REDUCE_SCATTER_BLOCK:
        op->total = count * size;
        break;
    case REDUCE_SCATTER:
        op->total = 0;
        for (size_t r = 0; r < size; r++)
            op->total += (size_t)op->counts[r];
        op->result = (size_t)op->counts[op->me];
        break;
    case ALLGATHER:
        op->total = op->result = count * size;
        break;
    case REDUCE:
        if (op->me != op->root) {
            op->in_place = false;
            op->result = 0;
        }
        break;
    case BCAST: /* the root's buffer sends and receives */
        op->in_place = op->me == op->root;
        break;
    default:
        break;
    }
}

static void *new_buffer(struct task *task, size_t bytes)
{
    void *buffer = malloc(bytes + GUARD);

    if (!buffer)
        must_fail(task, "malloc", MPI_ERR_NO_MEM);
    memset(buffer, CANARY, bytes + GUARD);
    return buffer;
}

static void prepare(struct task *task, struct op *op)
{
    const size_t size = base_size(op->base);
    const size_t own = op->kind == ALLGATHER ? (size_t)op->count : op->total;

    if (!op->send) {
        op->send = new_buffer(task, own * size);
        op->receive = new_buffer(task, op->total * size);
    }
    memset(op->receive, CANARY, op->total * size);
    op_fill(op, task->rank, op->send, 0, own);
    if (op->in_place && op->kind == ALLGATHER)
        memcpy(op->receive + (size_t)op->me * own * size, op->send, own * size);
    else if (op->in_place)
        memcpy(op->receive, op->send, own * size);
}

static bool is_canary(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != CANARY)
            return false;
    return true;
}

static bool send_is_untouched(const struct task *task, const struct op *op)
{
    const size_t own = op->kind == ALLGATHER ? (size_t)op->count : op->total;
    const size_t bytes = own * base_size(op->base);
    char *copy = malloc(bytes + 1);
    bool same;

    if (!copy)
        return true;
    op_fill(op, task->rank, copy, 0, own);
    same = memcmp(copy, op->send, bytes) == 0 &&
           is_canary(op->send + bytes, GUARD);
    free(copy);
    return same;
}

/* --- calls ---------------------------------------------------------------- */

static MPI_Datatype type_of(const struct op *op)
{
    const MPI_Datatype types[] = {MPI_FLOAT, MPI_DOUBLE, MPI_INT,
                                  op->sums->type, op->sums->type};

    return types[op->base];
}

static MPI_Op operation_of(const struct op *op)
{
    const MPI_Op operations[] = {MPI_SUM, MPI_MAX, MPI_MIN};

    if (op->base == BASE_BF16)
        return op->sums->bf16;
    return op->base == BASE_FP16 ? op->sums->fp16 : operations[op->operation];
}

#if MPI_VERSION >= 4
/* All ranks start their requests in one order, and tell MPI so. */
static int make_persistent(struct op *op, const void *send, MPI_Datatype type,
                           MPI_Op sum)
{
    MPI_Info info;
    int rc;

    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_strict_persistent_collective_ordering",
                 "true");
    rc = MPI_Allreduce_init(send, op->receive, op->count, type, sum,
                            op->comm.handle, info, &op->request);
    MPI_Info_free(&info);
    return rc;
}
#endif

static int call_allreduce(struct op *op, const void *send)
{
    MPI_Datatype type = type_of(op);
    MPI_Op sum = operation_of(op);

#if MPI_VERSION >= 4
    if (op->way == PERSISTENT)
        return make_persistent(op, send, type, sum);
    if (op->large)
        return op->way == BLOCKING
                   ? MPI_Allreduce_c(send, op->receive, op->count, type, sum,
                                     op->comm.handle)
                   : MPI_Iallreduce_c(send, op->receive, op->count, type, sum,
                                      op->comm.handle, &op->request);
#endif
    if (op->way == BLOCKING)
        return MPI_Allreduce(send, op->receive, op->count, type, sum,
                             op->comm.handle);
    return MPI_Iallreduce(send, op->receive, op->count, type, sum,
                          op->comm.handle, &op->request);
}

static int call(struct op *op)
{
    const void *const send = op->in_place ? MPI_IN_PLACE : op->send;
    MPI_Datatype type = type_of(op);
    MPI_Op sum = operation_of(op);
    MPI_Comm comm = op->comm.handle;

    switch (op->kind) {
    case REDUCE_SCATTER_BLOCK:
        return MPI_Reduce_scatter_block(send, op->receive, op->count, type, sum,
                                        comm);
    case REDUCE_SCATTER:
        return MPI_Reduce_scatter(send, op->receive, op->counts, type, sum,
                                  comm);
    case ALLGATHER:
        return MPI_Allgather(send, op->count, type, op->receive, op->count,
                             type, comm);
    case BCAST:
#if MPI_VERSION >= 4
        if (op->large)
            return MPI_Bcast_c(op->receive, op->count, type, op->root, comm);
#endif
        return MPI_Bcast(op->receive, op->count, type, op->root, comm);
    case REDUCE:
        return MPI_Reduce(send, op->receive, op->count, type, sum, op->root,
                          comm);
    default:
        return call_allreduce(op, send);
    }
}

/* On all ranks: starts one round and completes it. */
static int start_and_wait(struct op *op)
{
    const int rc = MPI_Start(&op->request);

    return rc == MPI_SUCCESS ? MPI_Wait(&op->request, MPI_STATUS_IGNORE) : rc;
}

void op_begin(struct task *task, struct op *op)
{
    int rc;

#if MPI_VERSION < 4
    if (op->way == PERSISTENT)
        op->way = NONBLOCKING;
    op->large = false;
#endif
    op->me = comm_rank(&op->comm, task->rank);
    measure(op);
    prepare(task, op);
    doing(task, "%s", op_text(op));
    rc = call(op);
    if (rc == MPI_SUCCESS && op->way == PERSISTENT) {
        rc = start_and_wait(op);
        if (rc == MPI_SUCCESS) {
            op_check(task, op);
            op->key++;
            prepare(task, op);
            rc = MPI_Start(&op->request);
        }
    }
    if (rc != MPI_SUCCESS || op->way == BLOCKING)
        op_end(task, op, rc);
}

/* Returns the hash of the result; equal on all members if `hashes` has it. */
static uint64_t hash_of(const struct op *op)
{
    const unsigned char *bytes = (const unsigned char *)op->receive;
    const size_t count = op->result * base_size(op->base);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash >> 1 | 1;
}

void op_end(struct task *task, struct op *op, int code)
{
    const size_t bytes = op->total * base_size(op->base);
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;

    if (code != MPI_SUCCESS) {
        MPI_Error_string(code, text, &length);
        wrong(task, "%s: %s", op_text(op), text);
    } else {
        op_check(task, op);
        if (!is_canary(op->receive + bytes, GUARD) ||
            !send_is_untouched(task, op))
            wrong(task, "%s: writes to other memory", op_text(op));
        task->hash +=
            mix(hash_of(op) ^ (uint64_t)op->serial); /* in any order */
        if (op->serial > 0 && op->serial < MAX_SERIALS &&
            (op->kind == ALLREDUCE || op->kind == ALLGATHER ||
             op->kind == BCAST))
            task->hashes[op->serial] = hash_of(op);
    }
    if (op->request != MPI_REQUEST_NULL)
        MPI_Request_free(&op->request);
    free(op->send);
    free(op->receive);
    memset(op, 0, sizeof *op);
}

/* --- completion ----------------------------------------------------------- */

unsigned op_pending(const struct task *task)
{
    unsigned ops = 0;

    for (int i = 0; i < MAX_OPS; i++)
        if (task->ops[i].used)
            ops |= 1u << i;
    return ops;
}

static int collect(struct task *task, unsigned ops, MPI_Request requests[],
                   int places[])
{
    int count = 0;

    for (int i = 0; i < MAX_OPS; i++)
        if (ops >> i & 1) {
            places[count] = i;
            requests[count++] = task->ops[i].request;
        }
    return count;
}

static void end_one(struct task *task, int place, MPI_Request request, int code)
{
    task->ops[place].request = request;
    op_end(task, &task->ops[place], code);
}

static void wait_all(struct task *task, unsigned ops)
{
    MPI_Request requests[MAX_OPS];
    MPI_Status statuses[MAX_OPS];
    int places[MAX_OPS];
    const int count = collect(task, ops, requests, places);
    const int rc = MPI_Waitall(count, requests, statuses);

    for (int i = 0; i < count; i++)
        end_one(task, places[i], requests[i],
                rc == MPI_ERR_IN_STATUS ? statuses[i].MPI_ERROR : rc);
}

static void wait_each(struct task *task, unsigned ops, bool backwards)
{
    MPI_Request requests[MAX_OPS];
    int places[MAX_OPS];
    const int count = collect(task, ops, requests, places);

    for (int n = 0; n < count; n++) {
        const int i = backwards ? count - 1 - n : n;
        const int rc = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);

        end_one(task, places[i], requests[i], rc);
    }
}

/* Alternates tests and naps; at most `looks` times, 0: until all have ended. */
static void test_some(struct task *task, unsigned ops, int looks)
{
    for (int turn = 0; ops && (looks == 0 || turn < looks); turn++) {
        for (int i = 0; i < MAX_OPS; i++) {
            struct op *op = &task->ops[i];
            int done = 0, rc;

            if (!(ops >> i & 1))
                continue;
            rc = MPI_Test(&op->request, &done, MPI_STATUS_IGNORE);
            if (rc == MPI_SUCCESS && !done)
                continue;
            ops &= ~(1u << i);
            end_one(task, i, op->request, rc);
        }
        nap(turn);
    }
}

static void wait_any(struct task *task, unsigned ops)
{
    MPI_Request requests[MAX_OPS];
    int places[MAX_OPS], index = 0;
    const int count = collect(task, ops, requests, places);

    for (int n = 0; n < count; n++) {
        const int rc = MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);

        if (index < 0 || index >= count) {
            wrong(task, "MPI_Waitany completes number %d of %d", index, count);
            return;
        }
        end_one(task, places[index], requests[index], rc);
        requests[index] = MPI_REQUEST_NULL;
    }
}

void op_complete(struct task *task, unsigned ops, bool all)
{
    if (!all)
        ops &= (unsigned)draw_word(&task->own);
    if (ops == 0)
        return;
    doing(task, "completes %x", ops);
    switch (draw_below(&task->own, all ? 5 : 6)) {
    case 0:
        wait_all(task, ops);
        break;
    case 1:
        wait_any(task, ops);
        break;
    case 2:
        wait_each(task, ops, draw_chance(&task->own, 50));
        break;
    case 5:
        test_some(task, ops, 1 + draw_below(&task->own, 20));
        break;
    default:
        test_some(task, ops, 0);
        break;
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "request.h"

/* Elements after every buffer that no call may touch. */
#define GUARD 8

static const char *const names[COLLECTIVES] = {
    [ALLREDUCE] = "allreduce",
    [REDUCE] = "reduce",
    [REDUCE_SCATTER_BLOCK] = "reduce_scatter_block",
    [REDUCE_SCATTER] = "reduce_scatter",
    [ALLGATHER] = "allgather",
    [BCAST] = "bcast",
    [BARRIER] = "barrier",
    [SCAN] = "scan",
};

static bool reduces(enum collective_kind kind)
{
    return kind != ALLGATHER && kind != BCAST && kind != BARRIER;
}

/* --- drawing a call ------------------------------------------------------- */

static enum collective_kind draw_kind(struct draw *draw, enum way way,
                                      bool inter)
{
    static const enum collective_kind inters[] = {ALLGATHER, BARRIER};
    static const enum collective_kind persistents[] = {
        BCAST, BARRIER, REDUCE_SCATTER_BLOCK, REDUCE};

    if (draw_chance(draw, 60))
        return ALLREDUCE;
    if (inter)
        return inters[draw_below(draw, 2)];
    if (way == PERSISTENT)
        return persistents[draw_below(draw, 4)];
    return (enum collective_kind)draw_below(draw, COLLECTIVES);
}

static int draw_count(struct draw *draw)
{
    const int kind = draw_below(draw, 100);

    if (kind < 4)
        return 0;
    if (kind < 10)
        return 1;
    if (kind < 58)
        return 2 + draw_below(draw, 60);
    if (kind < 78)
        return 1023 + draw_below(draw, 3);
    if (kind < 98)
        return 1026 + draw_below(draw, 8000);
    return 9000 + draw_below(draw, 92000);
}

static void draw_values(struct draw *draw, struct collective *what)
{
    struct values *values = &what->values;
    const bool any_order = what->operation != PROD;

    values->key = draw_word(draw);
    values->base = BASE_FLOAT;
    if (what->multiple == 1 && draw_chance(draw, 25))
        values->base = draw_chance(draw, 50) ? BASE_DOUBLE : BASE_INT;
    /* only the program's own operations take numbers of 16 bits */
    if (what->multiple == 1 && what->operation >= OWN_SUM &&
        draw_chance(draw, 50))
        values->base = draw_chance(draw, 50) ? BASE_BF16 : BASE_FP16;
    values->exponent = draw_below(draw, 240) - 130;
    values->pattern = (enum pattern)draw_below(draw, PATTERNS);
    values->nan = what->operation == SUM || what->operation == OWN_SUM ||
                  !reduces(what->kind);
    if (!any_order)
        values->pattern = FACTORS;
    else if (values->base == BASE_INT || base_is_16(values->base) ||
             what->operation == OWN_FIRST)
        values->pattern = draw_chance(draw, 50) ? SMALL : SPARSE;
}

void collective_draw(struct program *program, const struct comm *comm,
                     enum way way, struct collective *what)
{
    struct draw *draw = &program->shared;
    const bool inter = comm->size[1] > 0;
    const bool own = draw_chance(draw, 15);

    memset(what, 0, sizeof *what);
    what->kind = draw_kind(draw, way, inter);
    if (own)
        what->operation = draw_chance(draw, 50) && !inter ? OWN_FIRST : OWN_SUM;
    else if (draw_chance(draw, 25))
        what->operation = (enum operation)draw_below(draw, OWN_SUM);
    what->own_operation = draw_chance(draw, 50);
    what->multiple = 1;
    if ((own || !reduces(what->kind)) && draw_chance(draw, 50))
        what->multiple = 2 + draw_below(draw, 3);
    what->count = draw_count(draw);
    if (what->kind == REDUCE_SCATTER || what->kind == REDUCE_SCATTER_BLOCK ||
        what->kind == ALLGATHER)
        what->count = (what->count + 1) / 2;
    if (what->kind == BARRIER)
        what->count = 0;
    what->root = draw_below(draw, comm->size[0]);
    /* MPICH 4.0 aborts in MPI_Reduce in place if the root is not rank 0 ... */
    what->in_place = draw_chance(draw, 50) && !inter &&
                     (what->kind != REDUCE || what->root == 0);
    /* ... and in MPI_Ireduce_scatter if shares overlap. */
    for (int i = 0; i < comm->size[0]; i++)
        what->counts[i] = what->in_place || draw_chance(draw, 70)
                              ? what->count
                              : draw_below(draw, 100);
    what->large = draw_chance(draw, 25);
    draw_values(draw, what);
}

const char *collective_text(const struct collective *what, enum way way)
{
    static const char *const before[] = {
        [BLOCKING] = "", [NONBLOCKING] = "i", [PERSISTENT] = ""};
    static const char *const after[] = {
        [BLOCKING] = "", [NONBLOCKING] = "", [PERSISTENT] = "_init"};
    static char text[160];

    if (what->kind == BARRIER)
        snprintf(text, sizeof text, "%sbarrier%s", before[way], after[way]);
    else
        snprintf(text, sizeof text, "%s%s%s%s of %d %s%s%s%s", before[way],
                 names[what->kind], after[way],
                 what->large && what->kind == ALLREDUCE ? "_c" : "",
                 what->count, base_name(what->values.base),
                 what->multiple > 1 ? " tuples" : "",
                 reduces(what->kind) ? " " : "",
                 reduces(what->kind) ? operation_name(what->operation) : "");
    if (what->in_place && what->kind != BARRIER)
        strcat(text, " in place");
    return text;
}

/* --- buffers -------------------------------------------------------------- */

/* Computes the lengths of this rank's buffers, in elements. */
static void measure(struct collective *what)
{
    const size_t count = (size_t)what->count * (size_t)what->multiple;
    const size_t size = (size_t)what->sizes[0];
    size_t total = 0;

    what->send_elements = what->receive_elements = what->result_elements =
        count;
    switch (what->kind) {
    case REDUCE_SCATTER_BLOCK:
        what->send_elements = size * count;
        break;
    case REDUCE_SCATTER:
        for (size_t i = 0; i < size; i++)
            total += (size_t)what->counts[i];
        what->send_elements = total * (size_t)what->multiple;
        what->receive_elements = what->result_elements =
            (size_t)what->counts[what->me] * (size_t)what->multiple;
        break;
    case ALLGATHER:
        what->receive_elements = what->result_elements =
            count * (what->sizes[1] > 0 ? (size_t)what->sizes[1] : size);
        break;
    case BCAST:
        what->send_elements = 0;
        break;
    default:
        break;
    }
    if (what->kind == REDUCE && what->me != what->root)
        what->in_place = false;
    if (what->in_place && what->kind != ALLGATHER &&
        what->send_elements > what->receive_elements)
        what->receive_elements = what->send_elements;
}

static void fill(struct program *program, struct collective *what)
{
    const size_t size = base_size(what->values.base);
    const size_t block = (size_t)what->count * (size_t)what->multiple;

    canary_fill(what->send, (what->send_elements + GUARD) * size);
    canary_fill(what->receive, (what->receive_elements + GUARD) * size);
    if (what->kind == BCAST && what->me == what->root)
        values_fill(&what->values, program->rank, what->receive, block);
    else if (what->kind == BCAST || what->kind == BARRIER)
        return;
    else if (what->in_place && what->kind == ALLGATHER)
        values_fill(&what->values, program->rank,
                    (char *)what->receive + (size_t)what->me * block * size,
                    block);
    else
        values_fill(&what->values, program->rank,
                    what->in_place ? what->receive : what->send,
                    what->send_elements);
}

void collective_prepare(struct program *program, const struct comm *comm,
                        struct collective *what)
{
    const size_t size = base_size(what->values.base);
    const int side = comm_side(comm, program->rank);

    what->me = comm_rank(comm, program->rank);
    what->sizes[0] = comm->size[side];
    what->sizes[1] = comm->size[!side];
    measure(what);
    what->send = allocate(program, (what->send_elements + GUARD) * size);
    what->receive = allocate(program, (what->receive_elements + GUARD) * size);
    fill(program, what);
}

void collective_refill(struct program *program, struct collective *what)
{
    fill(program, what);
}

void collective_take(struct program *program, const struct collective *what)
{
    const enum base base = what->values.base;
    const size_t size = base_size(base);
    uint64_t hash = program->hash;

    /* If there is a root, the other ranks' results must not change. */
    hash = hash_values(hash, base, what->receive, what->result_elements);
    hash = hash_bytes(
        hash, (const char *)what->receive + what->receive_elements * size,
        GUARD * size);
    hash = hash_values(hash, base, what->send, what->send_elements);
    hash =
        hash_bytes(hash, (const char *)what->send + what->send_elements * size,
                   GUARD * size);
    program->hash = hash;
}

void collective_release(struct collective *what)
{
    free(what->send);
    free(what->receive);
    what->send = what->receive = NULL;
}

/* --- calls ---------------------------------------------------------------- */

static MPI_Op operation_of(struct program *program,
                           const struct collective *what)
{
    static const MPI_Op theirs[] = {
        [SUM] = MPI_SUM, [MAX] = MPI_MAX, [MIN] = MPI_MIN, [PROD] = MPI_PROD};
    static MPI_Op kept[OPERATIONS];
    MPI_User_function *const function =
        what->operation == OWN_SUM ? own_sum : own_first;
    const int commutes = what->operation == OWN_SUM;
    MPI_Op op;

    if (what->operation < OWN_SUM)
        return theirs[what->operation];
    if (what->own_operation) {
        MUST(program, MPI_Op_create(function, commutes, &op));
        return op;
    }
    if (!kept[what->operation])
        MUST(program,
             MPI_Op_create(function, commutes, &kept[what->operation]));
    return kept[what->operation];
}

static MPI_Datatype type_of(struct program *program,
                            const struct collective *what)
{
    MPI_Datatype type = base_type(what->values.base);

    if (what->multiple > 1) {
        MUST(program, MPI_Type_contiguous(what->multiple, type, &type));
        MUST(program, MPI_Type_commit(&type));
    }
    return type;
}

static int allreduce(const struct collective *what, enum way way,
                     MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                     MPI_Request *request)
{
    const void *const send = what->in_place ? MPI_IN_PLACE : what->send;
    void *const receive = what->receive;
    const int count = what->count;

#if MPI_VERSION >= 4
    if (way == PERSISTENT)
        return what->large
                   ? MPI_Allreduce_init_c(send, receive, count, type, op, comm,
                                          MPI_INFO_NULL, request)
                   : MPI_Allreduce_init(send, receive, count, type, op, comm,
                                        MPI_INFO_NULL, request);
    if (what->large)
        return way == BLOCKING
                   ? MPI_Allreduce_c(send, receive, count, type, op, comm)
                   : MPI_Iallreduce_c(send, receive, count, type, op, comm,
                                      request);
#endif
    if (way == BLOCKING)
        return MPI_Allreduce(send, receive, count, type, op, comm);
    return MPI_Iallreduce(send, receive, count, type, op, comm, request);
}

static int call_blocking(const struct collective *what, MPI_Datatype type,
                         MPI_Op op, MPI_Comm comm)
{
    const void *const send = what->in_place ? MPI_IN_PLACE : what->send;
    void *const receive = what->receive;
    const int count = what->count;

    switch (what->kind) {
    case REDUCE:
        return MPI_Reduce(send, receive, count, type, op, what->root, comm);
    case REDUCE_SCATTER_BLOCK:
        return MPI_Reduce_scatter_block(send, receive, count, type, op, comm);
    case REDUCE_SCATTER:
        return MPI_Reduce_scatter(send, receive, what->counts, type, op, comm);
    case ALLGATHER:
        return MPI_Allgather(send, count, type, receive, count, type, comm);
    case BCAST:
        return MPI_Bcast(receive, count, type, what->root, comm);
    case SCAN:
        return MPI_Scan(send, receive, count, type, op, comm);
    default:
        return MPI_Barrier(comm);
    }
}

static int call_nonblocking(const struct collective *what, MPI_Datatype type,
                            MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    const void *const send = what->in_place ? MPI_IN_PLACE : what->send;
    void *const receive = what->receive;
    const int count = what->count;

    switch (what->kind) {
    case REDUCE:
        return MPI_Ireduce(send, receive, count, type, op, what->root, comm,
                           request);
    case REDUCE_SCATTER_BLOCK:
        return MPI_Ireduce_scatter_block(send, receive, count, type, op, comm,
                                         request);
    case REDUCE_SCATTER:
        return MPI_Ireduce_scatter(send, receive, what->counts, type, op, comm,
                                   request);
    case ALLGATHER:
        return MPI_Iallgather(send, count, type, receive, count, type, comm,
                              request);
    case BCAST:
        return MPI_Ibcast(receive, count, type, what->root, comm, request);
    case SCAN:
        return MPI_Iscan(send, receive, count, type, op, comm, request);
    default:
        return MPI_Ibarrier(comm, request);
    }
}

static int call_persistent(const struct collective *what, MPI_Datatype type,
                           MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
#if MPI_VERSION >= 4
    const void *const send = what->in_place ? MPI_IN_PLACE : what->send;
    void *const receive = what->receive;
    const int count = what->count;

    switch (what->kind) {
    case REDUCE:
        return MPI_Reduce_init(send, receive, count, type, op, what->root, comm,
                               MPI_INFO_NULL, request);
    case REDUCE_SCATTER_BLOCK:
        return MPI_Reduce_scatter_block_init(send, receive, count, type, op,
                                             comm, MPI_INFO_NULL, request);
    case BCAST:
        return MPI_Bcast_init(receive, count, type, what->root, comm,
                              MPI_INFO_NULL, request);
    default:
        return MPI_Barrier_init(comm, MPI_INFO_NULL, request);
    }
#else
    (void)what, (void)type, (void)op, (void)comm, (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
#endif
}

void collective_call(struct program *program, const struct comm *comm,
                     struct collective *what, enum way way,
                     MPI_Request *request)
{
    MPI_Datatype type = type_of(program, what);
    MPI_Op op = operation_of(program, what);
    int rc;

    if (what->kind == ALLREDUCE)
        rc = allreduce(what, way, type, op, comm->handle, request);
    else if (way == BLOCKING)
        rc = call_blocking(what, type, op, comm->handle);
    else if (way == NONBLOCKING)
        rc = call_nonblocking(what, type, op, comm->handle, request);
    else
        rc = call_persistent(what, type, op, comm->handle, request);
    if (rc != MPI_SUCCESS)
        give_up(program, collective_text(what, way), rc);
    /* MPI keeps its own reference. */
    if (what->operation >= OWN_SUM && what->own_operation)
        MUST(program, MPI_Op_free(&op));
    if (what->multiple > 1)
        MUST(program, MPI_Type_free(&type));
}

/* --- events --------------------------------------------------------------- */

static void block(struct program *program, int index, struct collective *what)
{
    const struct comm *comm = &program->comms[index];
    const unsigned ranks = comm_ranks(comm);

    request_catch_up(program, index, ranks);
    if (!(ranks & bit(program->rank)))
        return;
    collective_prepare(program, comm, what);
    doing(program, "%s on %d", collective_text(what, BLOCKING), index);
    collective_call(program, comm, what, BLOCKING, NULL);
    collective_take(program, what);
    collective_release(what);
}

void collective_event(struct program *program)
{
    const int index = comm_draw(program, 1, true);
    struct collective what;

    collective_draw(program, &program->comms[index], BLOCKING, &what);
    block(program, index, &what);
}

void barrier_event(struct program *program, int comm)
{
    struct collective what = {.kind = BARRIER, .multiple = 1};

    block(program, comm, &what);
}

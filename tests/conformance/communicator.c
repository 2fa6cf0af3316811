/* SPDX-License-Identifier: BSD-3-Clause */
#include "communicator.h"

#include <string.h>

#include "message.h"
#include "request.h"

/* --- callbacks ------------------------------------------------------------ */

static int copy_attribute(MPI_Comm comm, int key, void *extra, void *value,
                          void *copy, int *flag)
{
    struct program *program = extra;

    (void)comm;
    program->copies++;
    *(void **)copy = value;
    /* The second attribute is not copied. */
    *flag = key == program->keys[0];
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *extra)
{
    struct program *program = extra;

    (void)comm, (void)key, (void)value;
    program->deletions++;
    return MPI_SUCCESS;
}

static struct program *handled_program;
static MPI_Errhandler handler;

/* The form that MPI_Comm_create_errhandler requires. */
static void handle_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled_program->handled++;
}

void communicator_setup(struct program *program)
{
    for (int i = 0; i < KEYS; i++)
        MUST(program, MPI_Comm_create_keyval(copy_attribute, delete_attribute,
                                             &program->keys[i], program));
    handled_program = program;
    MUST(program, MPI_Comm_create_errhandler(handle_error, &handler));
}

void communicator_teardown(struct program *program)
{
    for (int i = 0; i < KEYS; i++)
        MUST(program, MPI_Comm_free_keyval(&program->keys[i]));
    MUST(program, MPI_Errhandler_free(&handler));
}

/* --- state known to all ranks --------------------------------------------- */

void communicator_copy(struct program *program, int from, int to)
{
    struct comm *copy = &program->comms[to];

    *copy = program->comms[from];
    copy->state = COMM_MAKING;
    copy->handle = MPI_COMM_NULL;
    copy->attributes[1] = false;
}

/* Makes a live intracommunicator of these members. */
static struct comm *fill(struct program *program, int index, const int *members,
                         int size)
{
    struct comm *comm = &program->comms[index];

    memset(comm, 0, sizeof *comm);
    comm->state = COMM_LIVE;
    comm->handle = MPI_COMM_NULL;
    comm->size[0] = size;
    for (int i = 0; i < size; i++)
        comm->members[0][i] = members[i];
    return comm;
}

static bool is_member(const struct program *program, const struct comm *comm)
{
    return comm_side(comm, program->rank) >= 0;
}

void communicator_take(struct program *program, int index)
{
    const struct comm *comm = &program->comms[index];
    int rank, size, inter, remote = 0;

    if (!is_member(program, comm))
        return;
    MUST(program, MPI_Comm_rank(comm->handle, &rank));
    MUST(program, MPI_Comm_size(comm->handle, &size));
    MUST(program, MPI_Comm_test_inter(comm->handle, &inter));
    if (inter)
        MUST(program, MPI_Comm_remote_size(comm->handle, &remote));
    if (rank != comm_rank(comm, program->rank) ||
        size + remote != comm->size[0] + comm->size[1])
        give_up(program, "a communicator with other members", MPI_ERR_COMM);
    take_word(program, (uint64_t)(rank + 100 * size + 10000 * remote));
    for (int i = 0; i < KEYS; i++) {
        void *value = NULL;
        int flag;

        MUST(program,
             MPI_Comm_get_attr(comm->handle, program->keys[i], &value, &flag));
        take_word(program, (uint64_t)(flag ? *(int *)value : -1));
    }
}

/* --- creation ------------------------------------------------------------- */

static void duplicate(struct program *program, int from, int to)
{
    struct comm *comm = &program->comms[from], *copy = &program->comms[to];
    const int copies = program->copies;

    communicator_copy(program, from, to);
    copy->state = COMM_LIVE;
    if (!is_member(program, comm))
        return;
    doing(program, "dup of %d to %d", from, to);
    MUST(program, MPI_Comm_dup(comm->handle, &copy->handle));
    take_word(program, (uint64_t)(program->copies - copies));
    communicator_take(program, to);
}

#define COLOURS 3

/* Returns the members of one colour, by key and then by their ranks. */
static int of_colour(const struct comm *comm, const int *colours,
                     const int *keys, int colour, int *members)
{
    int count = 0;

    for (int key = -2; key <= 2; key++)
        for (int i = 0; i < comm->size[0]; i++)
            if (colours[i] == colour && keys[i] == key)
                members[count++] = comm->members[0][i];
    return count;
}

static void split(struct program *program, int from)
{
    struct draw *draw = &program->shared;
    const struct comm *comm = &program->comms[from];
    const int count = 1 + draw_below(draw, COLOURS);
    const int me = comm_rank(comm, program->rank);
    int colours[MAX_RANKS], keys[MAX_RANKS], places[COLOURS];
    MPI_Comm handle = MPI_COMM_NULL;

    for (int i = 0; i < comm->size[0]; i++) {
        colours[i] =
            draw_chance(draw, 12) ? MPI_UNDEFINED : draw_below(draw, count);
        keys[i] = draw_below(draw, 5) - 2;
    }
    for (int colour = 0; colour < count; colour++) {
        int members[MAX_RANKS], size;

        size = of_colour(comm, colours, keys, colour, members);
        places[colour] = size > 0 ? comm_place(program) : -1;
        if (places[colour] >= 0)
            fill(program, places[colour], members, size);
        else
            for (int i = 0; i < comm->size[0]; i++)
                if (colours[i] == colour)
                    colours[i] = MPI_UNDEFINED;
    }
    if (me < 0)
        return;
    doing(program, "split of %d: colour %d, key %d", from, colours[me],
          keys[me]);
    MUST(program, MPI_Comm_split(comm->handle, colours[me], keys[me], &handle));
    take_word(program, handle == MPI_COMM_NULL);
    if (colours[me] == MPI_UNDEFINED)
        return;
    program->comms[places[colours[me]]].handle = handle;
    communicator_take(program, places[colours[me]]);
}

/* Takes some of the members, in any order: all of them may make the
 * communicator, or only those. */
static void create(struct program *program, int from, int to, bool alone)
{
    struct draw *draw = &program->shared;
    const struct comm *comm = &program->comms[from];
    const int all = comm->size[0], size = 1 + draw_below(draw, all);
    const int tag = draw_below(draw, TAGS);
    int ranks[MAX_RANKS], members[MAX_RANKS];
    MPI_Group group, part;
    struct comm *made;

    for (int i = 0; i < all; i++)
        ranks[i] = i;
    for (int i = 0; i < size; i++) {
        const int other = i + draw_below(draw, all - i);
        const int rank = ranks[i];

        ranks[i] = ranks[other];
        ranks[other] = rank;
        members[i] = comm->members[0][ranks[i]];
    }
    made = fill(program, to, members, size);
    if (!is_member(program, alone ? made : comm))
        return;
    doing(program, "%s of %d to %d, of %d", alone ? "create_group" : "create",
          from, to, size);
    MUST(program, MPI_Comm_group(comm->handle, &group));
    MUST(program, MPI_Group_incl(group, size, ranks, &part));
    if (alone)
        MUST(program,
             MPI_Comm_create_group(comm->handle, part, tag, &made->handle));
    else
        MUST(program, MPI_Comm_create(comm->handle, part, &made->handle));
    MUST(program, MPI_Group_free(&part));
    MUST(program, MPI_Group_free(&group));
    take_word(program, made->handle == MPI_COMM_NULL);
    communicator_take(program, to);
}

static void make_grid(struct program *program, int from, int to)
{
    struct draw *draw = &program->shared;
    const struct comm *comm = &program->comms[from];
    const int dimensions = 1 + draw_below(draw, 2);
    const int periods[2] = {draw_chance(draw, 60), draw_chance(draw, 60)};
    int dims[2] = {0, 0};
    struct comm *made = fill(program, to, comm->members[0], comm->size[0]);

    made->dimensions = dimensions;
    if (!is_member(program, comm))
        return;
    doing(program, "cart_create of %d to %d", from, to);
    MUST(program, MPI_Dims_create(comm->size[0], dimensions, dims));
    MUST(program, MPI_Cart_create(comm->handle, dimensions, dims, periods, 0,
                                  &made->handle));
    communicator_take(program, to);
}

/* Makes an intercommunicator between two parts. */
static void make_inter(struct program *program, int from, int to)
{
    struct draw *draw = &program->shared;
    const struct comm *comm = &program->comms[from];
    const int size = comm->size[0], tag = draw_below(draw, TAGS);
    const int me = comm_rank(comm, program->rank);
    int sides[MAX_RANKS], leaders[2] = {-1, -1};
    struct comm made = {.state = COMM_LIVE, .handle = MPI_COMM_NULL};
    MPI_Comm local;

    for (int i = 0; i < size; i++) {
        sides[i] = i < 2 ? i : draw_below(draw, 2);
        if (leaders[sides[i]] < 0)
            leaders[sides[i]] = i;
        made.members[sides[i]][made.size[sides[i]]++] = comm->members[0][i];
    }
    /* The leaders exchange messages on the communicator. */
    message_settle(program, from, -1);
    program->comms[to] = made;
    if (me < 0)
        return;
    doing(program, "intercomm_create of %d to %d", from, to);
    MUST(program, MPI_Comm_split(comm->handle, sides[me], 0, &local));
    MUST(program,
         MPI_Intercomm_create(local, 0, comm->handle, leaders[!sides[me]], tag,
                              &program->comms[to].handle));
    MUST(program, MPI_Comm_free(&local));
    communicator_take(program, to);
}

static void merge(struct program *program, int from, int to)
{
    const struct comm *comm = &program->comms[from];
    const int first = draw_below(&program->shared, 2);
    int members[MAX_RANKS], count = 0;
    struct comm *made;

    for (int n = 0; n < 2; n++) {
        const int side = n == 0 ? first : !first;

        for (int i = 0; i < comm->size[side]; i++)
            members[count++] = comm->members[side][i];
    }
    made = fill(program, to, members, count);
    if (!is_member(program, comm))
        return;
    doing(program, "intercomm_merge of %d to %d", from, to);
    MUST(program, MPI_Intercomm_merge(comm->handle,
                                      comm_side(comm, program->rank) != first,
                                      &made->handle));
    communicator_take(program, to);
}

void communicator_free(struct program *program, int index)
{
    struct comm *comm = &program->comms[index];
    const unsigned ranks = comm_ranks(comm);
    int deletions;
    bool quiet;

    request_catch_up(program, index, ranks);
    message_settle(program, index, -1);
    for (int i = 0; i < MAX_OPS; i++) {
        struct op *op = &program->ops[i];

        if (op->kind == OP_NONE || !op->persistent || op->comm != index)
            continue;
        if (!op->idle)
            request_end_all(program, UINT64_C(1) << i);
        request_free(program, op);
    }
    if (draw_chance(&program->shared, 60))
        request_end_all(program, requests_of(program, index));
    quiet = !comm_is_busy(program, index);
    /* Operations under way end without the communicator. */
    for (int i = 0; i < MAX_OPS; i++)
        if (program->ops[i].comm == index)
            program->ops[i].comm = -1;
    comm->state = COMM_FREE;
    if (!is_member(program, comm))
        return;
    doing(program, "free of %d", index);
    deletions = program->deletions;
    MUST(program, MPI_Comm_free(&comm->handle));
    if (quiet)
        take_word(program, (uint64_t)(program->deletions - deletions));
}

/* --- events --------------------------------------------------------------- */

static void free_one(struct program *program)
{
    const int index = comm_draw(program, 1, true);

    if (index != 0)
        communicator_free(program, index);
}

void communicator_event(struct program *program)
{
    const int kind = draw_below(&program->shared, 100);
    const int place = comm_place(program);
    const bool inter = (kind >= 25 && kind < 35) || kind >= 95;
    const int from = comm_draw(program, 1, inter);
    const struct comm *comm = &program->comms[from];

    if (place < 0 || kind < 25) {
        free_one(program);
        return;
    }
    /* All calls except the last are collective over the old communicator. */
    request_catch_up(program, from, comm_ranks(comm));
    if (inter && comm->size[1] > 0 && kind % 2 == 0)
        merge(program, from, place);
    else if (inter || kind < 45)
        duplicate(program, from, place);
    else if (kind < 65)
        split(program, from);
    else if (kind < 75)
        make_grid(program, from, place);
    else if (kind < 85 && comm->size[0] >= 2)
        make_inter(program, from, place);
    else
        create(program, from, place, kind >= 90);
}

void attribute_event(struct program *program)
{
    static int numbers[KEYS] = {11, 22};
    const int index = comm_draw(program, 1, true);
    const int key = draw_below(&program->shared, KEYS);
    const bool delete = draw_chance(&program->shared, 30);
    struct comm *comm = &program->comms[index];
    const bool had = comm->attributes[key];
    const int deletions = program->deletions;

    if (delete &&!had)
        return;
    /* MPI_Comm_idup copies the attributes at the time of the call. */
    request_catch_up(program, index, comm_ranks(comm));
    comm->attributes[key] = !delete;
    if (!is_member(program, comm))
        return;
    doing(program, "%s attribute on %d", delete ? "delete" : "set", index);
    if (delete)
        MUST(program, MPI_Comm_delete_attr(comm->handle, program->keys[key]));
    else
        MUST(program, MPI_Comm_set_attr(comm->handle, program->keys[key],
                                        &numbers[key]));
    take_word(program, (uint64_t)(program->deletions - deletions));
}

void handler_event(struct program *program)
{
    const int index = comm_draw(program, 1, true);
    const struct comm *comm = &program->comms[index];
    const bool own = draw_chance(&program->shared, 50);

    if (!is_member(program, comm))
        return;
    doing(program, "another error handler on %d", index);
    MUST(program, MPI_Comm_set_errhandler(comm->handle,
                                          own ? handler : MPI_ERRORS_RETURN));
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "task.h"

#define COLOURS 3
#define MANY 1500
#define MANY_COUNT 40

int comm_rank(const struct comm *comm, int rank)
{
    for (int i = 0; i < comm->size; i++)
        if (comm->members[i] == rank)
            return i;
    return -1;
}

struct comm *comm_draw(struct task *task, int least)
{
    struct comm *found[MAX_COMMS];
    int count = 0;

    for (int i = 0; i < MAX_COMMS; i++)
        if (task->comms[i].live && task->comms[i].size >= least)
            found[count++] = &task->comms[i];
    return found[draw_below(&task->shared, count)];
}

static struct comm *find_place(struct task *task)
{
    for (int i = 1; i < MAX_COMMS; i++)
        if (!task->comms[i].live)
            return &task->comms[i];
    return NULL;
}

static struct comm *fill(struct comm *comm, const int *members, int size)
{
    *comm = (struct comm){.live = true, .handle = MPI_COMM_NULL, .size = size};
    for (int i = 0; i < size; i++)
        comm->members[i] = members[i];
    return comm;
}

/* Checks that the new communicator has the expected members. */
static void look_at(struct task *task, const struct comm *comm)
{
    int rank, size;

    MUST(task, MPI_Comm_rank(comm->handle, &rank));
    MUST(task, MPI_Comm_size(comm->handle, &size));
    if (rank != comm_rank(comm, task->rank) || size != comm->size)
        wrong(task, "a communicator with other members");
    task->made++;
}

static void duplicate(struct task *task, const struct comm *from,
                      struct comm *to)
{
    const bool waits = draw_chance(&task->shared, 40);

    fill(to, from->members, from->size);
    if (comm_rank(from, task->rank) < 0)
        return;
    /* MPICH 4.0 loses MPI_Comm_idup if other threads make communicators at the
     * same time. */
    if (waits && task->setup->threads == 0) {
        MPI_Request request;

        doing(task, "idup of %d ranks", from->size);
        MUST(task, MPI_Comm_idup(from->handle, &to->handle, &request));
        MUST(task, MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        doing(task, "dup of %d ranks", from->size);
        MUST(task, MPI_Comm_dup(from->handle, &to->handle));
    }
    look_at(task, to);
}

/* Splits by colour, or alone; in the order of the ranks, or in reversed order. */
static void split(struct task *task, const struct comm *from)
{
    struct draw *draw = &task->shared;
    const int count = 1 + draw_below(draw, COLOURS);
    const bool reversed = draw_chance(draw, 50);
    const int me = comm_rank(from, task->rank);
    struct comm *places[COLOURS] = {NULL};
    int colours[MAX_RANKS];
    MPI_Comm handle;

    for (int i = 0; i < from->size; i++)
        colours[i] =
            draw_chance(draw, 10) ? MPI_UNDEFINED : draw_below(draw, count);
    for (int colour = 0; colour < count; colour++) {
        int members[MAX_RANKS], size = 0;

        for (int n = 0; n < from->size; n++) {
            const int i = reversed ? from->size - 1 - n : n;

            if (colours[i] == colour)
                members[size++] = from->members[i];
        }
        places[colour] = size > 0 ? find_place(task) : NULL;
        if (places[colour])
            fill(places[colour], members, size);
        else
            for (int i = 0; i < from->size; i++)
                if (colours[i] == colour)
                    colours[i] = MPI_UNDEFINED;
    }
    if (me < 0)
        return;
    doing(task, "split of %d ranks, colour %d", from->size, colours[me]);
    MUST(task, MPI_Comm_split(from->handle, colours[me], reversed ? -me : me,
                              &handle));
    if (colours[me] == MPI_UNDEFINED)
        return;
    places[colours[me]]->handle = handle;
    look_at(task, places[colours[me]]);
}

/*
 * Merges two halves by an intercommunicator. If the program has threads, only gives the
 * ranks that order: MPICH 4.0.2 then loses messages of MPI_Intercomm_merge, also
 * without a library ("Message truncated" in one of twenty runs of seed 49).
 */
static void merge(struct task *task, const struct comm *from, struct comm *to)
{
    const int half = 1 + draw_below(&task->shared, from->size - 1);
    const bool high = draw_chance(&task->shared, 50);
    const int me = comm_rank(from, task->rank), size = from->size;
    int members[MAX_RANKS];
    MPI_Comm part, inter;

    for (int i = 0; i < size; i++)
        members[i] = from->members[high ? (i + half) % size : i];
    fill(to, members, size);
    if (me < 0)
        return;
    if (task->setup->threads > 0) {
        doing(task, "another order of %d ranks", size);
        MUST(task, MPI_Comm_split(from->handle, 0,
                                  high ? (me - half + size) % size : me,
                                  &to->handle));
        look_at(task, to);
        return;
    }
    doing(task, "intercomm of %d and %d ranks", half, size - half);
    MUST(task, MPI_Comm_split(from->handle, me < half, me, &part));
    MUST(task, MPI_Intercomm_create(part, 0, from->handle, me < half ? half : 0,
                                    task->number, &inter));
    doing(task, "merge of %d and %d ranks", half, size - half);
    MUST(task, MPI_Intercomm_merge(inter, (me < half) == high, &to->handle));
    /* It does not have MPI_COMM_WORLD's handler, but one that ends the job. */
    MUST(task, MPI_Comm_set_errhandler(to->handle, MPI_ERRORS_RETURN));
    MUST(task, MPI_Comm_free(&inter));
    MUST(task, MPI_Comm_free(&part));
    look_at(task, to);
}

void comm_make(struct task *task)
{
    struct comm *from = comm_draw(task, 1), *to = find_place(task);
    const int kind = draw_below(&task->shared, 10);

    if (!to)
        comm_free_one(task);
    else if (kind < 4)
        duplicate(task, from, to);
    else if (kind < 8 || from->size < 2)
        split(task, from);
    else
        merge(task, from, to);
}

void comm_free(struct task *task, struct comm *comm)
{
    unsigned ops = 0;

    /* Persistent requests are freed before their communicator. */
    for (int i = 0; i < MAX_OPS; i++)
        if (task->ops[i].used && task->ops[i].way == PERSISTENT &&
            task->ops[i].comm.handle == comm->handle)
            ops |= 1u << i;
    if (comm->handle != MPI_COMM_NULL) {
        op_complete(task, ops, true);
        doing(task, "free of %d ranks", comm->size);
        MUST(task, MPI_Comm_free(&comm->handle));
    }
    comm->live = false;
}

void comm_free_one(struct task *task)
{
    struct comm *comm = comm_draw(task, 1);

    if (comm != &task->comms[0])
        comm_free(task, comm);
}

void comm_many(struct task *task)
{
    static MPI_Comm comms[MANY];
    static MPI_Request requests[MANY];
    static MPI_Status statuses[MANY];
    static float values[MANY][MANY_COUNT];

    for (int c = 0; c < MANY; c++) {
        MUST(task, MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]));
        task->made++;
        for (int i = 0; i < MANY_COUNT; i++)
            values[c][i] = (float)((c + i) % 4);
        doing(task, "nonblocking sum on communicator %d", c);
        MUST(task, MPI_Iallreduce(MPI_IN_PLACE, values[c], MANY_COUNT,
                                  MPI_FLOAT, MPI_SUM, comms[c], &requests[c]));
    }
    doing(task, "waits for %d nonblocking sums", MANY);
    MUST(task, MPI_Waitall(MANY, requests, statuses));
    for (int c = 0; c < MANY; c++) {
        for (int i = 0; i < MANY_COUNT; i++)
            if (values[c][i] != (float)((c + i) % 4 * task->setup->size))
                wrong(task, "communicator %d: element %d is %g", c, i,
                      (double)values[c][i]);
        MUST(task, MPI_Comm_free(&comms[c]));
    }
}

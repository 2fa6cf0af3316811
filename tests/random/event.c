/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <time.h>

#include "task.h"

static void call_event(struct task *task, enum way way)
{
    const struct comm *comm =
        comm_draw(task, draw_chance(&task->shared, 80) ? 2 : 1);
    struct op *op = op_place(task), unused;

    /* Ranks may have different numbers of free places. */
    if (!op && comm_rank(comm, task->rank) >= 0) {
        op_complete(task, op_pending(task), true);
        op = op_place(task);
    }
    if (comm_rank(comm, task->rank) < 0)
        op = &unused;
    op_draw(task, comm, way, op);
    if (op != &unused)
        op_begin(task, op);
}

/* Makes nonblocking calls on several communicators, begun in a random order on
 * each rank. */
static void burst_event(struct task *task)
{
    struct op drawn[4];
    int count = 0, order[4];

    for (int i = 0; i < 4; i++) {
        const struct comm *comm = comm_draw(task, 1);
        bool known = false;

        for (int j = 0; j < count; j++)
            known |= drawn[j].comm.handle == comm->handle;
        if (!known || comm->handle == MPI_COMM_NULL)
            op_draw(task, comm, NONBLOCKING, &drawn[count++]);
        else
            op_draw(task, comm, NONBLOCKING, &(struct op){0});
    }
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        const int j = draw_below(&task->own, i + 1), other = order[i];

        order[i] = order[j];
        order[j] = other;
    }
    for (int i = 0; i < count; i++) {
        struct op *op;

        if (comm_rank(&drawn[order[i]].comm, task->rank) < 0)
            continue;
        op = op_place(task);
        if (!op) {
            /* Other ranks may wait for a call that has not begun here. */
            wrong(task, "no place for a call");
            return;
        }
        *op = drawn[order[i]];
        op_begin(task, op);
    }
}

static void alone_event(struct task *task)
{
    struct draw *draw = &task->shared;
    const int rank = draw_below(draw, task->setup->size);
    const int times = 1 + draw_below(draw, 3);
    const bool makes = draw_chance(draw, 30);
    double one = 1, two = 0;
    float some[3] = {1, 2, 3};
    MPI_Comm copy;

    if (rank != task->rank)
        return;
    doing(task, "calls on MPI_COMM_SELF");
    for (int i = 0; i < times; i++) {
        MUST(task,
             MPI_Allreduce(&one, &two, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF));
        MUST(task, MPI_Allreduce(MPI_IN_PLACE, some, 3, MPI_FLOAT, MPI_SUM,
                                 MPI_COMM_SELF));
    }
    if (two != 1 || some[2] != 3)
        wrong(task, "MPI_COMM_SELF: another sum");
    if (!makes)
        return;
    if (task->setup->threads == 0) {
        MPI_Request request;

        doing(task, "idup of MPI_COMM_SELF");
        MUST(task, MPI_Comm_idup(MPI_COMM_SELF, &copy, &request));
        MUST(task, MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        MUST(task, MPI_Comm_dup(MPI_COMM_SELF, &copy));
    }
    MUST(task, MPI_Comm_free(&copy));
}

/* Makes several blocking sums of two lengths, like a training step; some ranks
 * make other calls between them. */
static void run_event(struct task *task)
{
    struct draw *draw = &task->shared;
    const struct comm *comm = comm_draw(task, 2);
    const int counts[] = {task->setup->counts[draw_below(draw, COUNTS)],
                          task->setup->counts[draw_below(draw, COUNTS)]};
    const int times = 3 + draw_below(draw, 5);

    for (int i = 0; i < times; i++) {
        const bool member = comm_rank(comm, task->rank) >= 0;
        struct op *op = op_place(task), unused;

        op = member ? op : &unused;
        op_draw_sum(task, comm, counts[draw_below(draw, 3) == 0], op);
        if (member)
            op_begin(task, op);
        if (draw_chance(draw, 30))
            alone_event(task);
    }
}

/* Makes a wrong call, on one rank or all, which MPI rejects before it sends. */
static void mistake_event(struct task *task)
{
    struct draw *draw = &task->shared;
    const struct comm *comm = comm_draw(task, 1);
    const int kind = draw_below(draw, 5),
              only = draw_below(draw, task->setup->size);
    const bool all = draw_chance(draw, 50);
    const int count = task->setup->counts[draw_below(draw, COUNTS)];
    float *x;
    MPI_Request request;
    int rc;

    if (comm->handle == MPI_COMM_NULL || !(all || task->rank == only))
        return;
    doing(task, "a wrong call, %d", kind);
    x = calloc((size_t)count + 1, sizeof *x);
    if (kind == 0)
        rc = MPI_Allreduce(x, x, count + 1, MPI_FLOAT, MPI_SUM, comm->handle);
    else if (kind == 1)
        rc = MPI_Allreduce(MPI_IN_PLACE, x, count, MPI_FLOAT, MPI_BAND,
                           comm->handle);
    else if (kind == 2)
        rc = MPI_Iallreduce(MPI_IN_PLACE, x, count, MPI_FLOAT, MPI_OP_NULL,
                            comm->handle, &request);
    else if (kind == 3)
        rc = MPI_Allreduce(MPI_IN_PLACE, x, count, MPI_DATATYPE_NULL, MPI_SUM,
                           comm->handle);
    else
        rc = MPI_Iallreduce(MPI_IN_PLACE, x, count, MPI_FLOAT, MPI_SUM,
                            MPI_COMM_NULL, &request);
    if (rc == MPI_SUCCESS)
        wrong(task, "a wrong call that MPI takes: %d", kind);
    free(x);
}

/* All ranks call a level that acts, which only the main thread may do when it
 * is alone; one rank calls a level that does not. */
static void pcontrol_event(struct task *task)
{
    const int level = draw_below(&task->shared, 4);
    const int rank = draw_below(&task->shared, task->setup->size);

    if (task->number > 0 ||
        (task->setup->threads > 0 && level != 2 && task->setup->pcontrol))
        return;
    if (!task->setup->pcontrol && rank != task->rank)
        return;
    doing(task, "MPI_Pcontrol(%d)", level);
    MPI_Pcontrol(level);
}

/* Checks that MPI_COMM_WORLD has the program's error handler. */
static void handler_event(struct task *task)
{
    MPI_Errhandler now;

    if (task->number > 0)
        return;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &now);
    if (now != task->handlers[task->handler])
        wrong(task, "another error handler of MPI_COMM_WORLD");
    MPI_Errhandler_free(&now);
    task->handler = draw_below(&task->own, 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, task->handlers[task->handler]);
}

static void late_event(struct task *task)
{
    const int rank = draw_below(&task->shared, task->setup->size);
    const long micros = draw_below(&task->own, 4000);

    if (rank == task->rank)
        nanosleep(&(struct timespec){.tv_nsec = 1000 * micros}, NULL);
}

void event_draw(struct task *task)
{
    const int kind = draw_below(&task->shared, 100);

    if (kind < 24)
        call_event(task, BLOCKING);
    else if (kind < 30)
        run_event(task);
    else if (kind < 46)
        call_event(task, NONBLOCKING);
    else if (kind < 50)
        call_event(task, PERSISTENT);
    else if (kind < 58)
        burst_event(task);
    else if (kind < 68)
        comm_make(task);
    else if (kind < 73)
        comm_free_one(task);
    else if (kind < 79)
        alone_event(task);
    else if (kind < 88)
        op_complete(task, op_pending(task), draw_chance(&task->own, 40));
    else if (kind < 90)
        mistake_event(task);
    else if (kind < 93)
        pcontrol_event(task);
    else if (kind < 96)
        handler_event(task);
    else
        late_event(task);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "mistake.h"

#define COUNT 8

/* Wrong calls: all that MPICH rejects before anything is sent (only its
 * messages find a negative count). */
enum mistake {
    SEND_NEGATIVE_COUNT,
    NO_COMM,
    UNCOMMITTED,
    NO_OP,
    ALIASED,
    NO_BUFFER,
    WRONG_OP,
    INO_OP,
    INO_COMM,
    IUNCOMMITTED,
    IALIASED,
    REDUCE_NO_ROOT,
    SCATTER_ALIASED,
    SEND_NO_TAG,
    SEND_NO_RANK,
    INIT_ALIASED,
    INIT_NO_COMM,
    MISTAKES
};

/* `uncommitted` is a type: MPICH 5 ends the job for MPI_DATATYPE_NULL. */
static int call(enum mistake mistake, MPI_Datatype uncommitted, MPI_Comm comm)
{
    static float in[COUNT * MAX_RANKS], out[COUNT * MAX_RANKS];
    MPI_Request request = MPI_REQUEST_NULL;

    switch (mistake) {
    case NO_COMM:
        return MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_NULL);
    case UNCOMMITTED:
        return MPI_Allreduce(in, out, COUNT, uncommitted, MPI_SUM, comm);
    case NO_OP:
        return MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_OP_NULL, comm);
    case ALIASED:
        return MPI_Allreduce(out, out, COUNT, MPI_FLOAT, MPI_SUM, comm);
    case NO_BUFFER:
        return MPI_Allreduce(in, NULL, COUNT, MPI_FLOAT, MPI_SUM, comm);
    case WRONG_OP:
        return MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_BAND, comm);
    case INO_OP:
        return MPI_Iallreduce(in, out, COUNT, MPI_FLOAT, MPI_OP_NULL, comm,
                              &request);
    case INO_COMM:
        return MPI_Iallreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_NULL,
                              &request);
    case IUNCOMMITTED:
        return MPI_Iallreduce(in, out, COUNT, uncommitted, MPI_SUM, comm,
                              &request);
    case IALIASED:
        return MPI_Iallreduce(out, out, COUNT, MPI_FLOAT, MPI_SUM, comm,
                              &request);
    case REDUCE_NO_ROOT:
        return MPI_Reduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, 2 * MAX_RANKS,
                          comm);
    case SCATTER_ALIASED:
        return MPI_Reduce_scatter_block(out, out, COUNT, MPI_FLOAT, MPI_SUM,
                                        comm);
    case SEND_NO_TAG:
        return MPI_Send(in, COUNT, MPI_FLOAT, 0, -5, comm);
    case SEND_NO_RANK:
        return MPI_Send(in, COUNT, MPI_FLOAT, 2 * MAX_RANKS, 0, comm);
#if MPI_VERSION >= 4
    case INIT_ALIASED:
        return MPI_Allreduce_init(out, out, COUNT, MPI_FLOAT, MPI_SUM, comm,
                                  MPI_INFO_NULL, &request);
    case INIT_NO_COMM:
        return MPI_Allreduce_init(in, out, COUNT, MPI_FLOAT, MPI_SUM,
                                  MPI_COMM_NULL, MPI_INFO_NULL, &request);
#endif
    default:
        return MPI_Send(in, -1, MPI_FLOAT, 0, 0, comm);
    }
}

void mistake_event(struct program *program)
{
    const int index = comm_draw(program, 1, false);
    const enum mistake mistake =
        (enum mistake)draw_below(&program->shared, MISTAKES);
    const bool all = draw_chance(&program->shared, 50);
    const int only = draw_below(&program->shared, program->size);
    const struct comm *comm = &program->comms[index];
    const int handled = program->handled;
    MPI_Datatype uncommitted;
    int class, code;

    if (comm_side(comm, program->rank) < 0 || !(all || program->rank == only))
        return;
    doing(program, "mistake %d on %d", (int)mistake, index);
    MUST(program, MPI_Type_contiguous(1, MPI_FLOAT, &uncommitted));
    code = call(mistake, uncommitted, comm->handle);
    MUST(program, MPI_Type_free(&uncommitted));
    MUST(program, MPI_Error_class(code, &class));
    /* MPICH (4.3) returns MPI_SUCCESS after a handler that returns. */
    if (class == MPI_SUCCESS && program->handled == handled)
        give_up(program, "a wrong call that MPI takes", MPI_ERR_OTHER);
    take_word(program, (uint64_t) class);
    take_word(program, (uint64_t)(program->handled - handled));
}

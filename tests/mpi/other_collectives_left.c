/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of other collectives that are left to MPI: results and errors are MPI's own,
 * and MPI calls the program's error handler as often as without the library.
 *
 *   other_collectives_left errors   wrong arguments, under a policy that names
 *                                   all calls
 *   other_collectives_left others   what the library does not rewrite, under
 *                                   such a policy
 *   other_collectives_left unnamed  floats, under a policy that names none of
 *                                   the calls
 *   other_collectives_left behind   calls get the next library's answer
 */
#include "config.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "collective.h"
#include "mpitap.h"

#define COUNT 2048

static float in[16 * COUNT], out[16 * COUNT], native[16 * COUNT];
static int counts[RANKS_MAX];
static int rank, size;

/* Returns a call that is right. */
static struct collective good_call(enum kind kind, const char *what)
{
    return (struct collective){.what = what,
                               .kind = kind,
                               .send = in,
                               .receive = out,
                               .counts = counts,
                               .count = COUNT,
                               .type = MPI_FLOAT,
                               .send_count = COUNT,
                               .send_type = MPI_FLOAT,
                               .op = MPI_SUM,
                               .root = size - 1,
                               .comm = MPI_COMM_WORLD};
}

/* --- errors -------------------------------------------------------------- */

/* True if MPI itself may not survive the call. */
static bool is_too_much(const struct collective *call)
{
    return (mpitap_trusts_types() && call->kind != GATHER &&
            (call->type == MPI_DATATYPE_NULL ||
             call->type == (MPI_Datatype)MPI_COMM_WORLD)) ||
           (mpitap_trusting &&
            (!call->send || !call->receive ||
             call->comm == (MPI_Comm)MPI_FLOAT ||
             call->type == (MPI_Datatype)MPI_COMM_WORLD ||
             (call->kind == GATHER && call->comm == MPI_COMM_NULL)));
}

static void compare(const struct collective *call)
{
    int theirs, ours, handled_theirs;

    if (is_too_much(call)) {
        skip_all(call->what, mpitap_trusted);
        return;
    }
    mpitap_handled = 0;
    theirs = mpitap_class(collective_make_native(call));
    handled_theirs = mpitap_handled;
    if (mpitap_trusting && theirs == MPI_SUCCESS) {
        skip_all(call->what, mpitap_trusted);
        return;
    }
    mpitap_handled = 0;
    ours = mpitap_class(collective_make(call));
    if (ours != theirs || mpitap_handled != handled_theirs)
        diag("rank %d: class %d, handled %d times; MPI's: %d, %d", rank, ours,
             mpitap_handled, theirs, handled_theirs);
    /* MPICH (4.3) returns MPI_SUCCESS after a handler that returns. */
    ok_all(ours == theirs && (ours != MPI_SUCCESS || mpitap_handled > 0) &&
               mpitap_handled == handled_theirs,
           "%s", call->what);
}

/* Makes calls that are wrong on all ranks, so that MPI sends nothing. */
static void compare_sums(enum kind kind, const char *name)
{
    struct collective call;
    char what[128];

#define WRONG(text, member, value)                                             \
    do {                                                                       \
        snprintf(what, sizeof what, "%s: %s", name, text);                     \
        call = good_call(kind, what);                                          \
        call.member = value;                                                   \
        compare(&call);                                                        \
    } while (0)

    WRONG("NULL to send", send, NULL);
    WRONG("no type", type, MPI_DATATYPE_NULL);
    WRONG("no operation", op, MPI_OP_NULL);
    WRONG("an operation not for floats", op, MPI_BAND);
    WRONG("a communicator's handle as type", type,
          (MPI_Datatype)MPI_COMM_WORLD);
    WRONG("no communicator", comm, MPI_COMM_NULL);
    WRONG("a type's handle as communicator", comm, (MPI_Comm)MPI_FLOAT);
    if (kind == REDUCE) {
        WRONG("a root before the first rank", root, -1);
        WRONG("a root after the last rank", root, size);
        return;
    }
    WRONG("NULL to receive", receive, NULL);
    WRONG("the same buffer twice", receive, in);
    WRONG("MPI_IN_PLACE to receive", receive, MPI_IN_PLACE);
}

static void compare_gather(void)
{
    const enum kind kind = GATHER;
    const char *name = "allgather";
    MPI_Datatype derived;
    struct collective call;
    char what[128];

    MPI_Type_contiguous(COUNT, MPI_FLOAT, &derived);
    WRONG("NULL to send", send, NULL);
    WRONG("NULL to receive", receive, NULL);
    WRONG("MPI_IN_PLACE to receive", receive, MPI_IN_PLACE);
    WRONG("the place of the result to send", send, out + rank * COUNT);
    WRONG("no type to send", send_type, MPI_DATATYPE_NULL);
    WRONG("no type to receive", type, MPI_DATATYPE_NULL);
    WRONG("a negative count to send", send_count, -1);
    WRONG("a communicator's handle as type", type,
          (MPI_Datatype)MPI_COMM_WORLD);
    WRONG("no communicator", comm, MPI_COMM_NULL);
    call = good_call(GATHER, "allgather: a type that is not committed");
    call.send_count = call.count = 1;
    call.send_type = call.type = derived;
    compare(&call);
    MPI_Type_free(&derived);
}

static void compare_all(void)
{
    compare_sums(BLOCK, "reduce_scatter_block");
    compare_sums(SCATTER, "reduce_scatter");
    compare_sums(REDUCE, "reduce");
    compare_gather();
}

/* Four calls, all of which are rewritten. */
static void test_good_calls(void)
{
    bool good = true;

    for (int i = 0; i < size * COUNT; i++)
        in[i] = 1;
    mpitap_handled = 0;
    for (int kind = BLOCK; kind <= REDUCE; kind++) {
        const struct collective call = good_call((enum kind)kind, "");

        memset(out, 0, sizeof out);
        good &= collective_make(&call) == MPI_SUCCESS;
        for (int i = 0; i < COUNT && (kind != REDUCE || rank == call.root); i++)
            good &= out[i] == (kind == GATHER ? 1 : (float)size);
    }
    ok_all(good && mpitap_handled == 0, "good calls after all of them");
}

static void test_errors(void)
{
    MPI_Errhandler errhandler;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    compare_all();
    MPI_Comm_create_errhandler(mpitap_handle, &errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
    compare_all();
    test_good_calls();
    MPI_Errhandler_free(&errhandler);
}

/* --- calls that the library does not rewrite ------------------------------ */

/* Compares with the bytes of MPI's own result. */
static void same(const struct collective *call)
{
    struct collective theirs = *call;
    bool good;

    memset(out, 0, sizeof out);
    memset(native, 0, sizeof native);
    theirs.receive = (char *)native + ((char *)call->receive - (char *)out);
    good = collective_make_native(&theirs) == MPI_SUCCESS;
    good &= collective_make(call) == MPI_SUCCESS;
    good &= memcmp(out, native, sizeof out) == 0;
    ok_all(good, "%s", call->what);
}

static void test_types(void)
{
    struct collective call;

    for (int kind = BLOCK; kind <= REDUCE; kind++) {
        call = good_call((enum kind)kind, "ints");
        call.type = call.send_type = MPI_INT;
        same(&call);
        call = good_call((enum kind)kind, "doubles");
        call.type = call.send_type = MPI_DOUBLE;
        call.count = call.send_count = COUNT / 2;
        same(&call);
        call = good_call((enum kind)kind, "the greatest");
        call.op = MPI_MAX;
        if (kind != GATHER)
            same(&call);
        call = good_call((enum kind)kind, "below min_count");
        call.count = call.send_count = 1000 / size;
        for (int i = 0; i < size; i++)
            counts[i] = call.count;
        same(&call);
        for (int i = 0; i < size; i++)
            counts[i] = COUNT;
        call = good_call((enum kind)kind, "a communicator of one");
        call.comm = MPI_COMM_SELF;
        call.root = 0;
        same(&call);
    }
}

static void test_nested(void)
{
    enum { DEPTH = 100 };
    struct collective call =
        good_call(GATHER, "allgather: a type of a type of ... on one rank");
    MPI_Datatype nested[DEPTH + 1] = {MPI_FLOAT};

    for (int i = 0; i < DEPTH; i++)
        MPI_Type_contiguous(1, nested[i], &nested[i + 1]);
    MPI_Type_commit(&nested[DEPTH]);
    if (rank == 1)
        call.send_type = nested[DEPTH];
    same(&call);
    for (int i = 1; i <= DEPTH; i++)
        MPI_Type_free(&nested[i]);
}

/* Ranks may describe the same floats by different derived types. */
static void test_derived(void)
{
    MPI_Datatype pair, spread, mixed, large, block, named;
    struct collective call = good_call(GATHER, "allgather: pairs on one rank");
    const int lengths[] = {1, 2};
    const MPI_Aint places[] = {0, 2 * sizeof(float)};
    const MPI_Datatype types[] = {MPI_FLOAT, MPI_FLOAT};

    MPI_Type_contiguous(2, MPI_FLOAT, &pair);
    MPI_Type_commit(&pair);
    if (rank == 1) {
        call.send_type = pair;
        call.send_count /= 2;
    }
    same(&call);
    call = good_call(GATHER, "allgather: pairs to receive on the last rank");
    if (rank == size - 1) {
        call.type = pair;
        call.count /= 2;
    }
    same(&call);

    /* Every second float of a block, which is as long as COUNT of them. */
    call = good_call(GATHER, "allgather: blocks with gaps on one rank");
    call.count = call.send_count = COUNT / 2;
    MPI_Type_vector(COUNT / 4, 1, 2, MPI_FLOAT, &spread);
    MPI_Type_commit(&spread);
    if (rank == 0) {
        call.type = spread;
        call.count = 2;
    }
    same(&call);

    call = good_call(GATHER, "allgather: a structure of a structure");
    MPI_Type_create_struct(2, lengths, places, types, &mixed);
    MPI_Type_create_resized(mixed, 0, 4 * sizeof(float), &block);
    MPI_Type_commit(&block);
    call.count = call.send_count = 3 * 500;
    if (rank == size - 1) {
        call.type = block;
        call.count = 500;
        call.receive = out;
    }
    same(&call);

#ifdef HAVE_PMPI_ALLREDUCE_C
    MPI_Type_contiguous_c(COUNT / 2, pair, &large);
#else
    MPI_Type_contiguous(COUNT / 2, pair, &large);
#endif
    MPI_Type_commit(&large);
    call = good_call(GATHER, "allgather: a type made with a large count");
    if (rank == 1) {
        call.send_type = large;
        call.send_count = 1;
    }
    same(&call);

    call = good_call(GATHER, "allgather: Fortran's pairs on one rank");
    if (rank == 1) {
        /* without Fortran there are none */
        call.send_type = MPI_2REAL != MPI_DATATYPE_NULL ? MPI_2REAL : pair;
        call.send_count /= 2;
    }
    same(&call);
    test_nested();

    call = good_call(GATHER, "allgather: ints by a type on one rank");
    call.type = call.send_type = MPI_INT;
    MPI_Type_contiguous(COUNT, MPI_INT, &named);
    MPI_Type_commit(&named);
    if (rank == 0) {
        call.type = named;
        call.count = 1;
    }
    same(&call);
    call = good_call(GATHER, "allgather: pairs of a float and an int");
    call.type = call.send_type = MPI_FLOAT_INT;
    call.count = call.send_count = COUNT / 2;
    same(&call);
    MPI_Type_free(&pair);
    MPI_Type_free(&spread);
    MPI_Type_free(&mixed);
    MPI_Type_free(&block);
    MPI_Type_free(&large);
    MPI_Type_free(&named);
}

/* Two groups: the root of one gets the sum of the other. */
static void test_intercommunicator(void)
{
    MPI_Comm half, inter;
    struct collective call;

    PMPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    PMPI_Intercomm_create(half, 0, MPI_COMM_WORLD, (rank + 1) % 2, 5, &inter);
    call = good_call(REDUCE, "reduce between two groups");
    call.comm = inter;
    call.root = rank % 2 == 0 ? 0 : rank == 1 ? MPI_ROOT : MPI_PROC_NULL;
    same(&call);
    call = good_call(GATHER, "allgather between two groups");
    call.comm = inter;
    same(&call);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void test_unnamed(void)
{
    struct collective call;

    for (int kind = BLOCK; kind <= REDUCE; kind++) {
        call = good_call((enum kind)kind, "a call that no rule names");
        same(&call);
    }
    call = good_call(GATHER, "allgather in place, that no rule names");
    for (int i = 0; i < size * COUNT; i++)
        out[i] = native[i] = in[i];
    ok_all(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, COUNT,
                         MPI_FLOAT, MPI_COMM_WORLD) == MPI_SUCCESS &&
               PMPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, native, COUNT,
                              MPI_FLOAT, MPI_COMM_WORLD) == MPI_SUCCESS &&
               memcmp(out, native, sizeof out) == 0,
           "%s", call.what);
}

/* behind.c answers MPI_ERR_COUNT to wrong counts, which MPICH 4.0 does not
 * survive, and MPI_ERR_OTHER otherwise. */
static void test_behind(void)
{
    static const char *const names[] = {
        "reduce_scatter_block", "reduce_scatter", "allgather", "reduce"};

    for (int kind = BLOCK; kind <= REDUCE; kind++) {
        struct collective call = good_call((enum kind)kind, "");
        int wrong[RANKS_MAX];

        memcpy(wrong, counts, sizeof wrong);
        wrong[size - 1] = -1;
        call.count = call.send_count = -1;
        call.counts = wrong;
        ok_all(collective_make(&call) == MPI_ERR_COUNT,
               "%s: a negative count goes to MPI as it came", names[kind]);
        call.counts = NULL;
        if (kind == SCATTER)
            ok_all(collective_make(&call) == MPI_ERR_COUNT,
                   "%s: no counts, too", names[kind]);
        call.counts = wrong;
        wrong[size - 1] = COUNT;
        call.count = call.send_count = COUNT;
        call.type = call.send_type = MPI_INT;
        ok_all(collective_make(&call) == MPI_ERR_OTHER, "%s: another type, too",
               names[kind]);
        memset(wrong, 0, sizeof wrong);
        call.count = call.send_count = 0;
        call.type = call.send_type = MPI_FLOAT;
        ok_all(collective_make(&call) == MPI_ERR_OTHER,
               "%s: a call without elements passes through, too", names[kind]);
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    rank = mpitap_rank();
    size = mpitap_size();
    for (int i = 0; i < size; i++)
        counts[i] = COUNT;
    fill(FILL_GRADIENTS, 3, rank, (size_t)size * COUNT, in);
    if (strcmp(mode, "errors") == 0) {
        test_errors();
    } else if (strcmp(mode, "others") == 0) {
        test_types();
        test_derived();
        test_intercommunicator();
    } else if (strcmp(mode, "unnamed") == 0) {
        test_unnamed();
    } else {
        test_behind();
    }
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

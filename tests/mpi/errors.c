/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrong arguments get MPI's own answer, and MPI calls the program's error
 * handler as often as without the library. With the argument `behind`, calls
 * get the answer of a library that is loaded after this one (behind.c), because
 * MPICH 4.0 does not survive negative counts. With `fatal CALL MISTAKE`
 * (numbers) the program makes one wrong call under MPI_ERRORS_ARE_FATAL.
 */
#include "config.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

#define COUNT 2048

static float in[COUNT], out[COUNT];

static const struct bad_call {
    const char *what;
    const void *send;
    void *receive;
    int count;
} bad_calls[] = {
    {"NULL to send", NULL, out, COUNT},
    {"NULL to receive", in, NULL, COUNT},
    {"the same buffer twice", in, in, COUNT},
    {"MPI_IN_PLACE to receive", in, MPI_IN_PLACE, COUNT},
    {"MPI_IN_PLACE twice", MPI_IN_PLACE, MPI_IN_PLACE, COUNT},
};

/* The calls that may be wrong: MPI's and the library's. */
typedef int call(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);

/* A wrong nonblocking call makes no request. */
#define NONBLOCKING(name, function)                                            \
    static int name(const void *send, void *receive, int count,                \
                    MPI_Datatype type, MPI_Op op, MPI_Comm comm)               \
    {                                                                          \
        MPI_Request request;                                                   \
                                                                               \
        return function(send, receive, count, type, op, comm, &request);       \
    }
NONBLOCKING(theirs_nonblocking, PMPI_Iallreduce)
NONBLOCKING(ours_nonblocking, MPI_Iallreduce)

#ifdef HAVE_PMPI_ALLREDUCE_INIT
#define PERSISTENT(name, function)                                             \
    static int name(const void *send, void *receive, int count,                \
                    MPI_Datatype type, MPI_Op op, MPI_Comm comm)               \
    {                                                                          \
        MPI_Request request;                                                   \
                                                                               \
        return function(send, receive, count, type, op, comm, MPI_INFO_NULL,   \
                        &request);                                             \
    }
PERSISTENT(theirs_persistent, PMPI_Allreduce_init)
PERSISTENT(ours_persistent, MPI_Allreduce_init)
#endif

static const struct pair {
    const char *name;
    call *theirs, *ours;
} pairs[] = {
    {"MPI_Allreduce", PMPI_Allreduce, MPI_Allreduce},
    {"MPI_Iallreduce", theirs_nonblocking, ours_nonblocking},
#ifdef HAVE_PMPI_ALLREDUCE_INIT
    {"MPI_Allreduce_init", theirs_persistent, ours_persistent},
#endif
};
#define PAIRS (sizeof pairs / sizeof *pairs)
static const struct pair *pair;

static void compare(const char *what, const void *send, void *receive,
                    int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int theirs, ours, handled_theirs;

    mpitap_handled = 0;
    theirs = mpitap_class(pair->theirs(send, receive, count, type, op, comm));
    handled_theirs = mpitap_handled;
    mpitap_handled = 0;
    ours = mpitap_class(pair->ours(send, receive, count, type, op, comm));
    if (ours != theirs || mpitap_handled != handled_theirs)
        diag("rank %d: class %d, handled %d times; MPI's: %d, %d",
             mpitap_rank(), ours, mpitap_handled, theirs, handled_theirs);
    /* MPICH (4.3) returns MPI_SUCCESS after a handler that returns. */
    ok_all(ours == theirs && (ours != MPI_SUCCESS || mpitap_handled > 0) &&
               mpitap_handled == handled_theirs,
           "%s: %s", pair->name, what);
}

static void compare_all(void)
{
    MPI_Datatype derived;

    for (size_t i = 0; i < sizeof bad_calls / sizeof *bad_calls; i++) {
        const struct bad_call *bad = &bad_calls[i];

        if (mpitap_trusting && (!bad->send || !bad->receive))
            skip_all(bad->what, mpitap_trusted);
        else
            compare(bad->what, bad->send, bad->receive, bad->count, MPI_FLOAT,
                    MPI_SUM, MPI_COMM_WORLD);
    }
    if (mpitap_trusts_types())
        skip_all("no type", mpitap_trusted);
    else
        compare("no type", in, out, COUNT, MPI_DATATYPE_NULL, MPI_SUM,
                MPI_COMM_WORLD);
    compare("no operation", in, out, COUNT, MPI_FLOAT, MPI_OP_NULL,
            MPI_COMM_WORLD);
    compare("an operation not for floats", in, out, COUNT, MPI_FLOAT, MPI_BAND,
            MPI_COMM_WORLD);
    if (mpitap_trusts_types())
        skip_all("a communicator's handle as type", mpitap_trusted);
    else
        compare("a communicator's handle as type", in, out, COUNT,
                (MPI_Datatype)MPI_COMM_WORLD, MPI_SUM, MPI_COMM_WORLD);
    MPI_Type_contiguous(1, MPI_FLOAT, &derived);
    compare("a type that is not committed", in, out, COUNT, derived, MPI_SUM,
            MPI_COMM_WORLD);
    MPI_Type_free(&derived);
}

/* MPI calls the handler of MPI_COMM_WORLD here. */
static void compare_null(void)
{
    compare("no communicator", in, out, COUNT, MPI_FLOAT, MPI_SUM,
            MPI_COMM_NULL);
    if (mpitap_trusting)
        skip_all("a type's handle as communicator", mpitap_trusted);
    else
        compare("a type's handle as communicator", in, out, COUNT, MPI_FLOAT,
                MPI_SUM, (MPI_Comm)MPI_FLOAT);
}

/* The library has rewritten calls on this communicator before. */
static void compare_freed(void)
{
    const char *what = "a communicator that has been freed";
    MPI_Comm comm, freed;

    if (mpitap_trusting) {
        skip_all(what, mpitap_trusted);
        return;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    freed = comm;
    MPI_Comm_free(&comm);
    mpitap_handled = 0;
    if (mpitap_class(pair->theirs(in, out, COUNT, MPI_FLOAT, MPI_SUM, freed)) ==
        MPI_SUCCESS)
        skip_all(what, "MPI returns MPI_SUCCESS");
    else
        compare(what, in, out, COUNT, MPI_FLOAT, MPI_SUM, freed);
}

static void test_behind(void)
{
    ok_all(MPI_Allreduce(in, out, -1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD) ==
               MPI_ERR_COUNT,
           "a negative count goes to MPI as it came");
    ok_all(MPI_Allreduce(MPI_IN_PLACE, out, INT_MIN, MPI_FLOAT, MPI_SUM,
                         MPI_COMM_WORLD) == MPI_ERR_COUNT,
           "the most negative count passes through, too");
    ok_all(MPI_Allreduce(in, out, 0, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD) ==
               MPI_ERR_OTHER,
           "a call without elements passes through, too");
    ok_all(MPI_Allreduce(in, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD) ==
               MPI_ERR_OTHER,
           "a call of another type passes through, too");
    ok_all(MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD) ==
               MPI_ERR_OTHER,
           "another operation passes through, too");
    ok_all(MPI_Allreduce(in, out, COUNT / 4, MPI_FLOAT, MPI_SUM,
                         MPI_COMM_WORLD) == MPI_ERR_OTHER,
           "a call below min_count passes through, too");
}

static void compare_pairs(void)
{
    for (pair = pairs; pair < pairs + PAIRS; pair++) {
        compare_all();
        compare_null();
        compare_freed();
    }
}

static void test_errors(void)
{
    MPI_Errhandler errhandler;
    bool good = true;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    compare_pairs();
    MPI_Comm_create_errhandler(mpitap_handle, &errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
    compare_pairs();
    for (int i = 0; i < COUNT; i++)
        in[i] = 1;
    mpitap_handled = 0;
    MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++)
        good &= out[i] == (float)mpitap_size();
    ok_all(good && mpitap_handled == 0, "a good call after all of them");
    MPI_Errhandler_free(&errhandler);
}

/* MPI ends the job. */
static void end_fatally(size_t which, size_t mistake)
{
    const struct bad_call *bad = &bad_calls[mistake];

    (void)pairs[which].ours(bad->send, bad->receive, bad->count, MPI_FLOAT,
                            MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    bool behind = argc > 1;
    int status;

    MPI_Init(&argc, &argv);
    if (argc == 4 && strcmp(argv[1], "fatal") == 0) {
        end_fatally(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10));
        return 0;
    }
    mpitap_begin();
    if (behind)
        test_behind();
    else
        test_errors();
    expect_rewritten(behind ? 0 : 1);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

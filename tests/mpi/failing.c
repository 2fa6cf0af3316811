/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call of MPI, or an allocation, fails inside the library on one rank
 * (inject.c), whichever: no rank hangs, every rank gets the right sum or an
 * error, and the next call is right on all.
 *
 *     failing CALL later|first COUNT HOW_OFTEN FUNCTION...
 *
 * CALL is blocking or nonblocking (all-reduces), layered (blocking, for a policy with
 * a table of layers), nonfinite (blocking, with a NaN on
 * the last rank), fused (several nonblocking all-reduces at a time), sampled
 * (blocking, for a policy with a log), reduce, reduce_scatter, allgather, typed (the
 * same, where the last rank has a derived type) or bcast.
 *
 * later: in a call on a communicator that has been reduced on before; first: in
 * the first call on a new one.
 */
#include "config.h"

#include <dlfcn.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

#define CALLS_MOST 60
#define FUSED 3

static void (*arm)(const char *function, long call, long how_often);
static long (*disarm)(void);
static bool first;
static int rank, ranks, count;
static long how_often;
static float *in, *out;
static MPI_Datatype triple;
static MPI_Errhandler handler;
static int told;  /* errors, by the program's handler */
static int calls; /* made: none has the values of the call before it */

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    told++;
}

/* The calls under test: in[count] and out[count] of every rank. */

static int blocking(MPI_Comm comm)
{
    return MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, comm);
}

static int nonblocking(MPI_Comm comm)
{
    MPI_Request request;
    int rc = MPI_Iallreduce(in, out, count, MPI_FLOAT, MPI_SUM, comm, &request);

    return rc == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
}

static int fused(MPI_Comm comm)
{
    const int part = count / FUSED / 3 * 3;
    MPI_Request requests[FUSED];
    int rc = MPI_SUCCESS;

    for (int i = 0; i < FUSED; i++) {
        const int begin = i * part;
        const int now = MPI_Iallreduce(in + begin, out + begin,
                                       i < FUSED - 1 ? part : count - begin,
                                       MPI_FLOAT, MPI_SUM, comm, &requests[i]);

        rc = rc == MPI_SUCCESS ? now : rc;
    }
    for (int i = 0; i < FUSED; i++) {
        const int now = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);

        rc = rc == MPI_SUCCESS ? now : rc;
    }
    return rc;
}

static int rooted(MPI_Comm comm)
{
    return MPI_Reduce(in, out, count, MPI_FLOAT, MPI_SUM, ranks - 1, comm);
}

static int scatter(MPI_Comm comm)
{
    return MPI_Reduce_scatter_block(in, out, count / ranks, MPI_FLOAT, MPI_SUM,
                                    comm);
}

static int gather(MPI_Comm comm)
{
    return MPI_Allgather(in, count / ranks, MPI_FLOAT, out, count / ranks,
                         MPI_FLOAT, comm);
}

static int gather_typed(MPI_Comm comm)
{
    const bool derived = rank == ranks - 1;
    const int n = count / ranks;

    return MPI_Allgather(in, n, MPI_FLOAT, out, derived ? n / 3 : n,
                         derived ? triple : MPI_FLOAT, comm);
}

static int broadcast(MPI_Comm comm)
{
    if (rank == ranks - 1)
        memcpy(out, in, (size_t)count * sizeof *out);
    return MPI_Bcast(out, count, MPI_FLOAT, ranks - 1, comm);
}

/* Are out[n] what the inputs are from `begin` on, times `factor`? */
static bool is_equal(int n, int begin, int factor)
{
    for (int i = 0; i < n; i++)
        if (out[i] != (float)(factor * ((begin + i + calls) % 3)))
            return false;
    return true;
}

static bool all_right(void)
{
    return is_equal(count, 0, ranks);
}

static bool nonfinite_right(void)
{
    const bool arrived = isnan(out[0]);

    out[0] = (float)(ranks * (calls % 3));
    return arrived && all_right();
}

static bool root_right(void)
{
    return rank != ranks - 1 || all_right();
}

static bool part_right(void)
{
    return is_equal(count / ranks, rank * (count / ranks), ranks);
}

/* The shares are multiples of 3: all begin alike. */
static bool parts_right(void)
{
    return is_equal(count / ranks * ranks, 0, 1);
}

static bool values_right(void)
{
    return is_equal(count, 0, 1);
}

static const struct kind {
    const char *name;
    int (*run)(MPI_Comm comm);
    /* All values are small integers, which every format of the policies
     * holds. */
    bool (*is_right)(void);
} kinds[] = {
    {"blocking", blocking, all_right},
    {"layered", blocking, all_right},
    {"nonblocking", nonblocking, all_right},
    {"nonfinite", blocking, nonfinite_right},
    {"fused", fused, all_right},
    {"sampled", blocking, all_right},
    {"reduce", rooted, root_right},
    {"reduce_scatter", scatter, part_right},
    {"allgather", gather, parts_right},
    {"typed", gather_typed, parts_right},
    {"bcast", broadcast, values_right},
};
static const struct kind *kind;

static int reduce(MPI_Comm comm)
{
    calls++;
    for (int i = 0; i < count; i++)
        in[i] = (float)((i + calls) % 3);
    if (strcmp(kind->name, "nonfinite") == 0 && rank == ranks - 1)
        in[0] = NAN;
    memset(out, 0, (size_t)count * sizeof *out);
    return kind->run(comm);
}

static bool is_right(void)
{
    return kind->is_right();
}

static const struct kind *kind_named(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

/* COLLECTIVE. Call number `call` of the victim fails: did it? */
static bool fail(MPI_Comm world, int victim, const char *function, long call,
                 bool *good)
{
    MPI_Comm comm = world;
    int failed = 0;
    int rc;

    if (first) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, handler);
    }
    if (rank == victim)
        arm(function, call, how_often);
    told = 0;
    rc = reduce(comm);
    if (rank == victim)
        failed = disarm() > 0;
    if (rc == MPI_SUCCESS && !is_right()) {
        diag("call %ld of rank %d: neither an error nor the sum", call, victim);
        *good = false;
    }
    if (kind->run == blocking && told != (rc != MPI_SUCCESS)) {
        diag("call %ld of rank %d: error %d, and %d calls of the handler", call,
             victim, rc, told);
        *good = false;
    }
    PMPI_Bcast(&failed, 1, MPI_INT, victim, MPI_COMM_WORLD);
    if (reduce(comm) != MPI_SUCCESS || !is_right()) {
        diag("after call %ld of rank %d: not the sum", call, victim);
        *good = false;
    }
    if (first)
        MPI_Comm_free(&comm);
    return failed;
}

static bool found(void)
{
    *(void **)&arm = dlsym(RTLD_DEFAULT, "inject_arm");
    *(void **)&disarm = dlsym(RTLD_DEFAULT, "inject_disarm");
    return arm && disarm;
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    int status, level;

    kind = argc > 5 ? kind_named(argv[1]) : NULL;
    if (!kind || !found())
        return 99;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
    rank = mpitap_rank();
    ranks = mpitap_size();
    first = strcmp(argv[2], "first") == 0;
    count = atoi(argv[3]);
    how_often = atol(argv[4]);
    in = malloc((size_t)count * sizeof *in);
    out = malloc((size_t)count * sizeof *out);
    MPI_Type_contiguous(3, MPI_FLOAT, &triple);
    MPI_Type_commit(&triple);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    /* Of MPI_Wait, which knows no communicator. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    ok_all(reduce(comm) == MPI_SUCCESS && is_right(), "before any failure");
    for (int i = 5; i < argc; i++) {
        bool good = true;

        /* New communicators take their time: there, one victim is enough. */
        for (int victim = first ? ranks - 1 : 0; victim < ranks; victim++)
            for (long call = 1; call <= CALLS_MOST; call++)
                if (!fail(comm, victim, argv[i], call, &good))
                    break;
        ok_all(good, "%s fails: the sum or an error, and all is well again",
               argv[i]);
    }
    MPI_Comm_free(&comm);
    MPI_Errhandler_free(&handler);
    MPI_Type_free(&triple);
    free(in);
    free(out);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Only rank 0 of MPI_COMM_WORLD sees the policy's file, which rounds every sum
 * to e3m0 by `direct`. The argument names the communicator of the first sum:
 *
 *     world     MPI_COMM_WORLD, right after MPI_Pcontrol(0)
 *     without   two halves; no rank of one half sees the file
 *     among     all ranks, but in reversed order: rank 0 sees no file
 *     some      ranks 0 and 2, in reversed order; rank 1 makes no call
 *     session   all ranks, of a session: sums of doubles before MPI_Init gives all
 *               ranks the policy, and after it
 */
#include "config.h"

#include <mpi.h>
#include <string.h>

#include "e3m0_sum.h"
#include "mpitap.h"

/* True if the sum of `ranks` ranks is rounded to e3m0. */
static bool is_rounded(float value, int ranks)
{
    return value == e3m0_sum_rounded(ranks);
}

static void test_world(void)
{
    float value;

    MPI_Pcontrol(0);
    value = e3m0_sum(MPI_COMM_WORLD);
    ok_all(is_rounded(value, mpitap_size()),
           "MPI_Pcontrol(0) is not listened to: rounded");
    MPI_Pcontrol(1);
    value = e3m0_sum(MPI_COMM_WORLD);
    ok_all(is_rounded(value, mpitap_size()), "... after MPI_Pcontrol(1), too");
}

static void test_without(void)
{
    const int half = mpitap_rank() >= mpitap_size() / 2;
    const int ranks =
        half ? mpitap_size() - mpitap_size() / 2 : mpitap_size() / 2;
    MPI_Comm comm;
    float value;

    MPI_Comm_split(MPI_COMM_WORLD, half, 0, &comm);
    value = half ? e3m0_sum(comm) : 0;
    ok_all(!half || is_rounded(value, ranks) || value == e3m0_sum_exact(ranks),
           "ranks without the file: a sum");
    ok_all(half || is_rounded(e3m0_sum(comm), ranks),
           "ranks with the file among them: rounded");
    ok_all(is_rounded(e3m0_sum(MPI_COMM_WORLD), mpitap_size()),
           "all ranks: rounded");
    if (half)
        value = e3m0_sum(comm);
    ok_all(!half || is_rounded(value, ranks) || value == e3m0_sum_exact(ranks),
           "ranks without the file, again: a sum");
    MPI_Comm_free(&comm);
}

static void test_among(void)
{
    MPI_Comm comm;

    MPI_Comm_split(MPI_COMM_WORLD, 0, mpitap_size() - mpitap_rank(), &comm);
    ok_all(is_rounded(e3m0_sum(comm), mpitap_size()),
           "reversed ranks: rounded");
    MPI_Comm_free(&comm);
}

static void test_some(void)
{
    const bool in = mpitap_rank() == 0 || mpitap_rank() == 2;
    MPI_Comm comm;

    MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : MPI_UNDEFINED,
                   mpitap_size() - mpitap_rank(), &comm);
    ok_all(!in || is_rounded(e3m0_sum(comm), 2), "two of the ranks: rounded");
    if (in)
        MPI_Comm_free(&comm);
}

#ifdef HAVE_PMPI_SESSION_INIT
static MPI_Session session;
static MPI_Comm session_comm;

/* A rank that has no policy passes sums of doubles, and may not remember that. */
static void sum_doubles(void)
{
    static double in[4096], out[4096];

    MPI_Allreduce(in, out, 4096, MPI_DOUBLE, MPI_SUM, session_comm);
}

static void begin_session(void)
{
    MPI_Group group;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "policy_rank", MPI_INFO_NULL,
                               MPI_ERRORS_ARE_FATAL, &session_comm);
    MPI_Group_free(&group);
    sum_doubles();
}

static void test_session(void)
{
    sum_doubles();
    sum_doubles();
    ok_all(true, "all ranks carry out the same sums");
    MPI_Comm_free(&session_comm);
    MPI_Session_finalize(&session);
}
#else
static void begin_session(void)
{
    plan_skip_all("MPI has no sessions");
}

static void test_session(void)
{
}
#endif

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int status;

    if (strcmp(what, "session") == 0)
        begin_session();
    MPI_Init(&argc, &argv);
    mpitap_begin();
    if (strcmp(what, "world") == 0)
        test_world();
    else if (strcmp(what, "without") == 0)
        test_without();
    else if (strcmp(what, "among") == 0)
        test_among();
    else if (strcmp(what, "session") == 0)
        test_session();
    else
        test_some();
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

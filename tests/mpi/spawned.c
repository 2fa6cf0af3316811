/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two jobs on one communicator: the ranks of MPI_COMM_WORLD spawn another rank, which
 * uses the library, too. The arguments are its path and the name of the test:
 *
 *     control  the ranks that spawn call MPI_Pcontrol(0)
 *     others   the spawned rank has no policy of its own
 */
#include "config.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

#define COUNT 3000
#define TURNS 3

/* All spawned ranks run `env` first, because MPIs pass their environment on in
 * different ways. Returns an MPI error code. */
static int spawn(char **argv, MPI_Comm *parents_and_child)
{
    static char command[] = "env", preload[4096], policy[4096];
    const char *file = getenv("APSMPI_POLICY");
    char *arguments[] = {preload, policy, argv[0], argv[1], argv[2], NULL};

    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", argv[1]);
    snprintf(policy, sizeof policy, "APSMPI_POLICY=%s",
             file && strcmp(argv[2], "control") == 0 ? file : "");
    return MPI_Comm_spawn(command, arguments, 1, MPI_INFO_NULL, 0,
                          MPI_COMM_WORLD, parents_and_child,
                          MPI_ERRCODES_IGNORE);
}

static bool is_all(const float *values, int count, float expected)
{
    for (int i = 0; i < count; i++)
        if (values[i] != expected)
            return false;
    return true;
}

/* COLLECTIVE over comm. */
static void test(const char *what, bool child, MPI_Comm comm)
{
    static float in[COUNT], out[COUNT];
    /* e3m0 rounds 1.25 to 1, and the sum of three to a power of two. */
    const float expected = strcmp(what, "control") == 0 ? 4 : 3;
    bool good = true;

    for (int i = 0; i < COUNT; i++)
        in[i] = 1.25f;
    for (int turn = 0; turn < TURNS; turn++) {
        if (strcmp(what, "control") == 0) {
            if (turn == 1 && !child)
                MPI_Pcontrol(0);
            MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, comm);
        } else {
            MPI_Reduce_scatter_block(in, out, COUNT / mpitap_size(), MPI_FLOAT,
                                     MPI_SUM, comm);
        }
        good &= is_all(out, COUNT / mpitap_size(), expected);
    }
    ok_all(good, "ranks of two jobs, %s: rounded", what);
}

int main(int argc, char **argv)
{
    MPI_Comm jobs, comm;
    int level, status;
    bool child;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_get_parent(&jobs);
    child = jobs != MPI_COMM_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (argc < 3 || (!child && spawn(argv, &jobs) != MPI_SUCCESS)) {
        mpitap_begin();
        skip_all("ranks of two jobs", "MPI spawns none here");
    } else {
        MPI_Intercomm_merge(jobs, child, &comm);
        mpitap_begin_on(comm);
        test(argv[2], child, comm);
        MPI_Comm_free(&comm);
        MPI_Comm_disconnect(&jobs);
    }
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

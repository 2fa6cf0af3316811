/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agreement of a group of nonblocking calls fails on all ranks (inject.c is
 * preloaded in front): the calls end with an error, and not before MPI is done with
 * the layers that pass. The next step is right.
 */
#include "config.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

/* Layers of a step; the policy leaves the second one to MPI. */
#define SHORT 1000
#define PASSED (1 << 20)
#define STEP (PASSED + 3 * SHORT)

static float *in, *out;

/* The second and third layer in one call; the last one ends the step. */
static int step(void)
{
    static const int counts[] = {SHORT, PASSED + SHORT, SHORT};
    int begin = 0, rc = MPI_SUCCESS;

    memset(out, 0, STEP * sizeof *out);
    for (int i = 0; i < 3; begin += counts[i++]) {
        MPI_Request requests[2];

        MPI_Iallreduce(in + begin, out + begin, counts[i], MPI_FLOAT, MPI_SUM,
                       MPI_COMM_WORLD, &requests[0]);
        requests[1] = MPI_REQUEST_NULL;
        if (i == 0) {
            begin += counts[i++];
            MPI_Iallreduce(in + begin, out + begin, counts[i], MPI_FLOAT,
                           MPI_SUM, MPI_COMM_WORLD, &requests[1]);
        }
        for (int k = 0; k < 2; k++)
            if (MPI_Wait(&requests[k], MPI_STATUS_IGNORE) != MPI_SUCCESS)
                rc = MPI_ERR_OTHER;
        if (rc != MPI_SUCCESS && i < 2)
            return rc; /* the rest of the step is not made */
    }
    return rc;
}

static bool is_right(size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        if (out[i] != in[i] * (float)mpitap_size())
            return false;
    return true;
}

int main(int argc, char **argv)
{
    void (*arm)(const char *function, long call, long how_often);
    long (*disarm)(void);
    int status, level, rc;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    *(void **)&arm = dlsym(RTLD_DEFAULT, "inject_arm");
    *(void **)&disarm = dlsym(RTLD_DEFAULT, "inject_disarm");
    in = malloc(STEP * sizeof *in);
    out = malloc(STEP * sizeof *out);
    if (!arm || !disarm || !in || !out)
        bail_out("no inject.so, or no memory");
    for (int i = 0; i < STEP; i++)
        in[i] = (float)(i % 3);
    ok_all(step() == MPI_SUCCESS && is_right(0, STEP), "before any failure");
    arm("receipt", 1, 1000000);
    rc = step();
    ok_all(disarm() > 0 && rc != MPI_SUCCESS, "the group fails");
    ok_all(is_right(SHORT, SHORT + PASSED),
           "MPI is done with the layer that passes");
    free(in);
    free(out);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

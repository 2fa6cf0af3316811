/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `differ`: a program whose last rank, or each of the ranks that are named, calls with
 * another count than the others gets an error on all ranks. `types`: the last rank sums
 * doubles, the others floats. `late`: the last rank comes
 * to a call two seconds after the others, and all get the sum.
 */
#include "config.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpitap.h"

#define MOST 300000

static double inputs[MOST], outputs[MOST];
static float *in = (float *)(void *)inputs, *out = (float *)(void *)outputs;

static int reduce_type(int count, MPI_Datatype type)
{
    return MPI_Allreduce(in, out, count, type, MPI_SUM, MPI_COMM_WORLD);
}

static int reduce(int count)
{
    return reduce_type(count, MPI_FLOAT);
}

static void differ(bool differs, int count, int other_count,
                   MPI_Datatype other_type)
{
    int rc, class = MPI_SUCCESS;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    ok_all(reduce(count) == MPI_SUCCESS, "a call of one count");
    rc = reduce_type(differs ? other_count : count,
                     differs ? other_type : MPI_FLOAT);
    MPI_Error_class(rc, &class);
    ok_all(class == MPI_ERR_TRUNCATE,
           "a call of two counts or types is an error");
    ok_all(reduce(count) != MPI_SUCCESS, "... and so is the next call");
}

static void late(bool last, int count)
{
    const struct timespec two = {.tv_sec = 2};
    bool good = true;

    ok_all(reduce(count) == MPI_SUCCESS, "all come");
    for (int i = 0; i < count; i++)
        in[i] = 1;
    if (last)
        nanosleep(&two, NULL);
    good &= reduce(count) == MPI_SUCCESS;
    for (int i = 0; i < count; i++)
        good &= out[i] == (float)mpitap_size();
    ok_all(good, "one comes late");
}

/* True if this rank is among the words. */
static bool is_named(int count, char *words[])
{
    for (int i = 0; i < count; i++)
        if (atoi(words[i]) == mpitap_rank())
            return true;
    return false;
}

int main(int argc, char **argv)
{
    bool last;
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    last = mpitap_rank() == mpitap_size() - 1;
    if (strcmp(argv[1], "differ") == 0)
        differ(argc > 4 ? is_named(argc - 4, argv + 4) : last, atoi(argv[2]),
               atoi(argv[3]), MPI_FLOAT);
    else if (strcmp(argv[1], "types") == 0)
        differ(last, atoi(argv[2]), atoi(argv[2]), MPI_DOUBLE);
    else
        late(last, atoi(argv[2]));
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

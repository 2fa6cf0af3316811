/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks make the same calls. The argument names the expected sum: `native`,
 * the exact sum, or `rounded` to e3m0. After it, `unseen` expects no summary,
 * and `first` makes an all-reduce the first call of all.
 */
#include "config.h"

#include <mpi.h>
#include <string.h>

#include "mpitap.h"

#define COUNT 2048
#define ROUNDS 3

int main(int argc, char **argv)
{
    bool rounded = argc > 1 && strcmp(argv[1], "rounded") == 0;
    float in[COUNT], out[COUNT];
    bool same = true, good = true;
    int status;

    MPI_Init(&argc, &argv);
    for (int i = 0; i < COUNT; i++)
        in[i] = 1.25f;
    if (argc > 2 && strcmp(argv[2], "first") == 0)
        MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    mpitap_begin();
    for (int turn = 0; turn < ROUNDS; turn++) {
        MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        same &= same_on_all(out, sizeof out);
        for (int i = 0; i < COUNT; i++)
            good &= out[i] == (float)mpitap_size() * (rounded ? 1 : 1.25f);
    }
    ok_all(same, "the same on all ranks");
    ok_all(good, "%s everywhere", rounded ? "rounded" : "native");
    if (argc == 2)
        expect_rewritten(rounded ? ROUNDS : 0);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

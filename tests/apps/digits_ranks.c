/* SPDX-License-Identifier: BSD-3-Clause */
#include "digits.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>

int rank, ranks;

void complain(const char *fmt, ...)
{
    va_list ap;

    if (rank != 0)
        return;
    fflush(stdout);
    fprintf(stderr, "%s: ", program_name);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

int anyone_failed(int failed)
{
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return failed;
}

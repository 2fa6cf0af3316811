/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COUNT_H
#define COUNT_H

#include <mpi.h>

/* What this process has sent so far. */
struct counts {
    long messages;    /* from point to point */
    long bytes;       /* in them */
    long collectives; /* calls of collectives */
};

typedef void (*count_read_fn)(struct counts *counts);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COUNT_H
#define COUNT_H

#include <mpi.h>

/* Counts of this process so far. */
struct counts {
    long messages;    /* point-to-point messages */
    long bytes;       /* bytes in messages */
    long collectives; /* calls of collectives */
};

typedef void (*count_read_fn)(struct counts *counts);

#endif

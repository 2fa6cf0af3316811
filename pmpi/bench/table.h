/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results of the all-reduce bench (allreduce.c), as a table and as CSV.
 */
#ifndef APS_BENCH_TABLE_H
#define APS_BENCH_TABLE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/choice.h"
#include "bench/recorded.h"

#define ROUNDS_MAX 2001
#define VARIANTS_MAX (2 * CHOICE_FORMATS + CHOICE_EXTRA + 6)
#define SAME_ERROR 1e-6 /* error of FP32 itself, by another order of the sum */

enum kind {
    NATIVE, /* FP32, by PMPI */
    PASSED, /* FP32, by MPI_Allreduce, left to MPI by the library */
    FLOOR,  /* integers of `width` bits, by PMPI */
    HALF,   /* FP16, cast and summed by the program, by PMPI */
    OURS    /* FP32, by MPI_Allreduce, rewritten by the library */
};

struct variant {
    char name[24];
    char reduce[24];
    enum kind kind;
    int width;    /* bits on the wire */
    int extra;    /* extra elements, which the policy's rules match */
    double limit; /* greatest error that is allowed */
    int native;   /* the variant with which its speed-up compares */
    int floor;    /* the variant that is its floor, or -1 */
    double error;
    bool rewritten; /* not FP32's sum */
    double samples[ROUNDS_MAX];
};

/* Begin of a tensor in the buffers, and its number of floats. */
struct piece {
    size_t offset;
    size_t count;
};

struct bench {
    struct choice choice;
    int rank;
    int ranks;
    int hosts;
    float *send;
    float *receive;
    bool doubled;             /* the values of `send` are doubled now */
    struct recorded recorded; /* with --recorded */
    float *reference;         /* native FP32's sum */
    uint16_t *half;
    unsigned char *other; /* choice.cold MiB, and 1 more */
    MPI_Datatype half_type;
    MPI_Op half_sum;
    struct variant variants[VARIANTS_MAX];
    int variant_count;
    const struct piece *pieces; /* tensors that one call of a variant reduces */
    int piece_count;
    int rounds;
    int batch;
    FILE *csv; /* rank 0's, or NULL */
    bool wrong;
    bool passed; /* a call that should have been rewritten was not */
};

/* Print the head, cases and end of the table. Rank 0 alone calls these. */
void table_print_head(const struct bench *bench);
void table_print_case(struct bench *bench); /* sorts the samples */
void table_print_foot(const struct bench *bench);

#endif

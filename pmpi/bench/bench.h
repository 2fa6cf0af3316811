/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of the program apsmpi-bench, on one rank.
 *
 * A variant is one way to sum a vector: native FP32, a format of the library, and so
 * on. A case is one size, or the tensors of a table with a call each. All variants are
 * timed in every case.
 */
#ifndef APS_PMPI_BENCH_BENCH_H
#define APS_PMPI_BENCH_BENCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/choice.h"
#include "bench/recorded.h"

#define APS_BENCH_ROUNDS_MAX 2001
#define APS_BENCH_VARIANTS_MAX (2 * APS_BENCH_FORMATS + APS_BENCH_EXTRA + 9)

/* Error of FP32 itself, by another order of the sum. */
#define APS_BENCH_SAME_ERROR 1e-6

enum aps_bench_kind {
    APS_BENCH_NATIVE, /* FP32, by PMPI */
    APS_BENCH_PASSED, /* FP32, by MPI_Allreduce, left to MPI by the library */
    APS_BENCH_FLOOR,  /* integers of `width` bits, by PMPI */
    APS_BENCH_TYPED,  /* 16-bit floats that MPI sums itself, by PMPI */
    APS_BENCH_HALF,   /* FP16, cast and summed by the program, by PMPI */
    APS_BENCH_COPY,   /* memcpy of the vector, no message */
    APS_BENCH_OURS    /* FP32, by MPI_Allreduce, rewritten by the library */
};

/* Results of a variant in one case; 0: there is no such figure. */
struct aps_bench_figures {
    double median; /* time of a call in seconds; the slowest rank's */
    double first_quartile;
    double third_quartile;
    double least;
    double faster;   /* native FP32's median divided by this one */
    double of_floor; /* median divided by that of the floor */
    double of_copy;  /* memcpy's median divided by this one */
    double of_wire;  /* share of the links' rate */
    double bus;      /* bus bandwidth of the FP32 values, in bytes a second */
};

struct aps_bench_variant {
    char name[24];
    char reduce[24];
    enum aps_bench_kind kind;
    int width;                       /* bits on the wire */
    int extra;                       /* extra elements that select a rule */
    double limit;                    /* greatest error that is allowed */
    int native;                      /* variant with which `faster` compares */
    int floor;                       /* variant that is its floor, or -1 */
    MPI_Datatype type;               /* of APS_BENCH_TYPED and APS_BENCH_HALF */
    const struct aps_format *format; /* format of their values */
    double error;                    /* relative L2 difference to FP32's sum */
    bool rewritten;                  /* not FP32's sum */
    size_t min_count; /* least size from which it is at least as fast as native
                         FP32 up to the last size; 0: none */
    struct aps_bench_figures figures;
    double samples[APS_BENCH_ROUNDS_MAX]; /* seconds; sorted with the figures */
};

/* Begin of a tensor in the buffers, and its number of floats. */
struct aps_bench_piece {
    size_t offset;
    size_t count;
};

struct aps_bench {
    struct aps_bench_choice choice;
    int rank;
    int ranks;
    int hosts;
    float *send;
    float *receive;
    float *reference;     /* native FP32's sum */
    uint16_t *codes;      /* `send` in 16 bits */
    uint16_t *half;       /* sums of 16 bits */
    unsigned char *other; /* choice.cold MiB, and 1 more */
    double pause;         /* seconds in which every rank touches it; 0: none */
    bool doubled;         /* the values of `send` are doubled now */
    struct aps_recorded recorded; /* with --recorded */
    MPI_Op half_sum;
    struct aps_bench_variant variants[APS_BENCH_VARIANTS_MAX];
    int variant_count;
    const struct aps_bench_piece *pieces; /* one call of a variant for each */
    int piece_count;
    size_t count;  /* floats of the case */
    int rounds;    /* rounds of the case */
    int batch;     /* calls of one timing */
    double spread; /* greatest distance of native FP32's quartiles, relative to
                      its median, or a quarter of that of the median from the
                      least */
    size_t spread_count; /* ... and the floats of that case */
    bool busy;           /* other work has disturbed native FP32's times */
    bool wrong;          /* a sum has too large an error */
    bool passed;         /* a call that should have been rewritten was not */
};

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the buffers hold: values whose sums are exact in any order, so that a
 * result does not depend on how MPI goes about a reduction.
 */
#ifndef CONFORMANCE_DATA_H
#define CONFORMANCE_DATA_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum base { BASE_FLOAT, BASE_DOUBLE, BASE_INT, BASES };

/* MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD; a sum of the program's own; the first
 * operand that is not 0: associative, but not commutative. */
enum operation { SUM, MAX, MIN, PROD, OWN_SUM, OWN_FIRST, OPERATIONS };

enum pattern {
    SMALL,   /* integers from -8 to 8 */
    SCALED,  /* the same, times a power of two for all */
    SPREAD,  /* the same, times a power of two for each element */
    SPARSE,  /* mostly zeros of both signs */
    FACTORS, /* 1, -1, 2, -2: products are exact */
    SPECIAL, /* as SMALL, with INF here and there, and NaN where sums may */
    PATTERNS
};

struct values {
    enum base base;
    enum pattern pattern;
    int exponent;
    bool nan;     /* SPECIAL: NaN, too */
    uint64_t key; /* another key, other values */
};

size_t base_size(enum base base);
MPI_Datatype base_type(enum base base);
const char *base_name(enum base base);
const char *operation_name(enum operation operation);

/* `count` values that `rank` contributes. */
void values_fill(const struct values *values, int rank, void *buffer,
                 size_t count);

/* Bytes that stand for "nobody has written here". */
void canary_fill(void *buffer, size_t bytes);

/* `hash` with a word more. */
uint64_t hash_word(uint64_t hash, uint64_t word);

/* `hash` with `count` elements more; every NaN counts as the same one, and 0 as
 * -0. */
uint64_t hash_values(uint64_t hash, enum base base, const void *buffer,
                     size_t count);

/* ... with bytes more. */
uint64_t hash_bytes(uint64_t hash, const void *buffer, size_t bytes);

/* The operations of the program's own, as MPI_Op_create takes them. They work
 * on the base types and on derived types of floats. */
void own_sum(void *in, void *inout, int *count, MPI_Datatype *type);
void own_first(void *in, void *inout, int *count, MPI_Datatype *type);

#endif

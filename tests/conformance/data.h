/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contents of the buffers: values whose sums are exact in any order, so that a
 * result does not depend on MPI's algorithm.
 */
#ifndef CONFORMANCE_DATA_H
#define CONFORMANCE_DATA_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* bf16 and fp16 are types of two bytes, with no operation of MPI's. */
enum base { BASE_FLOAT, BASE_DOUBLE, BASE_INT, BASE_BF16, BASE_FP16, BASES };

static inline bool base_is_16(enum base base)
{
    return base == BASE_BF16 || base == BASE_FP16;
}

/* MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD; a sum of the program's own; the first
 * operand that is not 0: associative, but not commutative. */
enum operation { SUM, MAX, MIN, PROD, OWN_SUM, OWN_FIRST, OPERATIONS };

enum pattern {
    SMALL,   /* integers from -8 to 8 */
    SCALED,  /* SMALL, times a power of two for all */
    SPREAD,  /* SMALL, times a power of two for each element */
    SPARSE,  /* mostly zeros of both signs */
    FACTORS, /* 1, -1, 2, -2: products are exact */
    SPECIAL, /* SMALL, with some INF, and NaN if sums may have them */
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

/* Frees the types of two bytes. No later call may use them. */
void base_types_free(void);

const char *base_name(enum base base);
const char *operation_name(enum operation operation);

/* Fills the `count` values that `rank` contributes. */
void values_fill(const struct values *values, int rank, void *buffer,
                 size_t count);

/* Fills bytes that mean "not written". */
void canary_fill(void *buffer, size_t bytes);

/* Returns `hash` with one more word. */
uint64_t hash_word(uint64_t hash, uint64_t word);

/* Returns `hash` with `count` more elements; all NaN count as the same one, and
 * -0 as 0. */
uint64_t hash_values(uint64_t hash, enum base base, const void *buffer,
                     size_t count);

/* Returns `hash` with more bytes. */
uint64_t hash_bytes(uint64_t hash, const void *buffer, size_t bytes);

/* The program's own operations, for MPI_Op_create. They work on the base types
 * and on derived types of floats. */
void own_sum(void *in, void *inout, int *count, MPI_Datatype *type);
void own_first(void *in, void *inout, int *count, MPI_Datatype *type);

#endif

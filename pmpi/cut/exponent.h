/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scale exponent that the ranks of a stage share (`scale: aps`; the APS
 * paper, Algorithm 1, with N = ranks of the stage).
 */
#ifndef APS_PMPI_CUT_EXPONENT_H
#define APS_PMPI_CUT_EXPONENT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "message/agree.h"
#include "block/block.h"
#include "cut/chunk.h"

/* Vectors whose exponents are found at a time. */
#define APS_EXPONENTS_MAX APS_AGREEMENT_INTS

/*
 * COLLECTIVE over vcomm, the ranks of the stage, where `wire` scales by APS: they
 * agree on the exponents of `count` vectors. Local elsewhere: the exponents stay as
 * they are. `whole`: the stage has all ranks that may have agreed on a vector's
 * greatest exponent. Returns an MPI error code.
 */
int aps_exponent_vectors(const struct aps_vcomm *vcomm,
                         const struct aps_wire *wire, bool whole, int count,
                         struct aps_vector vectors[]);

/*
 * Local. The exponent of a stage in which the ranks' greatest magnitudes, each times
 * their number, are at most 2^greatest. Of a format without mantissa whose rounding
 * draws, contributions may be twice as great as they were: where partial sums are
 * rounded, too, they get a binade of room.
 */
int aps_exponent_of_stage(const struct aps_wire *wire, int greatest);

/* Local. Sets the exponents of `count` vectors by aps_exponent_of_stage. */
void aps_exponent_set(const struct aps_wire *wire, int count,
                      const int greatest[], struct aps_vector vectors[]);

/* Local. Measures those of `count` vectors, APS_VECTORS_MAX at most, that are not
 * measured yet, together. */
void aps_exponent_measure(const struct aps_wire *wire, int count,
                          struct aps_vector vectors[]);

/* Like aps_exponent_vectors, for one vector in the memory of `wire`. */
int aps_exponent_agree(const struct aps_vcomm *vcomm,
                       const struct aps_wire *wire, const float *x, size_t n,
                       int *exponent);

/* Like aps_exponent_vectors, for vectors whose greatest finite magnitudes are
 * max[count]. */
int aps_exponent_agree_all(const struct aps_vcomm *vcomm,
                           const struct aps_wire *wire, int count,
                           const float max[], int exponents[]);

/* Exponents that are being agreed on. Zeros: none are. */
struct aps_exponents {
    bool begun;
    int count;
    int greatest[APS_EXPONENTS_MAX];
    struct aps_agreement agreement;
};

/*
 * aps_exponent_agree_all in two steps, so that the exchange is under way while
 * other work is done: both COLLECTIVE in the order of the calls, and *exponents
 * stays where it is until the end. Without APS the exponents are 0.
 */
int aps_exponent_begin(struct aps_exponents *exponents,
                       const struct aps_vcomm *vcomm,
                       const struct aps_wire *wire, int count,
                       const float max[]);
int aps_exponent_end(struct aps_exponents *exponents,
                     const struct aps_wire *wire, int result[]);

#endif

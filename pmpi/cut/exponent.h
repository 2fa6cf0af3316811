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
 * COLLECTIVE over vcomm, the ranks of the stage, where `wire` scales by APS;
 * else local, and exponents are what the layers' states say, or 0. What this
 * rank contributes are `count` layers; `whole`: the stage has all ranks that may
 * have agreed on a layer's greatest exponent. An MPI error code.
 */
int aps_exponent_vectors(const struct aps_vcomm *vcomm,
                         const struct aps_wire *wire, bool whole, int count,
                         const struct aps_vector vectors[],
                         struct aps_stage_scale scales[]);

/*
 * Local. The exponent of a stage in which the ranks' greatest magnitudes, each times
 * their number, are at most 2^greatest. Of a format without mantissa whose rounding
 * draws, contributions may be twice as great as they were: where partial sums are
 * rounded, too, they get a binade of room.
 */
int aps_exponent_of_stage(const struct aps_wire *wire, int greatest);

/* Local. The exponent of a layer that its scale's state says, or 0. */
static inline int aps_exponent_predicted(const struct aps_vector *vector)
{
    return vector->history ? vector->history->prediction.exponent : 0;
}

/* Local. The magnitudes of `count` layers, APS_VECTORS_MAX at most, to scales[]:
 * those that nobody has measured yet are measured together. */
void aps_exponent_magnitudes(const struct aps_wire *wire, int count,
                             const struct aps_vector vectors[],
                             struct aps_stage_scale scales[]);

/* The same for one vector, in the memory of `wire`. */
int aps_exponent_agree(const struct aps_vcomm *vcomm,
                       const struct aps_wire *wire, const float *x, size_t n,
                       int *exponent);

/* The same for several vectors, whose greatest finite magnitudes are
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

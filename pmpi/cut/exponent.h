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

#include "base/clock.h"
#include "message/agree.h"
#include "block/block.h"
#include "cut/chunk.h"

/* Largest number of vectors whose exponents are found at a time. */
#define APS_EXPONENTS_MAX APS_AGREEMENT_INTS

/*
 * COLLECTIVE over vcomm, the ranks of the stage, if `wire` scales by APS: the
 * ranks agree on the exponents of `count` vectors. Otherwise local: the
 * exponents do not change. `whole` is true if the stage has all ranks that may
 * have agreed on a vector's greatest exponent. `cost` gets the time of the
 * exchange. Returns an MPI error code.
 */
int aps_exponent_vectors(const struct aps_vcomm *vcomm,
                         const struct aps_wire *wire, bool whole, int count,
                         struct aps_vector vectors[], struct aps_cost *cost);

/* Local. Sets the exponents of `count` vectors by aps_wire_stage_exponent. */
void aps_exponent_set(const struct aps_wire *wire, int count,
                      const int greatest[], struct aps_vector vectors[]);

/* Local. Measures those of `count` vectors, APS_VECTORS_MAX at most, that are
 * not measured yet, in one batch. */
void aps_exponent_measure(const struct aps_wire *wire, int count,
                          struct aps_vector vectors[]);

/* Agrees on the exponent of one vector in the memory of `wire`, like
 * aps_exponent_vectors. */
int aps_exponent_agree(const struct aps_vcomm *vcomm,
                       const struct aps_wire *wire, const void *x, size_t n,
                       int *exponent, struct aps_cost *cost);

/* Agrees on the exponents of vectors whose greatest finite magnitudes are
 * max[count], like aps_exponent_vectors. */
int aps_exponent_agree_all(const struct aps_vcomm *vcomm,
                           const struct aps_wire *wire, int count,
                           const float max[], int exponents[],
                           struct aps_cost *cost);

/* The clock of a sampled layer: its time in nanoseconds; of another layer, 0. */
static inline int64_t aps_exponent_clock(const struct aps_cost *cost)
{
    return cost->sampled ? aps_clock_ns(CLOCK_MONOTONIC) : 0;
}

/* Exponents on which ranks are agreeing. Zeros: no agreement is under way. */
struct aps_exponents {
    bool begun;
    int count;
    int greatest[APS_EXPONENTS_MAX];
    struct aps_agreement agreement;
};

/*
 * aps_exponent_agree_all in two steps, so that other work can be done during
 * the exchange. Each step is COLLECTIVE over vcomm, in the order of the calls.
 * The caller must not move *exponents until the end. Without APS the exponents
 * are 0.
 */
int aps_exponent_begin(struct aps_exponents *exponents,
                       const struct aps_vcomm *vcomm,
                       const struct aps_wire *wire, int count,
                       const float max[]);
int aps_exponent_end(struct aps_exponents *exponents,
                     const struct aps_wire *wire, int result[],
                     struct aps_cost *cost);

#endif

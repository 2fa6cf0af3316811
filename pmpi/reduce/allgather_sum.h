/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reduction `gather`: every rank gets the encoded values of all ranks and
 * sums them itself, in rank order. A contribution is rounded once, a sum only
 * as `accumulate` demands, and the result is not rounded. The arithmetic is
 * that of CPD's emulation, which gathers casted values in FP32; the codes are
 * the same values in fewer bytes. For N ranks the traffic is N times the bytes
 * of one rank.
 */
#ifndef APS_PMPI_REDUCE_ALLGATHER_SUM_H
#define APS_PMPI_REDUCE_ALLGATHER_SUM_H

#include "reduce/algorithm.h"

aps_algorithm_create_fn aps_allgather_sum_algorithm;

#endif

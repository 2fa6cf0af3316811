/* SPDX-License-Identifier: BSD-3-Clause */
/* Round-off: the error of a low-precision reduction against the exact sum. */
#ifndef APS_ROUNDOFF_MEASURE_H
#define APS_ROUNDOFF_MEASURE_H

#include <stddef.h>

/* Running sums over the elements of a layer. {0} is empty. */
struct aps_measure {
    size_t compared;  /* elements with a finite reference != 0 */
    size_t skipped;   /* reference == 0 or not finite: not in the errors */
    size_t underflow; /* reference != 0, result == 0 */
    size_t overflow;  /* reference finite, result not */
    size_t nonfinite; /* result INF or NaN */
    size_t infinite;  /* reference INF or NaN */
    double sum_relative;
    double max_relative;
    double sum_error2;     /* sum of (ref - low)^2 */
    double sum_reference2; /* sum of ref^2 */
};

/* Adds n elements: `reference` is the FP32 sum (accumulated in FP64, rounded
 * once), `low` the result of the reduction. An element that overflowed counts
 * with relative error INF. */
void aps_measure_add(struct aps_measure *measure, const double *reference,
                     const float *low, size_t n);

/* Returns Eq. 5 of the APS paper: mean of |ref - low| / |ref|; 0 if no element
 * was compared. */
double aps_measure_mean(const struct aps_measure *measure);

/* Returns the relative L2 error: ||ref - low|| / ||ref||; 0 if the reference is
 * 0. */
double aps_measure_l2(const struct aps_measure *measure);

/* Returns the signal to noise ratio in dB: -20 log10 of the relative L2
 * error. */
double aps_measure_snr(const struct aps_measure *measure);

#endif

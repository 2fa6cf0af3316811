/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Histograms of exponents: how many values of a layer are in which binade (Figs. 1
 * and 2 of the APS paper).
 */
#ifndef APS_ROUNDOFF_BINADES_H
#define APS_ROUNDOFF_BINADES_H

#include <stddef.h>

/* floor(log2 |x|) of FP32, subnormals by their true values. */
#define APS_BINADE_MIN (-149)
#define APS_BINADE_MAX 127
#define APS_BINADES (APS_BINADE_MAX - APS_BINADE_MIN + 1)

/* {0} is empty. */
struct aps_binades {
    size_t zeros;
    size_t infinite;
    size_t nan;
    size_t counts[APS_BINADES]; /* index i: binade APS_BINADE_MIN + i */
};

void aps_binades_add(struct aps_binades *binades, const float *x, size_t n);

/* Formats "-12:3 -11:20", ascending, without empty binades; "" if all are
 * empty. Bytes for all binades: */
#define APS_BINADES_TEXT (APS_BINADES * 26 + 1)
char *aps_binades_format(const struct aps_binades *binades,
                         char text[APS_BINADES_TEXT]);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stands behind the opaque struct aps_format of aps.h. Code of this tree
 * may embed a format by value; programs hold pointers that aps_format_get
 * returned, so that members may be added here.
 */
#ifndef APS_NUMBER_FORMAT_H
#define APS_NUMBER_FORMAT_H

#include <stdbool.h>

#include "aps.h"

/* What the codes with an exponent field of all ones mean. */
enum aps_format_kind {
    APS_FORMAT_IEEE,  /* mantissa 0 is INF, all else NaN */
    APS_FORMAT_NAN,   /* "fn": all ones is NaN, all else finite; no INF */
    APS_FORMAT_FINITE /* "fn": all finite; neither INF nor NaN */
};

/* Room for a format's name and its end: mx-e4m3fn, hbfp8/576 and longer. */
#define APS_FORMAT_NAME 32

/* Two libraries that were built apart, libaps and libaps-cuda, may differ in
 * what a format is. */
#define APS_FORMAT_LAYOUT                                                      \
    ((uint32_t)(APS_VERSION * 1024u + sizeof(struct aps_format)))

struct aps_format {
    uint32_t layout;            /* APS_FORMAT_LAYOUT */
    char name[APS_FORMAT_NAME]; /* canonical: "e5m2", "e4m3fn-sat" */
    int exponent_bits;
    int mantissa_bits;
    int width; /* 1 + exponent_bits + mantissa_bits */
    int bias;  /* 2^(exponent_bits - 1) - 1 */
    enum aps_format_kind kind;
    bool saturate;
    int block;       /* values that share a scale; 1: none do */
    int scale_bytes; /* of a block's scale, before its codes; 0: no scale */
};

/*
 * Read the name of a format (aps.h says which there are). The same format has
 * the same name, whatever alias it was asked for by. 0, or -1 with errno EINVAL
 * and the reason.
 */
int aps_format_parse(const char *name, struct aps_format *format,
                     struct aps_error *error);

#endif

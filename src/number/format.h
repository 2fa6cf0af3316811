/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contents of the opaque struct aps_format of aps.h. Code of this tree may
 * embed a format by value; programs hold pointers that aps_format_get returned,
 * so that members may be added here.
 */
#ifndef APS_NUMBER_FORMAT_H
#define APS_NUMBER_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aps.h"

/* The families: kind, and the name of the ops in family.h and in the codec
 * (kernel/table.h). Only these two tables use it. */
#define APS_FAMILIES(ROW)                                                      \
    ROW(FLOAT, float)                                                          \
    ROW(BFP, bfp)                                                              \
    ROW(MX, mx)                                                                \
    ROW(NVFP4, nvfp4)                                                          \
    ROW(LEVELS, levels)                                                        \
    ROW(SIGN, sign)                                                            \
    ROW(INTEGER, integer)

#define APS_FAMILY_KIND(family, ops) APS_FAMILY_##family,
enum aps_family { APS_FAMILIES(APS_FAMILY_KIND) APS_FAMILY_KINDS };
#undef APS_FAMILY_KIND

/* Meaning of the codes with an exponent field of all ones. */
enum aps_format_kind {
    APS_FORMAT_IEEE,  /* mantissa 0 is INF, all else NaN */
    APS_FORMAT_NAN,   /* "fn": all ones is NaN, all else finite; no INF */
    APS_FORMAT_FINITE /* "fn": all finite; neither INF nor NaN */
};

/* Whether values are rounded by random bits. */
enum aps_format_draws {
    APS_FORMAT_DRAWS_IF_ASKED, /* if the rounding draws */
    APS_FORMAT_DRAWS_ALWAYS,   /* no other rounding is allowed */
    APS_FORMAT_DRAWS_NEVER     /* values are not rounded; nearest is allowed */
};

/* Bytes for a format's name and its end: mx-e4m3fn, bfp24/4096 and longer. */
#define APS_FORMAT_NAME 32

/* Two libraries that were built separately, libaps and libaps-cuda, may differ
 * in struct aps_format. */
#define APS_FORMAT_LAYOUT                                                      \
    ((uint32_t)(APS_VERSION * 1024u + sizeof(struct aps_format)))

struct aps_format {
    uint32_t layout;            /* APS_FORMAT_LAYOUT */
    char name[APS_FORMAT_NAME]; /* canonical: "e5m2", "e4m3fn-sat" */
    enum aps_family family;

    /* The code of a value, or, in a block, of a value without its scale. */
    int exponent_bits; /* 0: fixed point */
    int mantissa_bits; /* in fixed point: bits of the magnitude */
    int width;         /* 1 + exponent_bits + mantissa_bits */
    int bias;          /* 2^(exponent_bits - 1) - 1; in fixed point: the step is
                          2^(1 - bias - mantissa_bits), or 1 / levels */
    enum aps_format_kind kind;
    bool saturate;
    /* largest finite value, for a scale of 1; rounded to FP32 if wide */
    float max;
    bool wide; /* wider than FP32: values are elements of double */

    /* The format as a whole. */
    int upper;        /* U of scale aps: 2^U is the greatest power of two in the
                         format, or less; 0 if blocks scale themselves */
    bool has_inf;     /* INF is decoded as INF */
    bool has_nan;     /* NaN is decoded as NaN, without the marker below */
    bool marks;       /* an encode may return APS_BLOCK_NAN (kernel/ops.h) */
    bool self_scaled; /* blocks scale themselves: scale exponents are 0, and a
                         rule has no scale, or aps-tight */
    int block;        /* values that share a scale; 1: none do */
    int scale_bytes; /* bytes of a block's scale, before its codes; 0: no scale */
    int piece_bytes; /* bytes of a whole piece's scale, before its first block */
    int levels;      /* equal steps from 0 to the block's scale; 0: values are
                         not in such steps */
    bool norm2;      /* the scale is the block's 2-norm, not its maximum */
    enum aps_format_draws draws;
};

/* Elements at whose multiples packed values may be cut without changing a byte:
 * lcm(64, block). These are whole bytes, all bytes of their blocks, and full
 * cache lines of FP32. At most APS_FORMAT_GRANULE_MAX. */
#define APS_FORMAT_LINE ((size_t)64)
#define APS_FORMAT_GRANULE_MAX 4096
size_t aps_format_granule(const struct aps_format *format);

/* True if the format's values are those of FP32. */
static inline bool aps_format_is_full(const struct aps_format *format)
{
    return format->width == 32 && format->exponent_bits == 8 &&
           format->mantissa_bits == 23;
}

/* Returns the bytes of a value that is not encoded, such as a sum. */
static inline size_t aps_format_value_bytes(const struct aps_format *format)
{
    return format->wide ? sizeof(double) : sizeof(float);
}

/* Returns the bits of a value with its share of a block's scale, for tables;
 * without the scale of a piece. */
double aps_format_bits(const struct aps_format *format);

/* Returns the format with the smaller range, or a if they are equal: values
 * scaled for it suit both. */
static inline const struct aps_format *
aps_format_narrower(const struct aps_format *a, const struct aps_format *b)
{
    return aps_format_max(b) < aps_format_max(a) ? b : a;
}

#endif

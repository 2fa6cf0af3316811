/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libaps: arbitrary-precision float formats. The installed C API; needs neither
 * MPI nor a GPU.
 *
 * Functions that can fail return 0, or -1 with errno set, and fill an optional
 * struct aps_error. Out arguments come last and are written only on success.
 * All functions are safe to call from any thread.
 */
#ifndef APS_H
#define APS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define APS_API __attribute__((visibility("default")))
#else
#define APS_API
#endif

/* Where and why something failed. An empty file, line 0, column 0: none. */
struct aps_error {
    char file[256];
    int line;
    int column;
    char text[512];
};

/* --- formats ------------------------------------------------------------- */

/*
 * A binary float format eEmM: one sign bit, 1 <= E <= 8 exponent bits,
 * 0 <= M <= 23 mantissa bits, bias 2^(E-1)-1, gradual underflow, all-ones
 * exponent for INF and NaN. With M = 0 there is no code for NaN. With E = 1
 * there are no normal numbers: a fixed-point format.
 */
struct aps_format {
    char name[16]; /* canonical, "e5m2" */
    int exponent_bits;
    int mantissa_bits;
    int width; /* 1 + exponent_bits + mantissa_bits */
    int bias;  /* 2^(exponent_bits - 1) - 1 */
};

/*
 * Parse "eEmM" or one of the names fp32 (e8m23), tf32 (e8m10), fp16 (e5m10),
 * bf16 (e8m7). EINVAL with the reason in `error` for anything else.
 */
APS_API int aps_format_parse(const char *name, struct aps_format *format,
                             struct aps_error *error);

/* Largest finite value; 0 for e1m0, which has none but zero. */
APS_API float aps_format_max(const struct aps_format *format);

/* Smallest positive normal value; for E = 1, which has none, the value at
 * which it would start (2^(1-bias) = 2). Exact in double for every format. */
APS_API double aps_format_min_normal(const struct aps_format *format);

/* Smallest positive value, subnormal where M > 0; 0 for e1m0, which has none.
 * Exact in double for every format. */
APS_API double aps_format_min_positive(const struct aps_format *format);

/* --- one value ----------------------------------------------------------- */

/*
 * The code of x in `format`: round to nearest, ties to even, on the true value;
 * subnormals right; overflow decided after rounding, to INF. With M = 0 no
 * normal value has an even significand: a tie goes to the larger magnitude, as
 * IEEE 754-2019 (4.3.1) has it, but one between 0 and the smallest value to 0.
 * NaN becomes the canonical quiet NaN with x's sign; where the format has none
 * (M = 0), INF with x's sign. The low `width` bits hold the code, the others
 * are 0.
 */
APS_API uint32_t aps_encode(const struct aps_format *format, float x);

/* The value of a code; exact, since every format's values are floats. */
APS_API float aps_decode(const struct aps_format *format, uint32_t code);

/* aps_decode(aps_encode(x)): x rounded to the format. */
APS_API float aps_cast(const struct aps_format *format, float x);

#ifdef __cplusplus
}
#endif

#endif

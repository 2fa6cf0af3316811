/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operands of a product in formats in blocks: rows of A and columns of B,
 * each rounded by itself.
 */
#ifndef APS_NUMBER_GEMM_LINES_H
#define APS_NUMBER_GEMM_LINES_H

#include <stddef.h>

#include "number/format.h"

/* `count` lines of `length` floats: element k of line i at x[i * down + k *
 * right]. */
struct aps_gemm_lines {
    size_t count;
    size_t length;
    size_t down;
    size_t right;
};

/*
 * Write each line of x, rounded to the format as aps_cast_array rounds an array
 * of so many floats, to y[i * down + k * right] with the numbers of `to`, which
 * has as many lines of the same length. `room` is scratch of so many floats as
 * aps_gemm_lines_room says of the length. 0, or -1 with what aps_cast_array says:
 * for the first line or none.
 */
int aps_gemm_cast_lines(const struct aps_format *format,
                        const struct aps_gemm_lines *from, const float *x,
                        const struct aps_gemm_lines *to, float *y, float *room,
                        struct aps_error *error);

size_t aps_gemm_lines_room(size_t length);

#endif

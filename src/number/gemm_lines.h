/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operands of a product that are rounded along k: rows of A and columns of B, in
 * formats in blocks or stochastically.
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
 * Rounds each line of x to the format, like aps_cast_array an array, and writes
 * it to y[i * down + k * right] with the numbers of `to`, which has as many
 * lines of the same length. `options` are those of the first line; offsets of
 * adjacent lines differ by aps_gemm_line_elements(). `room` is scratch of
 * aps_gemm_lines_room(length) floats. Returns 0, or -1 with the error of
 * aps_cast_array, which fails for the first line or for none.
 */
int aps_gemm_cast_lines(const struct aps_format *format,
                        const struct aps_cast_options *options,
                        const struct aps_gemm_lines *from, const float *x,
                        const struct aps_gemm_lines *to, float *y, float *room,
                        struct aps_error *error);

size_t aps_gemm_lines_room(size_t length);

/* Returns the elements of a line, rounded up to whole blocks of the format. */
uint64_t aps_gemm_line_elements(const struct aps_format *format, size_t length);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A layer as a matrix, row by row. Compressors of low rank see a layer so.
 */
#ifndef APS_COMPRESS_MATRIX_H
#define APS_COMPRESS_MATRIX_H

#include <stdbool.h>
#include <stddef.h>

struct aps_matrix {
    size_t rows;
    size_t columns;
    size_t count; /* elements there are: rows * columns, or fewer where the last
                     rows are incomplete; what is missing counts as zeros */
};

/*
 * The matrix of a layer of `count` elements and of a shape of that many: the first
 * dimension by the rest (PyTorch: output features by inputs). One dimension, or
 * none: it is a vector, a matrix of one row.
 */
struct aps_matrix aps_matrix_of_shape(int dimensions, const size_t shape[],
                                      size_t count);

/*
 * The matrix of a layer whose shape is not known: the smallest square that has
 * room for it (PyTorch's batched PowerSGD).
 */
struct aps_matrix aps_matrix_square(size_t count);

#endif

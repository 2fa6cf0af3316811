/* SPDX-License-Identifier: BSD-3-Clause */
/* A layer as a matrix, row by row, for compressors of low rank. */
#ifndef APS_COMPRESS_MATRIX_H
#define APS_COMPRESS_MATRIX_H

#include <stdbool.h>
#include <stddef.h>

struct aps_matrix {
    size_t rows;
    size_t columns;
    size_t count; /* existing elements: rows * columns, or fewer if the last
                     rows are incomplete; missing elements count as zeros */
};

/* Returns the matrix of a layer whose shape has `count` elements: the first
 * dimension by the rest (PyTorch: output features by inputs). A
 * shape of one dimension, or none, gives a vector, a matrix of one row. */
struct aps_matrix aps_matrix_of_shape(int dimensions, const size_t shape[],
                                      size_t count);

/* Returns the matrix of a layer whose shape is not known: the smallest square
 * that has room for it (PyTorch's batched PowerSGD). */
struct aps_matrix aps_matrix_square(size_t count);

#endif

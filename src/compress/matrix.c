/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compress/matrix.h"

struct aps_matrix aps_matrix_of_shape(int dimensions, const size_t shape[],
                                      size_t count)
{
    if (dimensions < 2)
        return (struct aps_matrix){1, count, count};
    return (struct aps_matrix){shape[0], count / shape[0], count};
}

struct aps_matrix aps_matrix_square(size_t count)
{
    size_t low = 1, high = (size_t)1 << 32;

    /* The smallest side whose square is at least count. */
    while (low < high) {
        const size_t side = low + (high - low) / 2;

        if (side >= (size_t)1 << 32 || side * side >= count)
            high = side;
        else
            low = side + 1;
    }
    return (struct aps_matrix){low, low, count};
}

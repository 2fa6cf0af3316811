/* SPDX-License-Identifier: BSD-3-Clause */
/* No compressor: the values themselves travel. */
#include "config.h"

#include "compress/compressor.h"

static bool none_takes(const struct aps_compressor *compressor,
                       const struct aps_matrix *matrix)
{
    (void)compressor;
    (void)matrix;
    return false;
}

const struct aps_compressor_ops aps_compressor_ops_none = {.takes = none_takes};

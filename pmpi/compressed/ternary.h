/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of TernGrad. */
#ifndef APS_PMPI_COMPRESSED_TERNARY_H
#define APS_PMPI_COMPRESSED_TERNARY_H

#include "compressed/compressed.h"

extern const struct aps_compressed_ops aps_compressed_ternary;
extern const struct aps_compressed_ops aps_compressed_ternary_hierarchical;

#endif

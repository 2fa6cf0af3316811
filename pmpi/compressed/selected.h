/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of compressors that send some of a layer's elements, by `reduce`:
 * gather, direct, hierarchical. */
#ifndef APS_PMPI_COMPRESSED_SELECTED_H
#define APS_PMPI_COMPRESSED_SELECTED_H

#include "compressed/compressed.h"

extern const struct aps_compressed_ops aps_compressed_selected;
extern const struct aps_compressed_ops aps_compressed_selected_direct;
extern const struct aps_compressed_ops aps_compressed_selected_hierarchical;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Table of compressors: one row for each, with the file that holds it. */
#ifndef APS_PMPI_COMPRESSED_TABLE_H
#define APS_PMPI_COMPRESSED_TABLE_H

#include "compressed/compressed.h"

extern const struct aps_compressed_ops aps_compressed_chunked;
extern const struct aps_compressed_ops aps_compressed_powersgd;
extern const struct aps_compressed_ops aps_compressed_rounded;
extern const struct aps_compressed_ops aps_compressed_selected;
extern const struct aps_compressed_ops aps_compressed_selected_direct;
extern const struct aps_compressed_ops aps_compressed_selected_hierarchical;
extern const struct aps_compressed_ops aps_compressed_ternary;
extern const struct aps_compressed_ops aps_compressed_ternary_hierarchical;
extern const struct aps_compressed_ops aps_compressed_vote;

/* Returns the row of the plan's compressor, by its reduction. A plan without a
 * compressor has feedback, and the row of plain formats. */
const struct aps_compressed_ops *
aps_compressed_ops_of(const struct aps_plan *plan);

#endif

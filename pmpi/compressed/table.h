/* SPDX-License-Identifier: BSD-3-Clause */
/* The compressors that there are messages for. */
#ifndef APS_PMPI_COMPRESSED_TABLE_H
#define APS_PMPI_COMPRESSED_TABLE_H

#include "compressed/compressed.h"

/* Of the plan's compressor; of none, which then has feedback, those of its
 * format. */
const struct aps_compressed_ops *
aps_compressed_ops_of(const struct aps_plan *plan);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of compressors that send chunks. */
#ifndef APS_PMPI_COMPRESSED_CHUNKED_H
#define APS_PMPI_COMPRESSED_CHUNKED_H

#include "compressed/compressed.h"

extern const struct aps_compressed_ops aps_compressed_chunked;

#endif

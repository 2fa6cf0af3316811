/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of layers without a compressor whose rounding is remembered. */
#ifndef APS_PMPI_COMPRESSED_ROUNDED_H
#define APS_PMPI_COMPRESSED_ROUNDED_H

#include "compressed/compressed.h"

extern const struct aps_compressed_ops aps_compressed_rounded;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of PowerSGD. */
#ifndef APS_PMPI_COMPRESSED_POWERSGD_H
#define APS_PMPI_COMPRESSED_POWERSGD_H

#include "compressed/compressed.h"

extern const struct aps_compressed_ops aps_compressed_powersgd;

#endif

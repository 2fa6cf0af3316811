/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory backend for GPU memory without the plugin's kernels. The driver copies
 * the values to and from host memory piece by piece, and the host's backend
 * encodes and decodes them. The wire bytes are the same.
 */
#ifndef APS_PMPI_DEVICE_MEMORY_BOUNCE_H
#define APS_PMPI_DEVICE_MEMORY_BOUNCE_H

#include "codec/memory.h"

extern const struct aps_memory aps_memory_bounce;

#endif

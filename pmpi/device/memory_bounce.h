/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory backend for a GPU's memory where there are no kernels for it: the
 * driver copies it to and from the host piece by piece, and the host's own
 * verbs do the work. The same wire bytes.
 */
#ifndef APS_PMPI_DEVICE_MEMORY_BOUNCE_H
#define APS_PMPI_DEVICE_MEMORY_BOUNCE_H

#include "codec/memory.h"

extern const struct aps_memory aps_memory_bounce;

#endif

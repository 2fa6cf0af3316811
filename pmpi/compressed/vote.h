/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of signSGD with majority vote. */
#ifndef APS_PMPI_COMPRESSED_VOTE_H
#define APS_PMPI_COMPRESSED_VOTE_H

#include "compressed/compressed.h"

extern const struct aps_compressed_ops aps_compressed_vote;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packs the text of a policy into bytes for a message to other ranks.
 */
#ifndef APS_PMPI_JOB_POLICY_TEXT_H
#define APS_PMPI_JOB_POLICY_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"

/* Returns the FNV-1a hash of the policy and the layer table of a source. */
uint64_t aps_policy_text_hash(const struct aps_policy_source *source);

/* Packs a source. The caller frees *bytes. Returns 0, or -1 if memory is
 * missing. */
int aps_policy_text_pack(const struct aps_policy_source *source, char **bytes,
                         size_t *size);

/* Unpacks the `size` bytes that another rank has packed. The caller calls
 * aps_policy_source_clear, also after a failure. Returns 0, or -1 with errno:
 * ENOMEM, or EPROTO if the bytes are not a packed source. */
int aps_policy_text_unpack(const char *bytes, size_t size,
                           struct aps_policy_source *source);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text of a policy, packed into bytes for a message to other ranks.
 */
#ifndef APS_PMPI_JOB_POLICY_TEXT_H
#define APS_PMPI_JOB_POLICY_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"

/* FNV-1a of some bytes and their number. */
uint64_t aps_policy_text_hash_bytes(const void *bytes, size_t size);

/* The same of both texts of a source, the policy and its layer table. */
uint64_t aps_policy_text_hash(const struct aps_policy_source *source);

/* Pack a source. *bytes is malloc'ed, and the caller frees it. 0, or -1: out of
 * memory. */
int aps_policy_text_pack(const struct aps_policy_source *source, char **bytes,
                         size_t *size);

/* Unpack what another rank has packed. The caller calls aps_policy_source_clear
 * after a failure, too. 0, or -1: out of memory. */
int aps_policy_text_unpack(const char *bytes, struct aps_policy_source *source);

#endif

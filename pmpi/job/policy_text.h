/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text of a policy, packed into bytes to go from one rank to another.
 */
#ifndef APS_PMPI_JOB_POLICY_TEXT_H
#define APS_PMPI_JOB_POLICY_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"

/* FNV-1a of some bytes and their number. */
uint64_t aps_policy_text_hash_bytes(const void *bytes, size_t size);

/* Of both texts of a source, the policy's and its layer table's. */
uint64_t aps_policy_text_hash(const struct aps_policy_source *source);

/* A source to send to other ranks: *bytes is malloc'ed for the caller. 0, or -1:
 * out of memory. */
int aps_policy_text_pack(const struct aps_policy_source *source, char **bytes,
                         size_t *size);

/* What another rank has packed; aps_policy_source_clear is due in any case. 0, or
 * -1: out of memory. */
int aps_policy_text_unpack(const char *bytes, struct aps_policy_source *source);

#endif

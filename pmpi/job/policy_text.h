/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text of a policy on its way from one rank to another: packed into bytes,
 * and adopted by a process that holds none.
 */
#ifndef APS_PMPI_JOB_POLICY_TEXT_H
#define APS_PMPI_JOB_POLICY_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "job/job.h"

/* FNV-1a of some bytes and their number. */
uint64_t aps_policy_text_hash_bytes(const void *bytes, size_t size);

/* Of both texts of a source, the policy's and its layer table's. */
uint64_t aps_policy_text_hash(const struct aps_policy_source *source);

/*
 * The source that this process holds, to send it to other ranks: *bytes is
 * malloc'ed for the caller. 0, or -1: out of memory.
 */
int aps_policy_text_pack(const struct aps_job *job, char **bytes, size_t *size);

/*
 * Hold what another rank has packed, if this process holds no policy yet; one
 * that holds the same text already is content. 0, or -1 with the cause.
 * Thread-safe.
 */
int aps_policy_text_adopt(struct aps_job *job, const char *bytes, char *cause,
                          size_t size);

#endif

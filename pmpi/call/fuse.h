/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lazy all-reduce (the APS paper, Fig. 11): fuses consecutive nonblocking
 * all-reduces of a communicator, with one message for all their exponents and
 * one pipeline for all their values.
 *
 * A group follows from the sequence of the calls alone. It closes with the
 * layer that brings it to `fuse` bytes, before a layer that has `fuse` bytes by
 * itself, and with the last layer of a step. A rank whose program waits earlier
 * proposes to close the group with the calls that have arrived. The ranks agree
 * on the shortest proposal, whose calls all of them have made.
 */
#ifndef APS_PMPI_CALL_FUSE_H
#define APS_PMPI_CALL_FUSE_H

#include "call/call.h"

/* COLLECTIVE over the context's communicator, from the run of the group's first
 * call. Forms the group, carries it out and completes its calls. */
void aps_fuse_run(struct aps_call *first);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lazy all-reduce (the APS paper, Fig. 11): consecutive nonblocking all-reduces
 * of a communicator go together, with one message for all their exponents and
 * one pipeline for all their values.
 *
 * A group follows from the sequence of the calls alone: it closes with the
 * layer that brings it to `fuse` bytes, before a layer that has so many by
 * itself, and with the last layer of a step. A rank whose program waits before
 * that proposes to close it with what has come so far. The ranks agree on the
 * shortest proposal, which holds calls that all of them have made.
 */
#ifndef APS_PMPI_CALL_FUSE_H
#define APS_PMPI_CALL_FUSE_H

#include "call/call.h"

/*
 * COLLECTIVE over the context's communicator, from the run of the group's first
 * call: forms the group, carries it out and completes its calls.
 */
void aps_fuse_run(struct aps_call *first);

#endif

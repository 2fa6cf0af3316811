/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of chunks that are in progress at a time, and the buffers of each
 * kind that they therefore need. These numbers depend on each other; this file
 * states how.
 *
 * Chunk k goes through a stage in round k + L, where L is the sum of the lags
 * up to that stage; in a round earlier stages run first (pipeline.h). A buffer
 * that is written in stage A and read last in stage B is used in rotation:
 * chunk k takes buffer k modulo the depth, which is L(B) - L(A) + 1 or more.
 */
#ifndef APS_WIRE_BUFFER_DEPTH_H
#define APS_WIRE_BUFFER_DEPTH_H

/* Rounds between sending a message and waiting for it: number of chunks on the
 * wire. */
#define APS_PIPELINE_WIRE_LAG 8

/* Rounds between two stages inside a group, which meet in shared memory. */
#define APS_GROUP_LAG 1

/* Messages of one kind: sent, and received a wire's lag later. */
#define APS_EXCHANGE_DEPTH (APS_PIPELINE_WIRE_LAG + 1)

/* `direct`: contributions, then results. */
#define APS_DIRECT_DEPTH (2 * APS_PIPELINE_WIRE_LAG + 1)

/* `hierarchical`: the slots of a group are read one lag after they were
 * written, and its sums one lag after those. */
#define APS_SLOT_DEPTH 2
#define APS_SUM_DEPTH 2

/* A single group's sums, which are encoded by the stage that adds them.
 * Measured with 1 Mi floats in e4m3 on 2 cores: two buffers, which the L2 cache
 * cannot hold, take 1.08 times the time. */
#define APS_SINGLE_GROUP_SUM_DEPTH 1

/*
 * Results of a group. With several groups the stages of `direct` write them,
 * from the send on, and all ranks read them one lag after the last of these
 * stages. All ranks must have read a result in an *earlier* round than the one
 * in which the next begins in its place, hence one more.
 */
#define APS_RESULT_DEPTH (2 * APS_PIPELINE_WIRE_LAG + APS_GROUP_LAG + 1)

/* Results of a single group: written with the sum, read one lag later. There
 * is one more than that needs: before a rank contributes to a chunk it has
 * read the earlier result in the chunk's buffer, so that no owner waits for
 * readers. */
#define APS_SINGLE_GROUP_RESULT_DEPTH (2 * APS_GROUP_LAG + 1)

/* Results of a single group in GPU memory, which is scarce: there owners may
 * have to wait. */
#define APS_DEVICE_RESULT_DEPTH 2

/* `hierarchical`, from the contribution to the collected result. */
#define APS_HIERARCHICAL_DEPTH                                                 \
    (3 * APS_GROUP_LAG + 2 * APS_PIPELINE_WIRE_LAG + 1)

/* Chunks that travel round the ring at the same time: while one is summed,
 * others are on the wire. `master` sums as many. */
#define APS_RING_WINDOW 4

_Static_assert(APS_SLOT_DEPTH > APS_GROUP_LAG,
               "a slot is overwritten in a later round than it is summed in");
_Static_assert(APS_SUM_DEPTH >= APS_GROUP_LAG + 1,
               "a sum outlives the stage that offers it");
_Static_assert(APS_EXCHANGE_DEPTH >= APS_PIPELINE_WIRE_LAG + 1,
               "an exchange outlives its lag");
_Static_assert(APS_DIRECT_DEPTH >= 2 * APS_EXCHANGE_DEPTH - 1,
               "a chunk of direct outlives two exchanges");
_Static_assert(APS_RESULT_DEPTH > APS_DIRECT_DEPTH,
               "a result outlives the chunk of direct that writes it");
_Static_assert(
    APS_SINGLE_GROUP_RESULT_DEPTH > 2 * APS_GROUP_LAG,
    "a result is read before its reader contributes to the next one in "
    "its place");
_Static_assert(APS_DEVICE_RESULT_DEPTH > APS_GROUP_LAG,
               "a result is overwritten in a later round than it is read in");
_Static_assert(APS_HIERARCHICAL_DEPTH >= APS_RESULT_DEPTH + APS_GROUP_LAG,
               "a chunk outlives its result");

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A network that is cheaper to simulate than SimGrid's. SimGrid shares every link again
 * whenever a message begins or ends, and keeps lists of all of a rank's messages: with
 * the 65 thousand messages of 256 ranks that all send to all, that takes hours.
 *
 * Here a host has a port out and a port in, which messages pass one after the other, at
 * the link's full rate. A message arrives at the other port after the latency, as soon
 * as that port is free for the message's time; the message that was sent first is
 * first. For messages inside a host each rank has a port of 10 GB/s. The ranks are
 * threads of one process, so messages lie in its memory; SimGrid keeps the ranks'
 * clocks, and carries out collective calls, which have few bytes here. A send is
 * complete at once.
 */
#ifndef APS_SIM_PORTS_H
#define APS_SIM_PORTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* COLLECTIVE over MPI_COMM_WORLD. From now on messages use ports of `gbit`
 * Gbit/s in each direction. */
void ports_begin(double gbit);

bool ports_used(void);

/* Sends a message to another rank; it leaves at `now`. `to` is a rank of
 * MPI_COMM_WORLD, and all other communicators here have the same numbers. */
void ports_send(const void *bytes, size_t size, int to, int tag, double now,
                MPI_Request *request);
void ports_receive(void *bytes, size_t room, int from, int tag,
                   MPI_Request *request);

/* Waits until the message has been sent. Returns the time at which it arrives. Messages
 * of one rank and tag arrive in the order of these calls. The request is then null. */
double ports_wait(MPI_Request *request, MPI_Status *status);

/* COLLECTIVE over MPI_COMM_WORLD. Sends the messages of a native ring
 * all-reduce of n floats, in equal parts for each rank; nothing is summed. */
void ports_ring(const float *in, float *out, size_t n);

#endif

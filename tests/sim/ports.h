/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A network that is cheaper to simulate than SimGrid's, which shares every link anew
 * whenever a message begins or ends, and keeps lists of all of a rank's messages:
 * with 65 thousand of them under way, of 256 ranks that all send to all, that takes
 * hours.
 *
 * Here a host has a port out and a port in, which messages pass one after the other,
 * at the link's full rate. Some time after its first byte went out at one port a
 * message comes in at the other, as soon as that is free for so long: what was sent
 * first goes first. For messages inside a host each rank has a port of 10 GB/s. The
 * ranks are threads of one process, so messages lie in its memory; SimGrid keeps the
 * ranks' clocks, and carries out collective calls, which are of few bytes here. A send
 * is complete at once.
 */
#ifndef APS_SIM_PORTS_H
#define APS_SIM_PORTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* COLLECTIVE over MPI_COMM_WORLD. From now on messages go by ports of so many Gbit/s
 * in each direction. */
void ports_begin(double gbit);

/* Do they? */
bool ports_used(void);

/* A message to another rank of MPI_COMM_WORLD, by which all other communicators here
 * number theirs; it leaves at `now`. */
void ports_send(const void *bytes, size_t size, int to, int tag, double now,
                MPI_Request *request);
void ports_receive(void *bytes, size_t room, int from, int tag,
                   MPI_Request *request);

/* Wait until the message has been sent; when does it come in? Messages of one rank
 * and tag come in the order of these calls. The request is then null. */
double ports_wait(MPI_Request *request, MPI_Status *status);

/* COLLECTIVE over MPI_COMM_WORLD. The messages of a native ring all-reduce of n floats,
 * of a whole part for each rank; nothing is added up. */
void ports_ring(const float *in, float *out, size_t n);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations of the program (MPI_Op_create) that sum 16-bit values, with the policy's
 * `operations: probe`: MPI_SUM has no such type in most MPIs, so programs bring their
 * own operation and a type of two bytes.
 */
#ifndef APS_PMPI_CALL_PROBE_H
#define APS_PMPI_CALL_PROBE_H

#include <mpi.h>
#include <stdbool.h>

#include "call/call.h"

/* Local. True for a call with a commutative operation that the program has made and
 * elements of two bytes, if the policy probes operations. (The operation of a
 * persistent call may be freed before MPI_Start.) */
bool aps_probe_is_due(const struct aps_job *job,
                      const struct aps_call_arguments *arguments);

/*
 * Local. Lets the operation add known pairs (normal, subnormal, signs, carries, INF,
 * NaN) by MPI_Reduce_local. Returns the type of which all results are the sums, to
 * nearest even or, with *truncates, toward zero; or APS_ELEMENT_NONE.
 */
enum aps_element aps_probe(MPI_Datatype type, MPI_Op op, bool *truncates);

/* COLLECTIVE over the context's communicator. Probes the operation of a call for which
 * that is due, and sets call->element if all ranks find the same type. Returns false
 * if the call passes. */
bool aps_probe_agree(struct aps_call *call);

/* Local, but counts as a nonblocking collective call on the call's communicator. Probes
 * the operation of a nonblocking call and sets call->element. Returns false if the
 * call passes. The ranks compare their results in the queue before the call's turn; if
 * they differ, the library's use of the communicator ends with an error. */
bool aps_probe_start(struct aps_call *call);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is said about a communicator: lines on standard error, events and rows of
 * the log, errors of buffers in GPU memory, the step that discovery found.
 */
#ifndef APS_PMPI_COMM_REPORT_H
#define APS_PMPI_COMM_REPORT_H

#include "comm/communicator.h"

/*
 * Say something about this communicator, on rank 0: a line on standard error,
 * and an event in the log if there is one. Local.
 */
void aps_context_event(struct aps_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * The memory backend for a call with a buffer in a GPU's memory. Local; the first
 * time that it is not what it could be, a line says why.
 */
const struct aps_memory *aps_context_gpu_memory(struct aps_context *context);

/*
 * A call is over, with this error code, that began when `failures` were
 * aps_context_failures: MPI_ERR_OTHER if it could not read or write a buffer in
 * a GPU's memory. Local; the line that tells names `call`.
 */
unsigned long aps_context_failures(void);
int aps_context_check(const struct aps_context *context, const char *call,
                      unsigned long failures, int rc);

/* Add what a reduction has sent. */
static inline void aps_count_cost(struct aps_counters *counters,
                                  const struct aps_cost *cost)
{
    aps_count(&counters->wire_bytes, cost->wire_bytes);
    aps_count(&counters->fp32_bytes, cost->fp32_bytes);
    if (cost->device_bytes > 0)
        aps_count(&counters->device_bytes, cost->device_bytes);
}

/* A row of the log, if there is one: a call, or a layer of one, reduced by
 * `reduce` in so many nanoseconds. On rank 0. */
void aps_context_row(struct aps_context *context,
                     const struct aps_plan_key *place,
                     const struct aps_plan *plan, const char *reduce,
                     const struct aps_cost *cost,
                     const struct aps_measure *measure, int64_t taken);

/* The step is known: write it out for the user, on rank 0. Local. */
void aps_context_write_step(struct aps_context *context);

/* The communicator goes: say what discovery found out about it. Local. */
void aps_context_end_discovery(struct aps_context *context);

#endif

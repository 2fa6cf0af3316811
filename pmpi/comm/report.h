/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports about a communicator: lines on standard error, events and rows of the
 * log, errors of buffers in GPU memory, the step that discovery found.
 */
#ifndef APS_PMPI_COMM_REPORT_H
#define APS_PMPI_COMM_REPORT_H

#include "comm/communicator.h"
#include "roundoff/binades.h"

/*
 * Report an event of this communicator. Local. Rank 0 prints a line on standard
 * error, and writes an event into the log if it has one; other ranks do
 * nothing.
 */
void aps_context_event(struct aps_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same, unless it has been told: *told is set. */
void aps_context_event_once(struct aps_context *context, bool *told,
                            const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * The memory backend for a call with a buffer in GPU memory. Local. The first
 * time that the plugin cannot serve such a buffer, a line says why.
 */
const struct aps_memory *aps_context_gpu_memory(struct aps_context *context);

/*
 * Local. The rule for failures: an MPI error inside the library, or a lack of memory,
 * ends the library's use of the communicator on this rank. The first error (`rc` is not
 * MPI_SUCCESS) prints a line that names the rank, `what` failed, and the cause, and
 * stays in context->failed: later calls that would be rewritten return it and send
 * nothing. The call in hand goes on to its end, because other ranks wait for its
 * messages. Returns rc.
 */
int aps_context_fail(struct aps_context *context, const char *what, int rc);

/*
 * Check a call that has ended with `rc`. `failures` is aps_context_failures
 * from before the call. If a buffer in GPU memory could not be read or written
 * since, print a line that names `call`, and return MPI_ERR_OTHER; otherwise
 * return rc. Failures are counted of the whole process: where another communicator's
 * copy fails during the call, the call gets the error, too. Local.
 */
unsigned long aps_context_failures(void);
int aps_context_check(const struct aps_context *context, const char *call,
                      unsigned long failures, int rc);

/* Add the bytes that a reduction has sent. */
static inline void aps_count_cost(struct aps_counters *counters,
                                  const struct aps_cost *cost)
{
    aps_count(&counters->wire_bytes, cost->wire_bytes);
    aps_count(&counters->fp32_bytes, cost->fp32_bytes);
    if (cost->redone > 0)
        aps_count(&counters->redone, cost->redone);
    for (int i = 0; i < APS_OVERFLOW_KINDS; i++)
        if (cost->overflowed[i] > 0)
            aps_count(&counters->overflowed[i], cost->overflowed[i]);
    if (cost->compressed > 0)
        aps_count(&counters->compressed, cost->compressed);
    if (cost->device_bytes > 0)
        aps_count(&counters->device_bytes, cost->device_bytes);
    if (cost->streamed_bytes > 0)
        aps_count(&counters->streamed_bytes, cost->streamed_bytes);
}

/* What a row of the log says of a layer beside its place and its plan. */
struct aps_sampled {
    const struct aps_cost *cost;
    const struct aps_measure *measure;
    int64_t taken;  /* nanoseconds */
    int shadow;     /* the candidate, from 1; 0: what the program got */
    double entropy; /* of codes; NAN: not known */
};

/* Write a row of the log, if this process has one: a call of `function` ("MPI_"
 * and so on) or one of its layers was carried out. Local; called on rank 0. */
void aps_context_row(struct aps_context *context,
                     const struct aps_plan_key *place,
                     const struct aps_plan *plan, const char *function,
                     const struct aps_sampled *sampled);

/* Write the histogram of exponents of the layer's inputs, the same. */
void aps_context_write_exponents(struct aps_context *context,
                                 const struct aps_plan_key *place,
                                 const char *function,
                                 const struct aps_binades *binades);

/* Discovery has found the step: rank 0 writes the policy and the layer table.
 * Local. */
void aps_context_write_step(struct aps_context *context);

/* A call broke the step: count it, and say whether it is worth a line. It is
 * the first time, and then at every power of two. Local. */
bool aps_context_note_desync(struct aps_context *context);

/* The communicator is being freed: report how often the step was lost, unless
 * the last line said so. Local. */
void aps_context_end_desyncs(struct aps_context *context);

/* The communicator is being freed: report what discovery found. Local. */
void aps_context_end_discovery(struct aps_context *context);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports about a communicator: lines on standard error, events and rows of the
 * log, errors of buffers in GPU memory, the step that discovery found.
 */
#ifndef APS_PMPI_COMM_REPORT_H
#define APS_PMPI_COMM_REPORT_H

#include "comm/communicator.h"
#include "roundoff/binades.h"

/* Local. Reports an event of this communicator. Rank 0 prints a line on
 * standard error, and writes an event into the log if it has one; other ranks
 * do nothing. */
void aps_context_event(struct aps_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Local. Reports an event unless *told is set, and sets *told. */
void aps_context_event_once(struct aps_context *context, bool *told,
                            const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Local. Returns the memory backend for a call with a buffer in GPU memory.
 * Prints the reason the first time that the plugin cannot serve such a
 * buffer. */
const struct aps_memory *aps_context_gpu_memory(struct aps_context *context);

/*
 * Local. The rule for failures: an MPI error inside the library, or a lack of
 * memory, ends the library's use of the communicator on this rank. The first
 * error (`rc` is not MPI_SUCCESS) prints a line with the rank, `what` failed,
 * and the cause, and stays in context->failed. Later calls that would be
 * rewritten return it and send nothing. The current call runs to its end,
 * because other ranks wait for its messages. Returns rc.
 */
int aps_context_fail(struct aps_context *context, const char *what, int rc);

/*
 * Local. Checks a call that has ended with `rc`. `failures` is
 * aps_context_failures from before the call. If a buffer in GPU memory could
 * not be read or written since, prints a line that names `call`, and returns
 * MPI_ERR_OTHER; otherwise returns rc. The whole process counts failures
 * together: if a copy for another communicator fails during the call, the call
 * gets the error, too.
 */
unsigned long aps_context_failures(void);
int aps_context_check(const struct aps_context *context, const char *call,
                      unsigned long failures, int rc);

/* Local. Makes the bytes that FP32 would have sent those of elements in that
 * memory: the program's own type. */
static inline void aps_cost_in_type(struct aps_cost *cost,
                                    const struct aps_memory *memory)
{
    cost->fp32_bytes = cost->fp32_bytes / sizeof(float) * memory->element;
}

/* Local. Adds the bytes that a reduction has sent to the counters. */
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

/* Fields of a row of the log in addition to the layer's key and plan. */
struct aps_sampled {
    const struct aps_cost *cost;
    const struct aps_measure *measure;
    int64_t taken;  /* time of the reduction, in nanoseconds */
    int shadow;     /* candidate, from 1; 0: result of the program */
    double entropy; /* entropy of the codes; NAN: not known */
};

/* Local, on rank 0. Writes a row of the log, if this process has one, after a
 * call of `function` ("MPI_..."), or one of its layers, was carried out. */
void aps_context_row(struct aps_context *context,
                     const struct aps_plan_key *key,
                     const struct aps_plan *plan, const char *function,
                     const struct aps_sampled *sampled);

/* Local, on rank 0. Writes the histogram of exponents of the layer's inputs,
 * in[key->count], to the file next to the log, if this process has one. */
void aps_context_write_exponents(struct aps_context *context,
                                 const struct aps_plan_key *key,
                                 const char *function,
                                 const struct aps_memory *memory,
                                 const void *in);

/* Local. Writes the policy and the layer table on rank 0, after discovery has
 * found the step. */
void aps_context_write_step(struct aps_context *context);

/* Local. Counts a call that broke the step. True if the caller is to print a
 * line: the first time, and then at each power of two. */
bool aps_context_note_desync(struct aps_context *context);

/* Local. Counts an eligible call, of `count` elements, that passes because no step
 * is known, and the equal steps so far. Reports once if the calls seem to have no
 * step. */
void aps_context_note_stepless(struct aps_context *context, size_t count);

/* Local. Called when the communicator is freed. Reports the number of desyncs,
 * unless the last line gave it. */
void aps_context_end_desyncs(struct aps_context *context);

/* Local. Called when the communicator is freed. Reports the result of
 * discovery. */
void aps_context_end_discovery(struct aps_context *context);

#endif

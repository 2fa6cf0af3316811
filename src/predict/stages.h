/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of a reduction: the stages of a chunk, each with core time and
 * messages, and pipelines of stages.
 */
#ifndef APS_PREDICT_STAGES_H
#define APS_PREDICT_STAGES_H

#include <stddef.h>

#include "predict/call.h"

/* One stage of one chunk, in seconds. */
struct aps_stage {
    double work;    /* core time of a rank before its messages leave */
    double core;    /* core time of a rank while they leave */
    double between; /* time of a host's link */
    double inside;  /* time of messages between ranks of one host */
    double latency; /* until the last message has arrived */
};

/* Adds the messages that each rank sends in a stage, of `bytes` bytes each:
 * `between` messages to other hosts, `inside` to its own. */
void aps_stage_send(struct aps_stage *stage, const struct aps_machine *machine,
                    double bytes, double between, double inside);

/* Returns the time of the stages of `chunks` chunks, one chunk after the other.
 * Stages of a later chunk overlap with those of an earlier one. However, a core
 * and a link do one thing at a time, and a message may take
 * APS_PIPELINE_WIRE_LAG rounds to arrive. The link between hosts saves `ahead`
 * seconds (aps_link_ahead). */
struct aps_prediction aps_stages_run(const struct aps_stage *stages,
                                     size_t count, double chunks, double ahead);

/* Returns the time of a, and then b. */
struct aps_prediction aps_prediction_add(struct aps_prediction a,
                                         struct aps_prediction b);

/* Returns the time of an agreement of `ranks` ranks on small numbers, such as
 * scale exponents; `per_host` of the ranks are on each host. */
struct aps_prediction aps_predict_agreement(const struct aps_machine *machine,
                                            int ranks, int per_host);

/* Returns the time before the data: the search for the exponents on which ranks
 * agree, if the scale has such exponents. */
struct aps_prediction
aps_predict_exponents(const struct aps_predicted_call *call, int ranks,
                      int per_host);

/*
 * Returns the call with the rates that its threads reach together, in `count` passes
 * over n values each (codec/workers.h). The memory is as fast for each thread.
 */
struct aps_predicted_call
aps_predict_shared(const struct aps_predicted_call *call, double count,
                   double n);

/* Returns the core seconds of the search for the call's greatest value. */
double aps_predict_search(const struct aps_predicted_call *call);

/* Returns the bytes of n values that are not encoded: inputs, results and sums. */
double aps_predict_bytes(const struct aps_plan *plan, double n);

/* Returns the core seconds of reading or writing n values of the program's
 * vectors once, beyond those in caches. */
double aps_predict_memory(const struct aps_predicted_call *call, double n);

/* Returns the bytes of a block of n values in the plan's format, with its
 * header. */
double aps_predict_block(const struct aps_plan *plan, double n);

/* Returns the number of `slices` slices of n values that are not empty, cut as
 * the plan's codec allows; their owners send and receive. */
double aps_predict_owners(const struct aps_plan *plan, double n, double slices);

/* Returns the share of the messages that remain if only `owners` of `ranks`
 * ranks own a slice, compared with an exchange in which all do. An owner sends
 * to all and receives from owners, or the reverse. */
double aps_predict_owned(double owners, double ranks);

/* Returns the core seconds of summing k blocks of n values as planned, which the
 * threads of the rank share. */
double aps_predict_sum(const struct aps_predicted_call *call, double k,
                       double n);

/* Returns the ranks on other hosts. */
double aps_predict_others(const struct aps_machine *machine);

/* Returns the number of chunks of at most `most` elements of a call, and sets
 * the elements of each. */
double aps_predict_chunks(const struct aps_predicted_call *call, double most,
                          double *elements);

/* Returns the values of a message of a chunk that has one for each of
 * `parts`. */
double aps_predict_message(const struct aps_plan *plan, int parts);

/* Rows of the table. */
typedef struct aps_prediction
aps_predict_fn(const struct aps_predicted_call *call);
aps_predict_fn aps_predict_direct;
aps_predict_fn aps_predict_hierarchical;
aps_predict_fn aps_predict_ring;
aps_predict_fn aps_predict_master;
aps_predict_fn aps_predict_gather;

#endif

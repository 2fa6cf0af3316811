/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the reductions are put together from: the stages of a chunk, of which each
 * is work of the core and messages, and pipelines of them.
 */
#ifndef APS_PREDICT_STAGES_H
#define APS_PREDICT_STAGES_H

#include <stddef.h>

#include "predict/call.h"

/* Seconds of one chunk. */
struct aps_stage {
    double work;    /* of a rank's core before its messages leave */
    double core;    /* of a rank's core while they leave */
    double between; /* of a host's link */
    double inside;  /* of what ranks of a host send each other */
    double latency; /* until the last of them has come */
};

/* The messages of every rank in a stage, of `bytes` each: so many to ranks of
 * other hosts, so many to its own. */
void aps_stage_send(struct aps_stage *stage, const struct aps_machine *machine,
                    double bytes, double between, double inside);

/* The stages of `chunks` chunks, one chunk after the other; those of a later one
 * overlap with an earlier one's, except that a core and a link do one thing at a
 * time, and that a message has the time of APS_PIPELINE_WIRE_LAG rounds to come. The
 * link between hosts is `ahead` by so many seconds (aps_link_ahead). */
struct aps_prediction aps_stages_run(const struct aps_stage *stages,
                                     size_t count, double chunks, double ahead);

/* b follows a. */
struct aps_prediction aps_prediction_add(struct aps_prediction a,
                                         struct aps_prediction b);

/* All ranks agree on small numbers, such as scale exponents: `ranks` of them,
 * as many on each host as there are in all divided by the machine's hosts. */
struct aps_prediction aps_predict_agreement(const struct aps_machine *machine,
                                            int ranks, int per_host);

/* What precedes the data: a search for the exponents on which ranks agree, where
 * the scale needs that. */
struct aps_prediction
aps_predict_exponents(const struct aps_predicted_call *call, int ranks,
                      int per_host);

/* Seconds of a core for n values of the program's vectors that are read or written
 * once, beyond those in caches. */
double aps_predict_memory(const struct aps_predicted_call *call, double n);

/* Bytes of a block of n values of the plan's format, with its header. */
double aps_predict_block(const struct aps_plan *plan, double n);

/* Of so many slices of n values, which are cut where the plan's codec can cut them, how
 * many have any values; their owners send and receive. */
double aps_predict_owners(const struct aps_plan *plan, double n, double slices);

/* What part of the messages of a rank that exchanges slices with all of `ranks` ranks
 * is left where so many of them own one. An owner sends to all and receives of owners,
 * or the other way round. */
double aps_predict_owned(double owners, double ranks);

/* Seconds of a core that adds up k blocks of n values as the plan says. */
double aps_predict_sum(const struct aps_predicted_call *call, double k,
                       double n);

/* Of p ranks that a rank sends to, how many are on other hosts. */
double aps_predict_others(const struct aps_machine *machine);

/* Chunks of `most` elements that a call has, and the elements of each. */
double aps_predict_chunks(const struct aps_predicted_call *call, double most,
                          double *elements);

/* The values of a message of a chunk with one for each of `parts`. */
double aps_predict_message(const struct aps_plan *plan, int parts);

/* The rows of the table. */
typedef struct aps_prediction
aps_predict_fn(const struct aps_predicted_call *call);
aps_predict_fn aps_predict_direct;
aps_predict_fn aps_predict_hierarchical;
aps_predict_fn aps_predict_ring;
aps_predict_fn aps_predict_master;
aps_predict_fn aps_predict_gather;

#endif

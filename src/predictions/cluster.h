/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cluster for which `apsmpi explain` predicts times: from its options, from a
 * file of `apsmpi measure`, and from measurements on the spot.
 */
#ifndef APS_PREDICTIONS_CLUSTER_H
#define APS_PREDICTIONS_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/arguments.h"
#include "predict/clocked.h"
#include "predict/measured.h"

#define APS_CLUSTER_COUNTS 16

struct aps_cluster {
    struct aps_machine machine;
    struct aps_measured
        *measured;    /* codecs of the file first, then those measured now */
    int from_file;    /* number of codecs of the file; 0: no file */
    const char *file; /* or NULL */
    bool file_links;  /* false: the file has one host, and the cluster has
                         several */
    bool rate_given;  /* by an option */
    bool latency_given;
    double crowd; /* ranks per core */
    double cores; /* cores of a rank; INFINITY: not given */
    int threads;  /* threads of a rank; APS_THREADS_AUTO counts as 1 */
    struct aps_clocked *clocked;       /* NULL before the first measurement */
    size_t counts[APS_CLUSTER_COUNTS]; /* for policies without a layer table */
    int count_count;
    bool counts_given; /* by --counts */
};

/* Returns 1 with a cluster for aps_cluster_clear, 0 if the options ask for no
 * prediction, or -1 with the exit status after errors were reported. */
int aps_cluster_read(const struct aps_arguments *arguments,
                     struct aps_cluster *cluster, int *status);
void aps_cluster_clear(struct aps_cluster *cluster);

/* Sets the threads of a rank: those of the policy, at most its cores. */
void aps_cluster_set_threads(struct aps_cluster *cluster, int threads);

/* Returns the core times of that format, measured now if necessary. */
const struct aps_codec_rates *
aps_cluster_rates(struct aps_cluster *cluster, const struct aps_format *format);

/* Prints a note on the cluster, its measurements and its assumptions on
 * standard output, after all rates have been asked for. */
void aps_cluster_print(const struct aps_cluster *cluster);

#endif

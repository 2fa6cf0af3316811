/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cluster that `apsmpi explain` predicts times for: what its options and the
 * file of `apsmpi measure` say, and what is measured on the spot.
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
        *measured;    /* codecs of the file, then those measured now */
    int from_file;    /* so many of them; 0: there is no file */
    const char *file; /* or NULL */
    bool file_links;  /* false: the file is of one host, and there are more */
    bool rate_given;  /* by their options */
    bool latency_given;
    double crowd;                      /* ranks of a core */
    struct aps_clocked *clocked;       /* NULL until something is measured */
    size_t counts[APS_CLUSTER_COUNTS]; /* for policies without a layer table */
    int count_count;
    bool counts_given; /* by --counts */
};

/* 1 with a cluster for aps_cluster_clear, 0 if the options ask for no prediction;
 * or -1 after what is wrong has been told, with the exit status. */
int aps_cluster_read(const struct aps_arguments *arguments,
                     struct aps_cluster *cluster, int *status);
void aps_cluster_clear(struct aps_cluster *cluster);

/* What a core needs for values of that format, measured now if need be. */
const struct aps_codec_rates *
aps_cluster_rates(struct aps_cluster *cluster, const struct aps_format *format);

/* What it is, what was measured and what is assumed: a note on standard output, after
 * all rates have been asked for. */
void aps_cluster_print(const struct aps_cluster *cluster);

#endif

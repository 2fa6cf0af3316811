/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The APSMPI_ environment variables: one table serves the parser, the help and
 * the manual. Read once per process, before the first decision.
 */
#ifndef APS_BASE_OPTIONS_H
#define APS_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

struct aps_options {
    char *policy;       /* policy file; NULL: discovery */
    char *shadow;       /* candidates, instead of the policy's */
    char *log;          /* CSV log, instead of the policy's log.file */
    char *final_policy; /* file for the formats that were chosen while the
                           program ran; NULL: next to the log */
    char *discovery;    /* prefix of the files written; NULL: off */
    bool pass_on_error; /* a bad policy: warn and pass through */
    bool summary;       /* rank 0 prints a summary at the end */
    char *summary_file; /* file for the summary as JSON; NULL: lines */
    bool enabled;       /* false: every call passes through */
    bool world;         /* MPI_Init makes a hidden communicator of the job */
    enum {
        APS_THREADS_HIDDEN, /* raised if needed; the program sees its own */
        APS_THREADS_SHOWN,  /* raised if needed; the program sees MPI's */
        APS_THREADS_KEPT    /* never raised */
    } threads;              /* thread level of MPI */
    int test_nodes;         /* tests only: pretend this many nodes; 0: real */
    bool test_cyclic;       /* pretended nodes take ranks in turn */
    int test_patience; /* tests only: milliseconds before a wait is reported;
                           0: ten seconds */
    char *cuda;        /* path of the plugin; NULL: next to this library */
    enum {
        APS_AWARE_ASK, /* ask MPI */
        APS_AWARE_YES,
        APS_AWARE_NO
    } cuda_aware;  /* whether MPI takes pointers to GPU memory */
    bool cuda_ipc; /* ranks of a node may open each other's GPU memory */
};

/*
 * Reads the environment. Strings are copies, freed by aps_options_clear,
 * because programs overwrite their environment to show a title. Wrong values
 * are added to `errors` (the default applies), unknown APSMPI_ names to
 * `warnings` with the nearest name.
 */
void aps_options_read(struct aps_options *options, struct aps_errors *errors,
                      struct aps_errors *warnings);

void aps_options_clear(struct aps_options *options);

/* Value of one variable. */
struct aps_option_state {
    const char *name;
    const char *values;    /* "on|off" */
    const char *meaning;   /* one sentence */
    const char *value;     /* on or off for a switch; NULL: none */
    bool from_environment; /* false: the default applies, because the variable
                              is unset, empty or wrong */
};

/* Gets variable number `i`, from 0. Returns false after the last one. The
 * strings are static, or of the environment. */
bool aps_options_state(size_t i, struct aps_option_state *state);

/* Prints one line for each variable: name, values, meaning, default. */
void aps_options_print(FILE *stream);

#endif

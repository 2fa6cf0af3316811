/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The apsmpi command: what its subcommands share. They need no MPI.
 */
#ifndef APS_COMMAND_COMMAND_H
#define APS_COMMAND_COMMAND_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/arguments.h"
#include "policy/policy.h"

/* Exit statuses. */
enum { APS_EXIT_OK, APS_EXIT_FAILURE, APS_EXIT_USAGE };

extern const struct aps_subcommand aps_subcommand_check;
extern const struct aps_subcommand aps_subcommand_explain;
extern const struct aps_subcommand aps_subcommand_formats;
extern const struct aps_subcommand aps_subcommand_snr;
extern const struct aps_subcommand aps_subcommand_cast;
extern const struct aps_subcommand aps_subcommand_suggest;
extern const struct aps_subcommand aps_subcommand_info;
extern const struct aps_subcommand aps_subcommand_measure;

/* What messages call the candidates of the option. */
#define APS_COMMAND_SHADOW "--shadow"

/* Read and parse a policy; with `candidates`, unless that is NULL, in place of its
 * `shadow`, and then `path` may be APS_COMMAND_SHADOW: a policy of these alone. 0 with
 * *policy a new object, or -1; errors and warnings are added to `errors`. */
int aps_command_load(const char *path, const char *candidates,
                     struct aps_policy **policy, struct aps_errors *errors);

/* "4 rules, 161 layers, steps: table", and what the policy says of `gemm`,
 * `progress` and `fuse`; returns `buffer`. */
char *aps_command_summary(const struct aps_policy *policy, char *buffer,
                          size_t size);

/* "products e5m10, sums e8m23 (kahan)", "products bfp7/64 x bfp15/64, sums
 * e8m23"; returns `buffer`. */
#define APS_COMMAND_GEMM_MAX 160
char *aps_command_gemm(const struct aps_policy_gemm *gemm, char *buffer,
                       size_t size);

/* "e4m3", "e4m3 correlated", "powersgd rank 4 in e4m3"; returns `buffer`. */
#define APS_COMMAND_FORMAT_MAX 112
char *aps_command_format(const struct aps_plan *plan, char *buffer,
                         size_t size);

/* "aps", "fixed 1024"; of a format whose blocks scale themselves "per block".
 * Returns `buffer`. */
#define APS_COMMAND_BLOCK_SCALE "per block"
char *aps_command_scale(const struct aps_plan *plan, char *buffer, size_t size);

/* "12", the line of a rule, or "12 NAME" if it has a name; returns `buffer`. */
#define APS_COMMAND_RULE_MAX 80
char *aps_command_rule(const struct aps_policy *policy, int rule,
                       char buffer[APS_COMMAND_RULE_MAX]);

/* What measuring layers needs, of which the longest has so many elements (0: not
 * known). Writes at most `size` bytes, returns `buffer`. */
char *aps_command_memory(size_t longest, char *buffer, size_t size);

/* An empty line, and the text as a paragraph with a hanging indent. */
void aps_command_note(const char *note, FILE *stream);

/* calloc that ends the program instead of failing: a command has nothing
 * better to do. */
void *aps_command_alloc(size_t count, size_t size);

#endif

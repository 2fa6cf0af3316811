/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that the subcommands of apsmpi share. They need no MPI.
 */
#ifndef APS_COMMAND_COMMAND_H
#define APS_COMMAND_COMMAND_H

#include <stddef.h>

#include "base/error.h"
#include "cli/arguments.h"
#include "policy/policy.h"

/* Exit status. */
enum { APS_EXIT_OK, APS_EXIT_FAILURE, APS_EXIT_USAGE };

extern const struct aps_subcommand aps_subcommand_check;
extern const struct aps_subcommand aps_subcommand_explain;
extern const struct aps_subcommand aps_subcommand_formats;
extern const struct aps_subcommand aps_subcommand_snr;
extern const struct aps_subcommand aps_subcommand_cast;
extern const struct aps_subcommand aps_subcommand_suggest;
extern const struct aps_subcommand aps_subcommand_info;
extern const struct aps_subcommand aps_subcommand_measure;
extern const struct aps_subcommand aps_subcommand_bench;

/* Name of the option's candidates in messages. */
#define APS_COMMAND_SHADOW "--shadow"

/* Reads and parses a policy. `candidates`, unless NULL, replace those of its
 * `shadow`; `path` may then be APS_COMMAND_SHADOW, for a policy with these
 * alone. Returns 0 with *policy, which the caller destroys, or -1; adds errors
 * and warnings to `errors`. */
int aps_command_load(const char *path, const char *candidates,
                     struct aps_policy **policy, struct aps_errors *errors);

/* Writes "4 rules, 161 layers, steps: table", and `gemm`, `progress` and `fuse`
 * of the policy. Returns `buffer`. */
char *aps_command_summary(const struct aps_policy *policy, char *buffer,
                          size_t size);

/* Writes "products e5m10, sums e8m23 (kahan)", or "products bfp7/64 x bfp15/64,
 * sums e8m23"; of several rules, that there are some. Returns `buffer`. */
#define APS_COMMAND_GEMM_MAX 160
char *aps_command_gemm(const struct aps_policy_gemm *gemm, char *buffer,
                       size_t size);

/* Writes "e4m3", "e4m3 correlated", "powersgd rank 4 in e4m3". Returns
 * `buffer`. */
#define APS_COMMAND_FORMAT_MAX 112
char *aps_command_format(const struct aps_plan *plan, char *buffer,
                         size_t size);

/* Writes "aps", "fixed 1024", or "per block" for a format whose blocks have
 * scales. Returns `buffer`. */
#define APS_COMMAND_BLOCK_SCALE "per block"
char *aps_command_scale(const struct aps_plan *plan, char *buffer, size_t size);

/* Writes "12", the line of a rule, or "12 NAME" if it has a name. Returns
 * `buffer`. */
#define APS_COMMAND_RULE_MAX 80
char *aps_command_rule(const struct aps_policy *policy, int rule,
                       char buffer[APS_COMMAND_RULE_MAX]);

/* Writes the memory that measuring layers takes; the longest has `longest`
 * elements (0: not known). Writes at most `size` bytes. Returns `buffer`. */
char *aps_command_memory(size_t longest, char *buffer, size_t size);

/* Prints an empty line, and the text as a paragraph with a hanging indent. */
void aps_command_note(const char *note);

/* Allocates like calloc, and ends the program if memory is missing. */
void *aps_command_alloc(size_t count, size_t size);

#endif

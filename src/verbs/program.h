/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Subcommands that are programs of their own: apsmpi NAME starts apsmpi-NAME,
 * which stands beside apsmpi.
 */
#ifndef APS_VERBS_PROGRAM_H
#define APS_VERBS_PROGRAM_H

/* Become the program with argv[1] and what follows it as its arguments; argv[0]
 * is the subcommand's name, and a NULL ends the array. Returns only if that
 * fails: the exit status, after a line on standard error. */
int aps_program_become(const char *name, char **argv);

#endif

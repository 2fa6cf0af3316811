/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of a subcommand. One table of options is parser, help and,
 * through the help, the test of the shells' completions.
 */
#ifndef APS_COMMAND_ARGUMENTS_H
#define APS_COMMAND_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define APS_OPTIONS_MAX 10

struct aps_subcommand_option {
    const char *name;     /* without its two hyphens; NULL ends the table */
    const char *argument; /* what it takes, for the help; NULL: nothing */
    const char *help;     /* one line or more, \n between them */
};

struct aps_arguments;

/* One file each. `run` returns the exit status. */
struct aps_subcommand {
    const char *name;
    const char *summary;
    bool program;         /* a program of its own: no more is set */
    const char *operands; /* "FILE...", for the usage line; "" for none */
    const char *help;     /* a paragraph of whole lines */
    struct aps_subcommand_option options[APS_OPTIONS_MAX + 1];
    bool numbers; /* an operand may begin with one hyphen: -1.5 */
    size_t least; /* operands */
    size_t most;
    int (*run)(const struct aps_arguments *arguments);
};

struct aps_arguments {
    const struct aps_subcommand *subcommand;
    const char *const *operands; /* in their order */
    size_t count;
    /* By the place in subcommand->options: NULL if the option is not given, ""
     * if it takes no argument; the last of several. */
    const char *options[APS_OPTIONS_MAX];
    bool json;    /* --json is given, whatever else is wrong */
    bool help;    /* -h or --help */
    bool version; /* --version */
};

/*
 * Read argv[1] to argv[argc - 1]. Options may stand behind operands, `--` ends
 * them, and a value follows its option as the next argument or behind a `=`.
 * Operands are moved to the front of argv, where arguments->operands points.
 * 0, or -1 with `cause`, of `size` bytes, saying what is wrong.
 */
int aps_arguments_parse(const struct aps_subcommand *subcommand, int argc,
                        char **argv, struct aps_arguments *arguments,
                        char *cause, size_t size);

/* The value of the option of that name, or NULL. */
const char *aps_arguments_option(const struct aps_arguments *arguments,
                                 const char *name);

/* "usage: apsmpi check [--json] FILE..." and a newline. */
void aps_arguments_usage(const struct aps_subcommand *subcommand, FILE *stream);

/* The usage, the subcommand's text and its options. */
void aps_arguments_help(const struct aps_subcommand *subcommand, FILE *stream);

#endif

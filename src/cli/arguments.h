/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command line of a subcommand. One table of options serves the parser, the
 * help and, through the help, the test of the shells' completions.
 */
#ifndef APS_COMMAND_ARGUMENTS_H
#define APS_COMMAND_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define APS_OPTIONS_MAX 15

struct aps_subcommand_option {
    const char *name;     /* without its two hyphens; NULL ends the table */
    const char *argument; /* its argument, for the help; NULL: none */
    const char *help;     /* one or more lines, \n between them */
};

struct aps_arguments;

/* One file each; `run` returns the exit status. */
struct aps_subcommand {
    const char *name;
    const char *summary;
    /* Not NULL: no other field than name and summary is set. Runs another program in
     * place of this one, with argv[1] and the arguments after it; argv[0] is the name
     * of the subcommand. Returns only if that fails: the exit status, after a line on
     * standard error. */
    int (*become)(char **argv);
    const char *operands; /* "FILE...", for the usage line; "" for none */
    const char *help;     /* a paragraph of whole lines */
    struct aps_subcommand_option options[APS_OPTIONS_MAX + 1];
    bool numbers; /* an operand may begin with one hyphen: -1.5 */
    size_t least; /* number of operands */
    size_t most;
    int (*run)(const struct aps_arguments *arguments);
};

struct aps_arguments {
    const struct aps_subcommand *subcommand;
    const char *const *operands; /* in the order given */
    size_t count;
    /* Indexed as subcommand->options: NULL if the option is not given, "" if it
     * has no argument; the last value if given repeatedly. */
    const char *options[APS_OPTIONS_MAX];
    bool json;    /* --json is given, even if other words are wrong */
    bool help;    /* -h or --help */
    bool version; /* --version */
};

/*
 * Reads argv[1] to argv[argc - 1]. Options may follow operands, `--` ends them,
 * and a value follows its option as the next argument or after a `=`. Moves
 * operands to the front of argv, where arguments->operands points. Returns 0,
 * or -1 with the error in `cause` (`size` bytes).
 */
int aps_arguments_parse(const struct aps_subcommand *subcommand, int argc,
                        char **argv, struct aps_arguments *arguments,
                        char *cause, size_t size);

/* Returns the value of the option with that name, or NULL. */
const char *aps_arguments_option(const struct aps_arguments *arguments,
                                 const char *name);

/* Prints "usage: apsmpi check [--json] FILE..." and a newline. */
void aps_arguments_usage(const struct aps_subcommand *subcommand, FILE *stream);

/* Prints the usage, the subcommand's text and its options. */
void aps_arguments_help(const struct aps_subcommand *subcommand, FILE *stream);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apsmpi: look at policies and number formats without running anything.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/options.h"
#include "cli/command.h"

static const struct aps_subcommand *const subcommands[] = {
    &aps_subcommand_check,
    &aps_subcommand_explain,
    &aps_subcommand_formats,
    &aps_subcommand_cast,
};
#define SUBCOMMANDS (sizeof subcommands / sizeof subcommands[0])

static void print_help(FILE *stream)
{
    fprintf(stream, "usage: apsmpi SUBCOMMAND ...\n"
                    "       apsmpi --version\n"
                    "\n"
                    "subcommands:\n");
    for (size_t i = 0; i < SUBCOMMANDS; i++)
        fprintf(stream, "  %-8s  %s\n", subcommands[i]->name,
                subcommands[i]->summary);
    fprintf(stream, "  %-8s  %s\n", "help", "this text, or a subcommand's");
    fprintf(stream, "\nvariables that libapsmpi.so reads when preloaded:\n");
    aps_options_print(stream);
}

static const struct aps_subcommand *find(const char *name)
{
    for (size_t i = 0; i < SUBCOMMANDS; i++) {
        if (strcmp(subcommands[i]->name, name) == 0)
            return subcommands[i];
    }
    return NULL;
}

static int unknown(const char *name)
{
    struct aps_nearest nearest = {.word = name};
    char hint[APS_HINT_MAX];

    for (size_t i = 0; i < SUBCOMMANDS; i++)
        aps_nearest_offer(&nearest, subcommands[i]->name);
    aps_nearest_offer(&nearest, "help");
    fprintf(stderr, "apsmpi: unknown subcommand '%s'%s\n", name,
            aps_nearest_hint(nearest.best, hint));
    return APS_EXIT_USAGE;
}

static int help(int argc, char **argv)
{
    const struct aps_subcommand *subcommand;

    if (argc < 2) {
        print_help(stdout);
        return APS_EXIT_OK;
    }
    subcommand = find(argv[1]);
    if (!subcommand)
        return unknown(argv[1]);
    printf("usage: apsmpi %s", subcommand->help);
    return APS_EXIT_OK;
}

static int run(int argc, char **argv)
{
    const struct aps_subcommand *subcommand;

    if (argc < 2) {
        print_help(stderr);
        return APS_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("apsmpi " PACKAGE_VERSION "\n");
        return APS_EXIT_OK;
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0)
        return help(argc - 1, argv + 1);
    subcommand = find(argv[1]);
    if (!subcommand)
        return unknown(argv[1]);
    if (argc > 2 && strcmp(argv[2], "--help") == 0) {
        printf("usage: apsmpi %s", subcommand->help);
        return APS_EXIT_OK;
    }
    return subcommand->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    int status = run(argc, argv);

    /* A full disk or a closed pipe must not look like success. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("apsmpi: standard output");
        return APS_EXIT_FAILURE;
    }
    return status;
}

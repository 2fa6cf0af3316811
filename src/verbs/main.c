/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apsmpi: examines policies and number formats without running a program.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/nearest.h"
#include "base/options.h"
#include "base/switch.h"
#include "cli/command.h"
#include "cli/problems.h"

static const struct aps_subcommand *const subcommands[] = {
    &aps_subcommand_check,   &aps_subcommand_explain, &aps_subcommand_formats,
    &aps_subcommand_cast,    &aps_subcommand_snr,     &aps_subcommand_suggest,
    &aps_subcommand_measure, &aps_subcommand_bench,   &aps_subcommand_info,
};
#define SUBCOMMANDS (sizeof subcommands / sizeof subcommands[0])

static void print_help(FILE *stream)
{
    fprintf(stream, "usage: apsmpi SUBCOMMAND ...\n"
                    "       apsmpi -h | --help | --version\n"
                    "\n"
                    "subcommands:\n");
    for (size_t i = 0; i < SUBCOMMANDS; i++)
        fprintf(stream, "  %-8s  %s\n", subcommands[i]->name,
                subcommands[i]->summary);
    fprintf(stream, "  %-8s  %s\n", "help", "this text, or a subcommand's");
    fprintf(stream, "\nvariables that libapsmpi.so reads when preloaded:\n");
    aps_options_print(stream);
    fprintf(stream, "Words may be in small or capital letters\n%s.\n",
            APS_SWITCH_SYNONYMS);
}

static int print_version(void)
{
    printf("apsmpi " PACKAGE_VERSION "\n");
    return APS_EXIT_OK;
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
    if (name[0] == '-') {
        fprintf(stderr,
                "apsmpi: unknown option '%s'; options follow the subcommand, "
                "as in apsmpi check --json FILE\n",
                name);
        return APS_EXIT_USAGE;
    }
    fprintf(stderr, "apsmpi: unknown subcommand '%s'%s\n", name,
            aps_nearest_hint(nearest.best, hint));
    return APS_EXIT_USAGE;
}

static int help(int argc, char **argv)
{
    const struct aps_subcommand *subcommand;

    if (argc < 2 || argv[1][0] == '-') {
        print_help(stdout);
        return APS_EXIT_OK;
    }
    subcommand = find(argv[1]);
    if (!subcommand)
        return unknown(argv[1]);
    if (subcommand->become)
        return subcommand->become(
            (char *[]){argv[1], (char[]){"--help"}, NULL});
    aps_arguments_help(subcommand, stdout);
    return APS_EXIT_OK;
}

static int run_subcommand(const struct aps_subcommand *subcommand, int argc,
                          char **argv)
{
    const char *cpu = getenv("APSMPI_CPU");
    struct aps_arguments arguments;
    enum aps_cpu parsed;
    char cause[256];

    if (subcommand->become)
        return subcommand->become(argv);
    if (aps_arguments_parse(subcommand, argc, argv, &arguments, cause,
                            sizeof cause) < 0)
        return aps_problems_usage(&arguments, cause);
    if (arguments.help) {
        aps_arguments_help(subcommand, stdout);
        return APS_EXIT_OK;
    }
    if (arguments.version)
        return print_version();
    if (subcommand != &aps_subcommand_info && cpu && *cpu &&
        aps_cpu_parse(cpu, &parsed) < 0)
        return aps_problems_fail(&arguments, APS_EXIT_USAGE,
                                 "APSMPI_CPU='%s' is wrong; apsmpi info says "
                                 "which variants there are",
                                 cpu);
    return subcommand->run(&arguments);
}

static int run(int argc, char **argv)
{
    const struct aps_subcommand *subcommand;

    if (argc < 2) {
        print_help(stderr);
        return APS_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0)
        return print_version();
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
        strcmp(argv[1], "-h") == 0)
        return help(argc - 1, argv + 1);
    subcommand = find(argv[1]);
    if (!subcommand)
        return unknown(argv[1]);
    return run_subcommand(subcommand, argc - 1, argv + 1);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apsmpi check: is a policy right?
 */
#include "config.h"

#include <getopt.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/schedule.h"

static int check(const char *path)
{
    struct aps_policy *policy;
    char summary[256];

    if (aps_command_load(path, &policy) < 0)
        return APS_EXIT_FAILURE;
    if (aps_policy_layers(policy)) {
        struct aps_schedule *schedule = aps_schedule_create(policy);

        aps_schedule_warn(schedule, policy, path, stderr);
        aps_schedule_destroy(schedule);
    }
    printf("%s: ok: %s\n", path,
           aps_command_summary(policy, summary, sizeof summary));
    aps_policy_destroy(policy);
    return APS_EXIT_OK;
}

static int run(int argc, char **argv)
{
    static const struct option options[] = {{.name = NULL}};
    int status = APS_EXIT_OK;

    if (getopt_long(argc, argv, "", options, NULL) != -1 || optind == argc)
        return aps_command_usage(&aps_subcommand_check);
    for (; optind < argc; optind++) {
        if (check(argv[optind]) != APS_EXIT_OK)
            status = APS_EXIT_FAILURE;
    }
    return status;
}

const struct aps_subcommand aps_subcommand_check = {
    .name = "check",
    .summary = "say what is wrong with policies",
    .help = "check FILE...\n"
            "\n"
            "Reads each policy and the layer table it names. Prints one line\n"
            "for a policy that is right; everything wrong with it, as\n"
            "FILE:LINE:COLUMN: CAUSE, otherwise.\n",
    .run = run,
};

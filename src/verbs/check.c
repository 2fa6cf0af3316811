/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apsmpi check: checks policies.
 */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/problems.h"
#include "cli/schedule.h"

/* Writes the object of one file. */
static void write_result(struct aps_json *json, const char *path,
                         const struct aps_policy *policy, const char *summary,
                         const struct aps_errors *errors)
{
    const struct aps_layers *table = policy ? aps_policy_layers(policy) : NULL;

    aps_json_open_object(json, NULL);
    aps_json_text(json, "file", path);
    aps_json_bool(json, "ok", policy != NULL);
    aps_json_unsigned_or_null(json, "rules", policy,
                              policy ? aps_policy_rules(policy) : 0);
    aps_json_unsigned_or_null(json, "layers", table, table ? table->count : 0);
    aps_json_text(json, "summary", policy ? summary : NULL);
    aps_problems_write(json, errors);
    aps_json_close_object(json);
}

/* Warns of a log in a directory that does not exist here. */
static void warn_log(const struct aps_policy *policy, const char *path,
                     struct aps_errors *errors)
{
    const char *file = aps_policy_log(policy)->file;
    const char *slash = file ? strrchr(file, '/') : NULL;
    char folder[PATH_MAX];

    if (!slash || slash == file || slash - file >= PATH_MAX)
        return;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - file), file);
    if (access(folder, F_OK) != 0)
        aps_errors_warn(errors, path, 0, 0,
                        "log: there is no directory '%s' here; if rank 0 has "
                        "none either, the job runs without a log",
                        folder);
}

/* Checks the policy at `path`, or, if it is NULL, one with the candidates
 * alone. `json`: the object is written there; NULL: prints lines. */
static int check(const char *path, const char *candidates,
                 struct aps_json *json)
{
    struct aps_errors *errors = aps_command_alloc(1, sizeof *errors);
    struct aps_policy *policy = NULL;
    char summary[256] = "";
    int status = APS_EXIT_FAILURE;

    if (!path)
        path = APS_COMMAND_SHADOW;
    if (aps_command_load(path, candidates, &policy, errors) == 0) {
        if (aps_policy_layers(policy)) {
            struct aps_schedule *schedule = aps_schedule_create(policy);

            aps_schedule_warn(schedule, policy, path, errors);
            aps_schedule_destroy(schedule);
        }
        warn_log(policy, path, errors);
        aps_command_summary(policy, summary, sizeof summary);
        status = APS_EXIT_OK;
    }
    if (json) {
        write_result(json, path, policy, summary, errors);
    } else {
        aps_problems_print(errors);
        if (policy)
            printf("%s: ok: %s\n", path, summary);
    }
    aps_policy_destroy(policy);
    free(errors);
    return status;
}

static int check_all(const struct aps_arguments *arguments,
                     struct aps_json *json)
{
    const char *candidates = aps_arguments_option(arguments, "shadow");
    int status = APS_EXIT_OK;

    if (arguments->count == 0)
        return check(NULL, candidates, json);
    for (size_t i = 0; i < arguments->count; i++)
        if (check(arguments->operands[i], candidates, json) != APS_EXIT_OK)
            status = APS_EXIT_FAILURE;
    return status;
}

/* Writes the objects of the files to memory first, because `ok`, for all of
 * them, precedes them. */
static int check_json(const struct aps_arguments *arguments)
{
    char *text = NULL;
    size_t size;
    struct aps_json files = {.stream = open_memstream(&text, &size)}, json;
    int status;

    if (!files.stream)
        return aps_problems_fail(arguments, APS_EXIT_FAILURE, "out of memory");
    status = check_all(arguments, &files);
    if (fclose(files.stream) != 0) {
        free(text);
        return aps_problems_fail(arguments, APS_EXIT_FAILURE, "out of memory");
    }
    aps_problems_open(&json, arguments, status == APS_EXIT_OK);
    aps_json_open_array(&json, "files");
    fputs(text, json.stream);
    aps_json_close_array(&json);
    aps_problems_close(&json);
    free(text);
    return status;
}

static int run(const struct aps_arguments *arguments)
{
    if (arguments->count == 0 && !aps_arguments_option(arguments, "shadow"))
        return aps_problems_usage(arguments, "FILE is missing");
    return arguments->json ? check_json(arguments) : check_all(arguments, NULL);
}

const struct aps_subcommand aps_subcommand_check = {
    .name = "check",
    .summary = "say what is wrong with policies",
    .operands = "[FILE...]",
    .help = "Reads each policy and the layer table it names. Prints one line\n"
            "for a policy that is right; everything wrong with it, as\n"
            "FILE:LINE:COLUMN: CAUSE, otherwise.\n",
    .options = {{"shadow", "FORMATS",
                 "with these candidates instead of the policy's own, as\n"
                 "apsmpi-run --shadow has them; without FILE, them alone"},
                {"json", NULL, "the same as a JSON object"}},
    .most = INT_MAX,
    .run = run,
};

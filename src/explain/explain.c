/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apsmpi explain: the effect of a policy on each layer, over time.
 */
#include "config.h"

#include <stdlib.h>

#include "predictions/cluster.h"
#include "cli/command.h"
#include "explain/explain_json.h"
#include "explain/explain_text.h"
#include "predictions/predictions_text.h"
#include "cli/problems.h"
#include "cli/schedule.h"
#include "text/ranges.h"

/* Explains a policy without errors; `epochs` and `cluster` may be NULL. Frees
 * nothing. */
static int explain(const struct aps_arguments *arguments,
                   const struct aps_policy *policy,
                   const struct aps_range *epochs, struct aps_cluster *cluster,
                   struct aps_errors *errors)
{
    const char *path = arguments->operands[0];
    const bool each_layer = aps_arguments_option(arguments, "layer-counts");
    const bool type = aps_arguments_option(arguments, "type");
    struct aps_schedule *schedule = NULL;
    struct aps_range window = {0, 0};
    int status = APS_EXIT_OK;

    if (cluster)
        aps_cluster_set_threads(cluster, aps_policy_threads(policy));
    if (!aps_policy_layers(policy) && (epochs || each_layer || type))
        return aps_problems_fail(arguments, APS_EXIT_FAILURE,
                                 "%s needs a layer table in the policy",
                                 epochs       ? "--epochs"
                                 : each_layer ? "--layer-counts"
                                              : "--type");
    if (aps_policy_layers(policy)) {
        schedule = aps_schedule_create(policy);
        aps_schedule_warn(schedule, policy, path, errors);
        window.last = (long)schedule->span_count - 1;
    }
    if (epochs && aps_schedule_clip(schedule, policy, *epochs, &window) < 0) {
        status = aps_problems_fail(
            arguments, APS_EXIT_FAILURE,
            "--epochs: the policy does not say how long an epoch is (steps: "
            "{per_epoch: N})");
    } else if (arguments->json) {
        aps_explain_json(arguments, path, policy, schedule, &window, cluster,
                         errors);
    } else {
        aps_problems_print(errors);
        aps_explain_text(path, policy, schedule, &window, each_layer);
        if (cluster)
            aps_predictions_print(cluster, policy, schedule, &window,
                                  each_layer);
    }
    aps_schedule_destroy(schedule);
    return status;
}

static int explain_file(const struct aps_arguments *arguments,
                        const struct aps_range *epochs,
                        enum aps_element element, struct aps_cluster *cluster)
{
    const char *path = arguments->operands[0];
    struct aps_errors *errors = aps_command_alloc(1, sizeof *errors);
    struct aps_policy *policy;
    int status = APS_EXIT_FAILURE;

    if (aps_command_load(path, NULL, &policy, errors) == 0) {
        if (element != APS_ELEMENT_NONE)
            aps_policy_set_type(policy, element);
        status = explain(arguments, policy, epochs, cluster, errors);
        aps_policy_destroy(policy);
    } else if (arguments->json) {
        aps_explain_json(arguments, path, NULL, NULL, NULL, NULL, errors);
    } else {
        aps_problems_print(errors);
    }
    free(errors);
    return status;
}

static int run(const struct aps_arguments *arguments)
{
    const char *range = aps_arguments_option(arguments, "epochs");
    const char *type = aps_arguments_option(arguments, "type");
    const enum aps_element element =
        type ? aps_element_find(type) : APS_ELEMENT_NONE;
    struct aps_cluster cluster;
    struct aps_range epochs;
    const char *why;
    int status, asked;

    if (range && aps_range_parse(range, &epochs, &why) < 0)
        return aps_problems_fail(arguments, APS_EXIT_USAGE, "--epochs '%s' %s",
                                 range, why);
    if (type && element == APS_ELEMENT_NONE)
        return aps_problems_fail(
            arguments, APS_EXIT_USAGE,
            "--type '%s': the types are float, bf16, fp16 and double", type);
    asked = aps_cluster_read(arguments, &cluster, &status);
    if (asked < 0)
        return status;
    status = explain_file(arguments, range ? &epochs : NULL, element,
                          asked ? &cluster : NULL);
    if (asked)
        aps_cluster_clear(&cluster);
    return status;
}

const struct aps_subcommand aps_subcommand_explain = {
    .name = "explain",
    .summary = "show what a policy does to each layer, and when",
    .operands = "FILE",
    .help =
        "Resolves the policy for every layer of its table and prints its\n"
        "effect: format on the wire, scale, reduction, the line of the rule,\n"
        "bytes per element and bytes saved per step against MPI's. Neighbours\n"
        "with the same plan share a row. A policy without a layer table is\n"
        "explained rule by rule. Notes after the table say what ring, master,\n"
        "gather and auto send, and what progress and fuse mean; a second\n"
        "table has the rules for calls other than all-reduces.\n"
        "\n"
        "With --hosts or --measured it also predicts the time of the\n"
        "all-reduces of a step on a cluster, and that of native ones. Layers\n"
        "that a compressor takes are not predicted, and not in the sums.\n",
    .options = {{"epochs", "A-B", "these epochs only (N, A-B or A-)"},
                {"layer-counts", NULL,
                 "one row for each layer, with its own count"},
                {"type", "TYPE",
                 "type of the elements of all layers (default: the table's\n"
                 "column `type`, or float)"},
                {"json", NULL,
                 "all of it as a JSON object, one plan a layer and time"},
                {"hosts", "N", "predict times on this number of hosts"},
                {"ranks-per-host", "N", "ranks of each (default 1)"},
                {"rate", "R", "what a host's link carries each way, as 25gbit"},
                {"latency", "T", "from host to host, as 10us (default 2us)"},
                {"cores", "N", "cores of a host (default: one a rank)"},
                {"measured", "FILE",
                 "what `apsmpi measure` wrote on the cluster"},
                {"counts", "LIST",
                 "floats of all-reduces, without a layer table\n"
                 "(default 4Ki,64Ki,1Mi,16Mi)"}},
    .least = 1,
    .most = 1,
    .run = run,
};

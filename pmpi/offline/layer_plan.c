/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "offline/layer_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "explain/traffic.h"
#include "grammar/plan_text.h"
#include "number/struct_version.h"

/* Names of the texts in errors. */
#define POLICY_NAME "policy"
#define TABLE_NAME "table"

/* --- policies ------------------------------------------------------------- */

/* Parses a source. The first error becomes that of the call. */
static int policy_parse(const struct aps_policy_source *source,
                        struct aps_policy **policy, struct aps_error *error)
{
    struct aps_errors *errors = calloc(1, sizeof *errors);
    int result;

    if (!errors)
        return aps_error_set(error, ENOMEM, NULL, 0, 0, "out of memory");
    result = aps_policy_parse(source, policy, errors);
    if (result < 0 && error)
        *error = errors->list[0];
    free(errors);
    if (result < 0)
        errno = EINVAL;
    return result;
}

int aps_policy_open(const char *text, const char *table,
                    struct aps_policy **policy, struct aps_error *error)
{
    struct aps_policy_source source = {
        .path = (char *)(uintptr_t)POLICY_NAME,
        .text = (char *)(uintptr_t)text,
        .layers_path = table ? (char *)(uintptr_t)TABLE_NAME : NULL,
        .layers_text = (char *)(uintptr_t)table,
    };
    struct aps_policy *opened;

    if (!text || !policy)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "aps_policy_open: %s is NULL",
                             text ? "policy" : "text");
    source.length = strlen(text);
    source.layers_length = table ? strlen(table) : 0;
    if (policy_parse(&source, &opened, error) < 0)
        return -1;
    if (table && !aps_policy_layers(opened)) {
        aps_policy_destroy(opened);
        return aps_error_set(error, EINVAL, POLICY_NAME, 0, 0,
                             "a layer table is given, but the policy names "
                             "none; add 'table: FILE' to the policy");
    }
    *policy = opened;
    return 0;
}

int aps_policy_read(const char *path, struct aps_policy **policy,
                    struct aps_error *error)
{
    struct aps_errors *errors;
    struct aps_policy_source source;
    int result;

    if (!path || !policy)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "aps_policy_read: %s is NULL",
                             path ? "policy" : "path");
    errors = calloc(1, sizeof *errors);
    if (!errors)
        return aps_error_set(error, ENOMEM, NULL, 0, 0, "out of memory");
    result = aps_policy_source_read(path, &source, errors);
    if (result < 0 && error)
        *error = errors->list[0];
    free(errors);
    if (result < 0) {
        errno = EINVAL;
        return -1;
    }
    result = policy_parse(&source, policy, error);
    aps_policy_source_clear(&source);
    return result;
}

void aps_policy_close(struct aps_policy *policy)
{
    aps_policy_destroy(policy);
}

/* --- requests ------------------------------------------------------------- */

static int request_read(const char *who, const struct aps_layer_request *given,
                        struct aps_layer_request *request,
                        struct aps_error *error)
{
    static const struct aps_layer_request defaults = APS_LAYER_REQUEST_INIT;
    static const struct aps_struct_version version = {
        .name = "aps_layer_request",
        .init = "APS_LAYER_REQUEST_INIT",
        .first = sizeof defaults,
        .size = sizeof defaults,
        .defaults = &defaults,
    };

    if (!given)
        return aps_error_set(error, EINVAL, NULL, 0, 0, "%s: request is NULL",
                             who);
    if (aps_struct_version_read(who, &version, given, request, error) < 0)
        return -1;
    if (request->layer < -1 || request->epoch < 0 || request->step < 0 ||
        request->ranks < 0)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: the layer, epoch, step and ranks of a "
                             "request must not be negative",
                             who);
    return 0;
}

/* Completes the key by the layer's row of the table. */
static int request_find_row(const char *who, const struct aps_policy *policy,
                            const struct aps_layer_request *request,
                            struct aps_plan_key *key, struct aps_error *error)
{
    const struct aps_layers *table = aps_policy_layers(policy);
    const size_t rows = table ? table->count : 0;
    size_t i = request->layer < 0 ? 0 : (size_t)request->layer;

    if (request->name)
        for (i = 0;
             i < rows && strcmp(table->list[i].name, request->name) != 0;)
            i++;
    if (table && (request->name || request->layer >= 0)) {
        if (i >= rows && request->name)
            return aps_error_set(error, EINVAL, NULL, 0, 0,
                                 "%s: layer '%.200s' is not in the policy's "
                                 "table of %zu layers",
                                 who, request->name, rows);
        if (i >= rows)
            return aps_error_set(error, EINVAL, NULL, 0, 0,
                                 "%s: layer %zu is not in the policy's table "
                                 "of %zu layers",
                                 who, i, rows);
        if (request->count != 0 && request->count != table->list[i].count)
            return aps_error_set(error, EINVAL, NULL, 0, 0,
                                 "%s: layer '%.200s' has %zu elements in the "
                                 "table, not %zu",
                                 who, table->list[i].name, table->list[i].count,
                                 request->count);
        key->layer = (long)i;
        key->layers = (long)rows;
        key->name = table->list[i].name;
        key->count = table->list[i].count;
    } else if (request->name) {
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: layer '%.200s' has a name, but the policy "
                             "has no layer table",
                             who, request->name);
    }
    return 0;
}

int aps_layer_plan_find(const char *who, const struct aps_policy *policy,
                        const struct aps_layer_request *given, int ranks,
                        struct aps_layer_plan *found, struct aps_error *error)
{
    struct aps_layer_request request;
    struct aps_plan_key *key = &found->key;

    if (!policy)
        return aps_error_set(error, EINVAL, NULL, 0, 0, "%s: policy is NULL",
                             who);
    if (request_read(who, given, &request, error) < 0)
        return -1;
    *key = (struct aps_plan_key){
        .call = APS_CALL_ALLREDUCE,
        .element = APS_ELEMENT_FLOAT,
        .ranks = ranks > 0 ? ranks : request.ranks,
        .layer = aps_policy_steps(policy)->kind == APS_STEPS_NONE
                     ? -1
                     : (long)request.layer,
        .count = request.count,
        .epoch = (long)request.epoch,
        .step = (long)request.step,
    };
    if (request_find_row(who, policy, &request, key, error) < 0)
        return -1;
    if (key->count == 0)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: the request has no count; set the layer's "
                             "elements",
                             who);
    aps_policy_resolve(policy, key, &found->plan);
    return 0;
}

/* --- plans ---------------------------------------------------------------- */

int aps_layer_plan_create(const struct aps_policy *policy,
                          const struct aps_layer_request *request,
                          struct aps_layer_plan **plan, struct aps_error *error)
{
    struct aps_layer_plan *made = malloc(sizeof *made);

    if (!made)
        return aps_error_set(error, ENOMEM, NULL, 0, 0, "out of memory");
    if (aps_layer_plan_find("aps_layer_plan_create", policy, request, 0, made,
                            error) < 0) {
        free(made);
        return -1;
    }
    *plan = made;
    return 0;
}

void aps_layer_plan_destroy(struct aps_layer_plan *plan)
{
    free(plan);
}

int aps_layer_plan_check(const char *who, const struct aps_layer_plan *plan,
                         struct aps_error *error)
{
    if (!plan)
        return aps_error_set(error, EINVAL, NULL, 0, 0, "%s: plan is NULL",
                             who);
    if (!plan->plan.rewrite)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: the policy leaves a layer of %zu elements to "
                             "MPI (no rule matches, format: fp32, or fewer "
                             "than min_count)",
                             who, plan->key.count);
    if (plan->plan.auto_format)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: the policy chooses the format while a "
                             "program runs; name one format",
                             who);
    return 0;
}

int aps_layer_plan_rule(const struct aps_layer_plan *plan)
{
    return plan->plan.rule;
}

bool aps_layer_plan_is_reduced(const struct aps_layer_plan *plan)
{
    return plan->plan.rewrite;
}

const struct aps_format *
aps_layer_plan_format(const struct aps_layer_plan *plan)
{
    return aps_format_get(plan->plan.rewrite ? plan->plan.format.name : "fp32",
                          NULL);
}

size_t aps_layer_plan_bytes(const struct aps_layer_plan *plan)
{
    return aps_plan_compresses(&plan->plan)
               ? aps_traffic_compressed(&plan->plan, &plan->plan.matrix)
               : aps_traffic_bytes(&plan->plan, plan->key.element,
                                   plan->key.count);
}

/* Writes "{format: {auto: [e4m3, e5m10], target: snr 20dB}}". */
static void describe_auto(const struct aps_auto_format *formats, char *buffer,
                          size_t size)
{
    const struct aps_shadow *list = &formats->formats;
    char target[64];
    size_t used = (size_t)snprintf(buffer, size, "{format: {auto: [");

    for (size_t i = 0; i < list->count && used < size; i++)
        used += (size_t)snprintf(buffer + used, size - used, "%s%s",
                                 i > 0 ? ", " : "", list->plans[i].format.name);
    if (used < size)
        snprintf(buffer + used, size - used, "], target: %s}}",
                 aps_auto_format_target(formats, target, sizeof target));
}

char *aps_layer_plan_describe(const struct aps_layer_plan *plan, char *buffer,
                              size_t size)
{
    if (!plan->plan.rewrite)
        snprintf(buffer, size, "{format: fp32}");
    else if (plan->plan.auto_format)
        describe_auto(plan->plan.auto_format, buffer, size);
    else
        aps_plan_text(&plan->plan, buffer, size);
    return buffer;
}

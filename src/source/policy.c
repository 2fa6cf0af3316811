/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "policy/policy.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/gemm.h"
#include "source/object.h"
#include "policy/keywords.h"

void aps_policy_destroy(struct aps_policy *policy)
{
    if (!policy)
        return;
    for (size_t i = 0; policy->rules && i <= policy->rule_count; i++)
        aps_rule_clear(&policy->rules[i]);
    free(policy->rules);
    aps_gemm_destroy(policy->gemm);
    aps_layers_destroy(policy->layers);
    free((char *)policy->log.file);
    free(policy);
}

const struct aps_policy_steps *aps_policy_steps(const struct aps_policy *policy)
{
    return &policy->steps;
}

const struct aps_policy_log *aps_policy_log(const struct aps_policy *policy)
{
    return &policy->log;
}

const struct aps_policy_gemm *aps_policy_gemm(const struct aps_policy *policy)
{
    return policy->gemm;
}

enum aps_progress_kind aps_policy_progress(const struct aps_policy *policy)
{
    return policy->progress;
}

size_t aps_policy_fuse(const struct aps_policy *policy)
{
    return policy->fuse;
}

int aps_policy_threads(const struct aps_policy *policy)
{
    return policy->threads;
}

size_t aps_policy_min_count(const struct aps_policy *policy)
{
    return policy->min_count;
}

const struct aps_layers *aps_policy_layers(const struct aps_policy *policy)
{
    return policy->layers;
}

static bool is_for(const struct aps_rule *rule, enum aps_call_kind call)
{
    return (rule->calls >> call & 1) != 0;
}

bool aps_policy_by_step(const struct aps_policy *policy,
                        enum aps_call_kind call)
{
    for (size_t i = 0; i < policy->rule_count; i++) {
        if (policy->rules[i].by_step && is_for(&policy->rules[i], call))
            return true;
    }
    return false;
}

bool aps_policy_names(const struct aps_policy *policy, enum aps_call_kind call)
{
    if (call == APS_CALL_ALLREDUCE && aps_policy_shadows(policy))
        return true;
    for (size_t i = 0; i < policy->rule_count; i++)
        if (is_for(&policy->rules[i], call))
            return true;
    return false;
}

bool aps_policy_probes(const struct aps_policy *policy)
{
    return policy && policy->probes;
}

bool aps_policy_measures(const struct aps_policy *policy)
{
    return policy && policy->measures;
}

unsigned aps_policy_elements(const struct aps_policy *policy)
{
    return policy && policy->types ? policy->types : APS_ELEMENTS_DEFAULT;
}

bool aps_policy_pcontrol(const struct aps_policy *policy)
{
    return policy->pcontrol;
}

bool aps_policy_shadows(const struct aps_policy *policy)
{
    for (size_t i = 0; policy->rules && i <= policy->rule_count; i++)
        if (policy->rules[i].shadow.count > 0)
            return true;
    return false;
}

const struct aps_shadow *aps_policy_shadow(const struct aps_policy *policy,
                                           int rule)
{
    static const struct aps_shadow none;

    if (!policy->rules)
        return &none;
    return &policy->rules[rule < 0 ? policy->rule_count : (size_t)rule].shadow;
}

double aps_policy_budget(const struct aps_policy *policy)
{
    return policy->budget;
}

bool aps_policy_chooses(const struct aps_policy *policy)
{
    for (size_t i = 0; i < policy->rule_count; i++)
        if (policy->rules[i].plan.auto_format)
            return true;
    return false;
}

void aps_policy_set_type(struct aps_policy *policy, enum aps_element element)
{
    for (size_t i = 0; policy->layers && i < policy->layers->count; i++)
        policy->layers->list[i].element = element;
}

struct aps_plan_key aps_plan_key_of(const struct aps_layers *table, size_t i)
{
    return (struct aps_plan_key){.call = APS_CALL_ALLREDUCE,
                                 .element = table->list[i].element,
                                 .layer = (long)i,
                                 .layers = (long)table->count,
                                 .name = table->list[i].name,
                                 .count = table->list[i].count};
}

size_t aps_policy_rules(const struct aps_policy *policy)
{
    return policy->rule_count;
}

int aps_policy_rule_line(const struct aps_policy *policy, int rule)
{
    return policy->rules[rule].line;
}

int aps_policy_rule_column(const struct aps_policy *policy, int rule)
{
    return policy->rules[rule].column;
}

const char *aps_policy_rule_name(const struct aps_policy *policy, int rule)
{
    return rule < 0 ? NULL : policy->rules[rule].name;
}

const struct aps_plan *aps_policy_rule_plan(const struct aps_policy *policy,
                                            int rule)
{
    return &policy->rules[rule].plan;
}

unsigned aps_policy_rule_calls(const struct aps_policy *policy, int rule)
{
    return policy->rules[rule].calls;
}

/* Returns the first earlier rule that takes all all-reduces of `count` values,
 * in any layer at any time; or NULL. */
static const struct aps_rule *rule_before(const struct aps_policy *policy,
                                          int rule, size_t count)
{
    for (int i = 0; i < rule; i++) {
        const struct aps_rule *before = &policy->rules[i];

        if (is_for(before, APS_CALL_ALLREDUCE) && !before->by_layer &&
            aps_rule_always_holds(before) && count >= before->min_count &&
            count <= before->max_count)
            return before;
    }
    return NULL;
}

bool aps_policy_rule_takes(const struct aps_policy *policy, int rule,
                           size_t count)
{
    const struct aps_rule *r = &policy->rules[rule];

    return is_for(r, APS_CALL_ALLREDUCE) && count >= policy->min_count &&
           count >= r->min_count && count <= r->max_count &&
           !rule_before(policy, rule, count);
}

bool aps_policy_rule_counts(const struct aps_policy *policy, int rule,
                            size_t *least, size_t *most)
{
    const struct aps_rule *r = &policy->rules[rule], *before;

    *least =
        r->min_count > policy->min_count ? r->min_count : policy->min_count;
    *most = r->max_count;
    if (*least == 0)
        *least = 1;
    if (!is_for(r, APS_CALL_ALLREDUCE))
        return false;
    while (*least <= *most &&
           (before = rule_before(policy, rule, *least)) != NULL) {
        if (before->max_count == SIZE_MAX)
            return false;
        *least = before->max_count + 1;
    }
    /* The loop does not pass *least, which no earlier rule takes. */
    while (*least < *most &&
           (before = rule_before(policy, rule, *most)) != NULL)
        *most = before->min_count - 1;
    return *least <= *most;
}

/* Appends "; WHAT RANGES" to the text in buffer. */
static void append_ranges(char *buffer, size_t size, const char *what,
                          const struct aps_ranges *ranges, const char *suffix)
{
    size_t used = strlen(buffer);
    char text[128];

    aps_ranges_format(ranges, text, sizeof text);
    snprintf(buffer + used, size - used, "%s%s %s%s%s", used > 0 ? "; " : "",
             what, text, ranges->count > 0 && suffix[0] ? ", " : "", suffix);
}

char *aps_policy_rule_when(const struct aps_policy *policy, int rule,
                           enum aps_call_kind call, char *buffer, size_t size)
{
    const struct aps_rule *r = &policy->rules[rule];
    size_t used;

    if (size == 0)
        return buffer;
    buffer[0] = '\0';
    if (r->types != APS_ELEMENTS_DEFAULT) {
        char types[64];

        aps_keywords_list(&aps_keywords_type, r->types, ", ", types,
                          sizeof types);
        snprintf(buffer, size, "types %s", types);
    }
    if (r->by_communicator)
        append_ranges(buffer, size, "ranks", &r->communicators, "");
    if (r->by_layer && call == APS_CALL_ALLREDUCE)
        append_ranges(buffer, size, "layers", &r->layers.indices,
                      r->layers.last ? "last" : "");
    if (r->by_epoch)
        append_ranges(buffer, size, "epochs", &r->epochs, "");
    if (r->by_step)
        append_ranges(buffer, size, "steps", &r->steps, "");
    used = strlen(buffer);
    if (r->min_count > policy->min_count) {
        snprintf(buffer + used, size - used, "%scount >= %zu",
                 used > 0 ? "; " : "", r->min_count);
        used = strlen(buffer);
    }
    if (r->max_count != SIZE_MAX) {
        snprintf(buffer + used, size - used, "%scount <= %zu",
                 used > 0 ? "; " : "", r->max_count);
        used = strlen(buffer);
    }
    if (used == 0)
        snprintf(buffer, size, "always");
    return buffer;
}

/* Returns the smaller of two times, of which -1 means never. */
static long sooner(long a, long b)
{
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    return a < b ? a : b;
}

long aps_policy_next_epoch(const struct aps_policy *policy,
                           enum aps_call_kind call, long epoch)
{
    long next = -1;

    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct aps_rule *rule = &policy->rules[i];

        if (is_for(rule, call))
            next = sooner(next, aps_ranges_next(&rule->epochs, epoch));
    }
    return next;
}

long aps_policy_next_step(const struct aps_policy *policy,
                          enum aps_call_kind call, long step)
{
    long next = -1;

    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct aps_rule *rule = &policy->rules[i];

        if (is_for(rule, call))
            next = sooner(next, aps_ranges_next(&rule->steps, step));
    }
    return next;
}

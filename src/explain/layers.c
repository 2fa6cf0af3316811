/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "explain/layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

/* Consequences for layers that steps: auto takes for one: a list, joined as in
 * a sentence. Empty: layers have no state. */
struct fates {
    const char *list[4];
    size_t count;
};

static void add_fate(struct fates *fates, bool applies, const char *fate)
{
    if (applies)
        fates->list[fates->count++] = fate;
}

static struct fates fates_of(const struct aps_policy *policy)
{
    bool adds = false, keeps = false, scales = false;
    struct fates fates = {.count = 0};

    for (int i = 0; i < (int)aps_policy_rules(policy); i++) {
        const struct aps_plan *plan = aps_policy_rule_plan(policy, i);

        if (!plan->rewrite)
            continue;
        adds |= plan->feedback;
        keeps |= !plan->feedback && aps_plan_remembers(plan);
        scales |= aps_scale_state_bytes(&plan->scale) > 0 &&
                  aps_scale_scope(&plan->scale) == APS_SCOPE_LAYER;
    }
    add_fate(&fates, aps_policy_chooses(policy) || aps_policy_shadows(policy),
             "they are measured as one");
    add_fate(&fates, scales, "they share the state of a scale");
    add_fate(&fates, keeps, "they share what the compressor keeps");
    add_fate(&fates, adds, "what one leaves out is added to the other");
    return fates;
}

/* Prints the note if only the sizes of calls distinguish layers. */
static void print_auto_note(const struct aps_policy *policy)
{
    const struct fates fates = fates_of(policy);
    char note[600];

    if (fates.count == 0)
        return;
    snprintf(note, sizeof note,
             "steps: auto knows the layers by the sizes of their calls: where "
             "the sizes repeat within a step, as where all are the same, "
             "layers of the same size count as one layer:");
    for (size_t i = 0; i < fates.count; i++)
        snprintf(note + strlen(note), sizeof note - strlen(note), "%s %s",
                 i == 0                 ? ""
                 : i + 1 == fates.count ? ", and"
                                        : ",",
                 fates.list[i]);
    snprintf(note + strlen(note), sizeof note - strlen(note),
             "; a layer table or steps: {calls: N} tells them apart.");
    aps_command_note(note);
}

static int compare_sizes(const void *a, const void *b)
{
    const struct aps_layer_row *const *x = a, *const *y = b;

    if ((*x)->count != (*y)->count)
        return ((*x)->count > (*y)->count) - ((*x)->count < (*y)->count);
    return (*x > *y) - (*x < *y);
}

/* Writes ": a, b (64); c, d (32)", the layers of equal size that have calls. */
static void list_equal_sizes(const struct aps_policy *policy, char *list,
                             size_t size)
{
    const struct aps_layers *table = aps_policy_layers(policy);
    const struct aps_layer_row **rows =
        aps_command_alloc(table->count, sizeof *rows);
    size_t used = 0, next;

    for (size_t i = 0; i < table->count; i++)
        rows[i] = &table->list[i];
    qsort(rows, table->count, sizeof *rows, compare_sizes);
    for (size_t i = 0; i < table->count; i = next) {
        const size_t count = rows[i]->count;

        for (next = i + 1; next < table->count && rows[next]->count == count;)
            next++;
        if (next - i < 2 || count < aps_policy_min_count(policy))
            continue;
        for (size_t k = i; k < next && used < size; k++)
            used += (size_t)snprintf(list + used, size - used, "%s%s",
                                     k > i       ? ", "
                                     : used == 0 ? ": "
                                                 : "; ",
                                     rows[k]->name);
        if (used < size)
            used += (size_t)snprintf(list + used, size - used, " (%zu)", count);
    }
    free(rows);
}

static void print_any_note(const struct aps_policy *policy)
{
    const bool table = aps_policy_layers(policy) != NULL;
    char equal[400] = "", note[900];

    if (table)
        list_equal_sizes(policy, equal, sizeof equal);
    snprintf(
        note, sizeof note,
        "order any: each call is the layer of its size. Layers of one size "
        "are told apart by the order of their calls among themselves, which "
        "the program must keep%s. %s Only rules without layers apply to a "
        "call of another size.",
        equal,
        table ? "A step ends when all layers have come."
              : "The library learns the sizes from two steps; layer 0 is "
                "the largest.");
    aps_command_note(note);
}

void aps_layers_note(const struct aps_policy *policy)
{
    const enum aps_steps_kind kind = aps_policy_steps(policy)->kind;

    if (aps_policy_steps(policy)->any && kind != APS_STEPS_NONE)
        print_any_note(policy);
    else if (kind == APS_STEPS_AUTO)
        print_auto_note(policy);
    else if (kind == APS_STEPS_NONE &&
             (aps_policy_chooses(policy) || aps_policy_shadows(policy)))
        aps_command_note(
            "steps: none: all calls of the same size count as one layer, and "
            "are measured as one; a layer table or steps: {calls: N} tells "
            "them apart.");
}

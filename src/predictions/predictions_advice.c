/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "predictions/predictions_advice.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "base/print.h"
#include "cli/command.h"
#include "predictions/predictions.h"
#include "predict/quantity.h"

#define TIME_MAX 24

static void note_where_it_pays(const struct aps_advice *advice, char *note,
                               size_t size)
{
    const char *native = advice->wide ? "native FP64" : "native FP32";
    const char *values = advice->wide ? "doubles" : "floats";
    char rate[TIME_MAX], range[80] = "";

    if (advice->most < SIZE_MAX)
        snprintf(range, sizeof range, " that the rule takes (%zu to %zu %s)",
                 advice->least, advice->most, values);
    else if (advice->least > 1)
        snprintf(range, sizeof range, " that the rule takes (%zu %s and more)",
                 advice->least, values);
    if (advice->least_count == SIZE_MAX)
        snprintf(note, size, "%s is faster for every count%s. ", native, range);
    else if (advice->least_count <= advice->least)
        snprintf(note, size, "faster than %s for every count%s. ", native,
                 range);
    else if (advice->most < SIZE_MAX)
        snprintf(note, size,
                 "faster than %s from %zu %s on, up to the %zu that the rule "
                 "takes. ",
                 native, advice->least_count, values, advice->most);
    else
        snprintf(note, size, "faster than %s from %zu %s on. ", native,
                 advice->least_count, values);
    note += strlen(note);
    if (advice->most_rate > 0 && advice->most_rate < INFINITY)
        snprintf(
            note, size / 2,
            "With %zu %s it is faster as long as links carry less than %s. ",
            advice->largest, values,
            aps_quantity_format_rate(advice->most_rate, rate, sizeof rate));
}

static void note_groups(const struct aps_advice *advice, char *note,
                        size_t size)
{
    char now[TIME_MAX], best[TIME_MAX];

    note[0] = '\0';
    if (advice->group == 0)
        return;
    aps_quantity_format_time(advice->seconds, now, sizeof now);
    aps_quantity_format_time(advice->best_seconds, best, sizeof best);
    if (advice->best_group == advice->group)
        snprintf(note, size, "The group of %d is the best. ", advice->group);
    else
        snprintf(note, size,
                 "The best group is %d: %s in place of %s with %d. ",
                 advice->best_group, best, now, advice->group);
}

static void note_bits(const struct aps_advice *advice, char *note, size_t size)
{
    const struct aps_variance_sum *sum = &advice->sum;
    char terms[120];

    note[0] = '\0';
    if (sum->group == 0)
        return;
    if (sum->group > 1 && sum->groups > 1)
        snprintf(terms, sizeof terms,
                 "Sums of %zu contributions in each of %zu groups, and of the "
                 "groups,",
                 sum->group, sum->groups);
    else
        snprintf(
            terms, sizeof terms, "A sum of %zu %s", sum->group * sum->groups,
            sum->group > 1 || advice->group <= 1 ? "contributions" : "groups");
    aps_print(
        note, size,
        "%s keep%s %.1f %% of their variance with %d mantissa bit%s (Sakr "
        "et al. 2019); %d bit%s %s enough.",
        terms, sum->group > 1 && sum->groups > 1 ? "" : "s",
        100 * advice->retained, advice->sum_bits,
        aps_plural((size_t)advice->sum_bits), advice->bits,
        aps_plural((size_t)advice->bits), aps_plural_are((size_t)advice->bits));
}

/* `format`: one of those that the rule chooses from, or NULL. */
static void print_rule(struct aps_cluster *cluster,
                       const struct aps_policy *policy,
                       const struct aps_schedule *schedule, long span, int rule,
                       const struct aps_plan *format)
{
    char pays[300], groups[200], bits[300], line[APS_COMMAND_RULE_MAX];
    char note[1000];
    struct aps_advice advice;

    if (!aps_advice_of(cluster, policy, schedule, span, rule, format, &advice))
        return;
    note_where_it_pays(&advice, pays, sizeof pays);
    note_groups(&advice, groups, sizeof groups);
    note_bits(&advice, bits, sizeof bits);
    snprintf(note, sizeof note, "rule of line %s%s%s: %s%s%s",
             aps_command_rule(policy, rule, line), format ? ", " : "",
             format ? format->format.name : "", pays, groups, bits);
    aps_command_note(note);
}

void aps_predictions_print_advice(struct aps_cluster *cluster,
                                  const struct aps_policy *policy,
                                  const struct aps_schedule *schedule,
                                  long span)
{
    for (int i = 0; i < (int)aps_policy_rules(policy); i++) {
        const struct aps_shadow *formats = aps_predicted_formats(policy, i);

        for (size_t f = 0; f < formats->count; f++)
            print_rule(cluster, policy, schedule, span, i, &formats->plans[f]);
        if (formats->count == 0)
            print_rule(cluster, policy, schedule, span, i, NULL);
    }
}

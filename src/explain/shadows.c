/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "explain/shadows.h"

#include <stdint.h>
#include <string.h>

#include "base/print.h"
#include "cli/columns.h"
#include "cli/command.h"
#include "explain/traffic.h"

/* Bytes that a candidate sends for its layers of the table in a step, and those of the
 * program's types. */
struct bytes {
    size_t wire;
    size_t native;
};

static struct bytes bytes_of(const struct aps_policy *policy,
                             const struct aps_schedule *schedule, int rule,
                             size_t candidate)
{
    const struct aps_shadow *shadow = aps_policy_shadow(policy, rule);
    const struct aps_layers *table = aps_policy_layers(policy);
    struct bytes bytes = {0, 0};

    for (size_t i = 0; schedule && i < table->count; i++) {
        const struct aps_plan_key place = aps_plan_key_of(table, i);
        struct aps_plan plan;

        if (!aps_schedule_gives(schedule, policy, i, rule))
            continue;
        aps_policy_candidate(policy, &place, shadow, candidate, &plan);
        bytes.wire +=
            aps_plan_compresses(&plan)
                ? aps_traffic_compressed(&plan, &plan.matrix)
                : aps_traffic_bytes(&plan, place.element, place.count);
        bytes.native += aps_traffic_layer_native(policy, i);
    }
    return bytes;
}

static bool is_measured(const struct aps_policy *policy, int rule)
{
    return aps_policy_shadow(policy, rule)->count > 0;
}

/* Returns the elements of the longest layer that is measured; 0: not known. */
static size_t longest(const struct aps_policy *policy,
                      const struct aps_schedule *schedule)
{
    return aps_schedule_longest(schedule, policy, is_measured);
}

/* --- text ----------------------------------------------------------------- */

enum {
    LINE,
    NUMBER,
    FORMAT,
    SCALE,
    REDUCE,
    FEEDBACK,
    PER_ELEMENT,
    PER_STEP,
    OF_NATIVE,
    CELLS
};

static void add_candidate(struct aps_columns *columns,
                          const struct aps_policy *policy,
                          const struct aps_schedule *schedule, int rule,
                          size_t i)
{
    const struct aps_plan *plan = &aps_policy_shadow(policy, rule)->plans[i];
    const bool compressed = plan->compressor.kind != APS_COMPRESSOR_NONE;
    const struct bytes bytes = bytes_of(policy, schedule, rule, i);
    const double per_element = aps_traffic_per_element(plan, APS_ELEMENT_FLOAT);
    char line[APS_COMMAND_RULE_MAX] = "-", number[24], scale[32], share[16];
    char format[APS_COMMAND_FORMAT_MAX], element[16] = "-", step[24] = "-";
    const char *cells[CELLS] = {
        [LINE] = line,           [NUMBER] = number,
        [FORMAT] = format,       [SCALE] = scale,
        [REDUCE] = "-",          [FEEDBACK] = plan->feedback ? "on" : "-",
        [PER_ELEMENT] = element, [PER_STEP] = step,
        [OF_NATIVE] = share,
    };

    if (rule >= 0)
        aps_command_rule(policy, rule, line);
    snprintf(number, sizeof number, "%zu", i + 1);
    aps_command_format(plan, format, sizeof format);
    aps_command_scale(plan, scale, sizeof scale);
    cells[REDUCE] = aps_reduce_name(plan->reduce);
    if (!compressed)
        aps_print(element, sizeof element, "%g", per_element);
    aps_print(share, sizeof share, compressed ? "-" : "%.1f%%",
              100 * per_element / (double)sizeof(float));
    if (bytes.native > 0) {
        snprintf(step, sizeof step, "%zu", bytes.wire);
        aps_print(share, sizeof share, "%.1f%%",
                  100.0 * (double)bytes.wire / (double)bytes.native);
    }
    aps_columns_add(columns, cells);
}

static void print_note(const struct aps_policy *policy,
                       const struct aps_schedule *schedule)
{
    const struct aps_policy_log *log = aps_policy_log(policy);
    const size_t most = longest(policy, schedule);
    char often[160], memory[160], note[1400];

    if (log->stated)
        snprintf(often, sizeof often, "on every %ldth step, as `log` says",
                 log->every);
    else
        aps_print(often, sizeof often,
                  "on as many steps as take at most %g%% of the program's time "
                  "(budget)",
                  100 * aps_policy_budget(policy));
    aps_command_memory(most, memory, sizeof memory);
    snprintf(note, sizeof note,
             "shadow: MPI reduces these layers for the program, whose results "
             "are those without the library. Each candidate reduces the same "
             "inputs %s, and a row of %s says its error. That needs %s, 4 "
             "bytes an element for each nonblocking call under way in such a "
             "step, and what scales with a state and feedback keep, of each "
             "candidate; these learn from the sampled steps alone. Calls "
             "other than all-reduces go to MPI, unmeasured, if `shadow` is at "
             "the top of the policy.",
             often, log->file ? log->file : "the log", memory);
    aps_command_note(note);
}

void aps_shadows_print(const struct aps_policy *policy,
                       const struct aps_schedule *schedule)
{
    static const struct aps_column heads[CELLS] = {
        [LINE] = {"line", true},
        [NUMBER] = {"candidate", true},
        [FORMAT] = {"format", false},
        [SCALE] = {"scale", false},
        [REDUCE] = {"reduce", false},
        [FEEDBACK] = {"feedback", false},
        [PER_ELEMENT] = {"bytes/elem", true},
        [PER_STEP] = {"bytes/step", true},
        [OF_NATIVE] = {"of native", true},
    };
    struct aps_columns *columns;

    if (!aps_policy_shadows(policy))
        return;
    columns = aps_columns_create(heads, CELLS);
    for (int rule = -1; rule < (int)aps_policy_rules(policy); rule++)
        for (size_t i = 0; i < aps_policy_shadow(policy, rule)->count; i++)
            add_candidate(columns, policy, schedule, rule, i);
    printf("\ncandidates (line -: of layers that no rule matches)\n");
    aps_columns_print(columns);
    aps_columns_destroy(columns);
    print_note(policy, schedule);
}

/* --- JSON ----------------------------------------------------------------- */

void aps_shadows_write(struct aps_json *json, const struct aps_policy *policy,
                       const struct aps_schedule *schedule,
                       void (*write_plan)(void *data,
                                          const struct aps_plan *plan),
                       void *data)
{
    const struct aps_policy_log *log = aps_policy_log(policy);
    const size_t most = longest(policy, schedule);

    if (!aps_policy_shadows(policy)) {
        aps_json_null(json, "shadow");
        return;
    }
    aps_json_open_object(json, "shadow");
    aps_json_double(json, "budget", aps_policy_budget(policy));
    aps_json_unsigned_or_null(json, "every", log->stated,
                              (uintmax_t)log->every);
    aps_json_text(json, "log", log->file);
    aps_json_unsigned_or_null(json, "memory_bytes", most > 0, 12 * most);
    aps_json_open_array(json, "candidates");
    for (int rule = -1; rule < (int)aps_policy_rules(policy); rule++) {
        const struct aps_shadow *shadow = aps_policy_shadow(policy, rule);

        for (size_t i = 0; i < shadow->count; i++) {
            const struct bytes bytes = bytes_of(policy, schedule, rule, i);

            aps_json_open_object(json, NULL);
            aps_json_unsigned_or_null(json, "rule", rule >= 0, (uintmax_t)rule);
            aps_json_unsigned(json, "candidate", i + 1);
            aps_json_open_object(json, "plan");
            write_plan(data, &shadow->plans[i]);
            aps_json_close_object(json);
            aps_json_unsigned_or_null(json, "bytes_per_step", bytes.native > 0,
                                      bytes.wire);
            aps_json_close_object(json);
        }
    }
    aps_json_close_array(json);
    aps_json_close_object(json);
}

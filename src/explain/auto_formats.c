/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "explain/auto_formats.h"

#include <string.h>

#include "base/plural.h"
#include "base/print.h"
#include "cli/command.h"
#include "explain/traffic.h"

/* Writes "e3m2, e4m3". */
static void list_names(const struct aps_shadow *formats, char *buffer,
                       size_t size)
{
    size_t used = 0;

    buffer[0] = '\0';
    for (size_t i = 0; i < formats->count && used < size; i++)
        used +=
            (size_t)snprintf(buffer + used, size - used, "%s%s",
                             i > 0 ? ", " : "", formats->plans[i].format.name);
}

char *aps_auto_formats_list(const struct aps_auto_format *formats, char *buffer,
                            size_t size)
{
    char names[APS_SHADOW_MAX * 24];

    list_names(&formats->formats, names, sizeof names);
    snprintf(buffer, size, "auto: %s", names);
    return buffer;
}

/* --- text ----------------------------------------------------------------- */

static void print_note(const struct aps_policy *policy, int rule,
                       const struct aps_auto_format *formats,
                       const char *memory)
{
    char line[APS_COMMAND_RULE_MAX], names[APS_SHADOW_MAX * 24];
    char target[80], note[1600];

    aps_command_rule(policy, rule, line);
    list_names(&formats->formats, names, sizeof names);
    if (formats->target == APS_TARGET_SNR)
        aps_print(target, sizeof target, "a signal-to-noise ratio of %g dB",
                  formats->stated);
    else
        aps_print(target, sizeof target, "a mean relative error of %g",
                  formats->stated);
    aps_print(
        note, sizeof note,
        "line %s: the library chooses the format of each layer while the "
        "program runs: of %s the one that sends the fewest bytes of those "
        "that keep %s; FP32 where none does. A layer's first call, and "
        "one of it in every %ld step%s, is measured: %zu more reduction%s "
        "and an FP64 one of the same inputs, which need %s. A format is "
        "taken if it is "
        "better than the target by %g dB, and kept as long as it is "
        "better by half of that. Changes are events of the log, and a "
        "policy with the "
        "formats that the layers have at the end is written beside it. "
        "Bytes in the table are those of FP32: the most there can be. MPI "
        "reduces layers in FP32, except that the library reduces those of "
        "nonblocking calls, as e8m23.",
        line, names, target, formats->every, aps_plural(formats->every),
        formats->formats.count, aps_plural(formats->formats.count), memory,
        formats->margin);
    aps_command_note(note);
}

static bool is_chosen(const struct aps_policy *policy, int rule)
{
    return rule >= 0 && aps_policy_rule_plan(policy, rule)->auto_format;
}

void aps_auto_formats_notes(const struct aps_policy *policy,
                            const struct aps_schedule *schedule)
{
    const size_t longest = aps_schedule_longest(schedule, policy, is_chosen);
    char memory[160];

    aps_command_memory(longest, memory, sizeof memory);
    for (int i = 0; i < (int)aps_policy_rules(policy); i++) {
        const struct aps_plan *plan = aps_policy_rule_plan(policy, i);

        if (plan->auto_format)
            print_note(policy, i, plan->auto_format, memory);
    }
}

/* --- JSON ----------------------------------------------------------------- */

void aps_auto_formats_write(struct aps_json *json, const struct aps_plan *plan,
                            void (*write_plan)(void *data,
                                               const struct aps_plan *plan),
                            void *data)
{
    const struct aps_auto_format *formats = plan->auto_format;

    if (!formats) {
        aps_json_null(json, "auto");
        return;
    }
    aps_json_open_object(json, "auto");
    aps_json_text(json, "target",
                  formats->target == APS_TARGET_SNR ? "snr" : "err");
    aps_json_double(json, "value", formats->stated);
    aps_json_double(json, "margin_db", formats->margin);
    aps_json_unsigned(json, "every", (uintmax_t)formats->every);
    aps_json_open_array(json, "formats");
    for (size_t i = 0; i < formats->formats.count; i++) {
        const struct aps_plan *format = &formats->formats.plans[i];

        aps_json_open_object(json, NULL);
        aps_json_open_object(json, "plan");
        write_plan(data, format);
        aps_json_close_object(json);
        aps_json_double(json, "bytes_per_element",
                        aps_traffic_per_element(format, APS_ELEMENT_FLOAT));
        aps_json_close_object(json);
    }
    aps_json_close_array(json);
    aps_json_close_object(json);
}

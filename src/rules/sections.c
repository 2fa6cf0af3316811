/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rules/sections.h"

#include <limits.h>
#include <string.h>

#include "base/digits.h"
#include "base/switch.h"
#include "codec/workers.h"
#include "yaml/number.h"

/* --- steps ---------------------------------------------------------------- */

/* Reads `order`, inside `steps` or in its old place at the top. */
static void read_order(const struct aps_reader *reader,
                       const struct aps_yaml_node *top,
                       const struct aps_yaml_node *inside,
                       struct aps_policy_steps *steps)
{
    static const char *const orders[] = {"forward", "backward", "any", NULL};
    static const struct aps_keywords words = {.known = orders};
    int order = 0;

    if (top && inside)
        aps_reader_error(
            reader, top,
            "'order' is in 'steps' too (line %d); keep only that one",
            inside->line);
    else if (top)
        aps_reader_warn(reader, top,
                        "'order' has its place in 'steps': steps: {order: "
                        "backward}");
    if (top)
        aps_read_word(reader, top, &words, &order);
    if (inside)
        aps_read_word(reader, inside, &words, &order);
    steps->backward = order == 1;
    steps->any = order == 2;
}

enum { CALLS, PER_EPOCH, ORDER, KEYS };

/* Reads the mapping into keys[], NULL for each key that is missing. */
static void read_mapping(const struct aps_reader *reader,
                         const struct aps_yaml_node *mapping,
                         const struct aps_yaml_node *keys[KEYS],
                         struct aps_policy_steps *steps)
{
    static const char *const names[] = {
        [CALLS] = "calls", [PER_EPOCH] = "per_epoch", [ORDER] = "order", NULL};
    static const struct aps_keywords words = {.known = names};

    if (aps_read_keys(reader, mapping, "'steps'", &words, keys) < 0)
        return;
    if (keys[CALLS])
        aps_read_number(reader, keys[CALLS], 1, LONG_MAX - 1, &steps->calls);
    if (keys[PER_EPOCH])
        aps_read_number(reader, keys[PER_EPOCH], 1, LONG_MAX - 1,
                        &steps->per_epoch);
}

static bool is_word(const struct aps_yaml_node *key, const char *word)
{
    return key->value->kind == APS_YAML_SCALAR &&
           strcmp(key->value->text, word) == 0;
}

bool aps_policy_steps_read(const struct aps_reader *reader,
                           const struct aps_yaml_node *key,
                           const struct aps_yaml_node *order,
                           struct aps_policy_steps *steps)
{
    const struct aps_yaml_node *inside[KEYS] = {NULL};

    if (key && key->value->kind == APS_YAML_MAPPING)
        read_mapping(reader, key->value, inside, steps);
    else if (key && key->value->kind != APS_YAML_BAD && !is_word(key, "auto") &&
             !is_word(key, "none"))
        aps_reader_error(reader, key->value,
                         "'steps' must be auto, none or a mapping, "
                         "{calls: N, per_epoch: N, order: backward}");
    steps->none = key && is_word(key, "none");
    read_order(reader, order, inside[ORDER], steps);
    return inside[PER_EPOCH] != NULL;
}

/* Returns the size of the next layer of at least min_count elements in the network
 * of `row`, in the order of its calls; 0 after the last. *passed counts the layers
 * before it, from 0 on. */
static size_t next_count(const struct aps_layer_row *list, size_t row,
                         bool backward, size_t min_count, size_t *passed)
{
    const size_t begin = list[row].begin, end = list[row].end;

    while (*passed < end - begin) {
        const size_t i = (*passed)++;
        const size_t count = list[backward ? end - 1 - i : begin + i].count;

        if (count >= min_count)
            return count;
    }
    return 0;
}

/* Returns how many of their first calls two networks have in common; SIZE_MAX: all. */
static size_t calls_alike(const struct aps_layer_row *list, size_t row,
                          size_t other, bool backward, size_t min_count)
{
    size_t passed = 0, passed_other = 0;

    for (size_t alike = 0;; alike++) {
        const size_t count =
            next_count(list, row, backward, min_count, &passed);

        if (count !=
            next_count(list, other, backward, min_count, &passed_other))
            return alike;
        if (count == 0)
            return SIZE_MAX;
    }
}

void aps_networks_check(const struct aps_reader *reader,
                        const struct aps_yaml_node *key,
                        const struct aps_policy_steps *steps,
                        const struct aps_layers *layers, size_t min_count)
{
    const struct aps_layer_row *list = layers->list;

    for (size_t i = list->end; i < layers->count; i = list[i].end) {
        const size_t alike =
            calls_alike(list, i - 1, i, steps->backward, min_count);

        if (!steps->any && alike == 0)
            continue;
        aps_reader_warn(reader, key, "%s",
                        steps->any
                            ? "order: any takes all networks of the table for "
                              "one step: layers of one size get each other's "
                              "names and rules unless all networks take turns"
                        : alike == SIZE_MAX
                            ? "networks of the table have equal sizes in all "
                              "layers of min_count elements or more: calls "
                              "count as those of the first of them; with a "
                              "smaller min_count smaller layers may differ"
                            : "networks of the table begin with layers of one "
                              "size: until a size differs, calls count as "
                              "those of the network before");
        return;
    }
}

/* --- log ------------------------------------------------------------------ */

#define DEFAULT_EVERY 100

/* Stores the log's file, the value of `key`. */
static void keep_file(const struct aps_reader *reader,
                      const struct aps_yaml_node *key,
                      struct aps_policy_log *log)
{
    const char *file = aps_read_text(reader, key);
    bool on;

    if (!file)
        return;
    if (aps_switch_parse(file, &on) == 0) {
        aps_reader_error(reader, key->value,
                         "'%s' must be a file, not '%s'; without 'log' there "
                         "is no log",
                         key->text, file);
        return;
    }
    log->file = strdup(file);
    if (!log->file)
        aps_reader_error(reader, key, "out of memory");
}

void aps_policy_log_read(const struct aps_reader *reader,
                         const struct aps_yaml_node *key,
                         struct aps_policy_log *log)
{
    static const char *const names[] = {"file", "every", NULL};
    static const struct aps_keywords words = {.known = names};
    const struct aps_yaml_node *keys[2];

    log->every = DEFAULT_EVERY;
    if (!key)
        return;
    if (key->value->kind == APS_YAML_SCALAR) {
        keep_file(reader, key, log);
        return;
    }
    if (aps_read_keys(reader, key->value, "'log' (file, every)", &words, keys) <
        0)
        return;
    log->stated = keys[1] != NULL;
    if (keys[1])
        aps_read_number(reader, keys[1], 1, LONG_MAX - 1, &log->every);
    if (keys[0])
        keep_file(reader, keys[0], log);
    else
        aps_reader_error(reader, key, "'log' has no 'file'");
}

/* --- threads -------------------------------------------------------------- */

int aps_policy_threads_read(const struct aps_reader *reader,
                            const struct aps_yaml_node *key)
{
    const char *text = key ? aps_read_text(reader, key) : NULL;
    uintmax_t number = 1;

    if (text && strcmp(text, "auto") == 0)
        return APS_THREADS_AUTO;
    if (text &&
        (aps_digits_parse(text, strlen(text), APS_WORKERS_MAX, &number) < 0 ||
         number == 0))
        aps_reader_error(reader, key->value,
                         "'%s' must be a whole number from 1 to %d, or auto, "
                         "not '%.80s'",
                         key->text, APS_WORKERS_MAX, text);
    return (int)number;
}

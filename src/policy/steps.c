/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "policy/steps.h"

#include <limits.h>
#include <string.h>

#include "policy/number.h"

/* `order`, inside `steps` or, as an old place, at the top. */
static void read_order(const struct aps_reader *reader,
                       const struct aps_yaml_node *top,
                       const struct aps_yaml_node *inside,
                       struct aps_policy_steps *steps)
{
    static const char *const orders[] = {"forward", "backward", NULL};
    static const struct aps_words words = {.known = orders};
    int order = 0;

    if (top && inside)
        aps_reader_error(reader, top,
                         "'order' stands in 'steps', too (line %d): keep it "
                         "there",
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
}

/* Returns the key `order` inside the mapping, or NULL. */
static const struct aps_yaml_node *read_mapping(const struct aps_reader *reader,
                                                const struct aps_yaml_node *key,
                                                struct aps_policy_steps *steps)
{
    static const char *const names[] = {"calls", "per_epoch", "order", NULL};
    static const struct aps_words words = {.known = names};
    const struct aps_yaml_node *keys[3];

    if (aps_read_keys(reader, key->value, "'steps'", &words, keys) < 0)
        return NULL;
    if (keys[0])
        aps_read_number(reader, keys[0], 1, LONG_MAX - 1, &steps->calls);
    if (keys[1])
        aps_read_number(reader, keys[1], 1, LONG_MAX - 1, &steps->per_epoch);
    return keys[2];
}

static bool is_word(const struct aps_yaml_node *key, const char *word)
{
    return key->value->kind == APS_YAML_SCALAR &&
           strcmp(key->value->text, word) == 0;
}

void aps_policy_steps_read(const struct aps_reader *reader,
                           const struct aps_yaml_node *key,
                           const struct aps_yaml_node *order,
                           struct aps_policy_steps *steps)
{
    const struct aps_yaml_node *inside = NULL;

    if (key && key->value->kind == APS_YAML_MAPPING)
        inside = read_mapping(reader, key, steps);
    else if (key && key->value->kind != APS_YAML_BAD && !is_word(key, "auto") &&
             !is_word(key, "none"))
        aps_reader_error(reader, key->value,
                         "'steps' must be auto, none or a mapping, "
                         "{calls: N, per_epoch: N, order: backward}");
    steps->none = key && is_word(key, "none");
    read_order(reader, order, inside, steps);
}

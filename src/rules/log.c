/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rules/log.h"

#include <limits.h>
#include <string.h>

#include "base/switch.h"
#include "yaml/number.h"

#define DEFAULT_EVERY 100

/* The value of `key` is the log's file. */
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

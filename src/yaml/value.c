/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "yaml/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/switch.h"

/* Messages quote at most this much of a wrong value. */
#define QUOTE "'%.80s'"

/* Writes the hint for the word, or "did you mean 'X'?", or else "one of A,
 * B, C". `lone`: a key without a value, as each word after a comma in braces
 * is. */
static void suggest(const struct aps_keywords *words, const char *word,
                    bool lone, char *buffer, size_t size)
{
    struct aps_nearest nearest = {.word = word};
    size_t used;

    for (const struct aps_hint *hint = words->hints; hint && hint->word;
         hint++) {
        if (strcasecmp(hint->word, word) == 0 ||
            aps_same_word(hint->word, word)) {
            snprintf(buffer, size, "; %s", hint->text);
            return;
        }
    }
    if (strpbrk(word, "{[")) {
        snprintf(buffer, size,
                 "; write several values in brackets, as in [a, {key: b}]");
        return;
    }
    for (int i = 0; words->known[i]; i++) {
        if (aps_keywords_find(words->old, words->known[i]) < 0)
            aps_nearest_offer(&nearest, words->known[i]);
    }
    if (nearest.best) {
        snprintf(buffer, size, "; did you mean '%s'?%s", nearest.best,
                 strcasecmp(nearest.best, word) == 0 ? " (small letters)" : "");
        return;
    }
    if (lone) {
        snprintf(buffer, size,
                 " without a value; write items of a list in brackets, as in "
                 "[a, b]");
        return;
    }
    snprintf(buffer, size, "; one of");
    used = strlen(buffer);
    for (int i = 0; words->known[i] && used < size; i++) {
        if (aps_keywords_find(words->old, words->known[i]) < 0)
            used += (size_t)snprintf(buffer + used, size - used, "%s %s",
                                     i > 0 ? "," : "", words->known[i]);
    }
    if (words->also && used < size)
        snprintf(buffer + used, size - used, ", or %s", words->also);
}

/* At a node or an item. */
#define look_up(reader, at, what, words)                                       \
    look_up_text(reader, (at)->text, (at)->line, (at)->column, what, words,    \
                 false)
static int look_up_text(const struct aps_reader *reader, const char *text,
                        int line, int column, const char *what,
                        const struct aps_keywords *words, bool lone)
{
    int index = aps_keywords_index(words, text);
    char suggestion[256];

    if (index >= 0)
        return index;
    suggest(words, text, lone, suggestion, sizeof suggestion);
    aps_errors_add(reader->errors, reader->path, line, column,
                   "unknown %s " QUOTE "%s", what, text, suggestion);
    return -1;
}

int aps_look_up(const struct aps_reader *reader, const struct aps_yaml_node *at,
                const char *what, const struct aps_keywords *words)
{
    return look_up(reader, at, what, words);
}

bool aps_refuse_blanks(const struct aps_reader *reader,
                       const struct aps_yaml_node *at, const char *what,
                       const struct aps_keywords *words)
{
    const struct aps_hint *hint = words->hints;
    char word[64];
    size_t length = 0;
    int index;

    for (const char *c = at->text; *c && length + 1 < sizeof word; c++)
        if (*c != ' ' && *c != '\t')
            word[length++] = *c;
    word[length] = '\0';
    index = aps_keywords_index(words, word);
    if (length == strlen(at->text))
        return false;
    if (index >= 0)
        aps_reader_error(reader, at, "unknown %s '%.80s'; did you mean '%s'?",
                         what, at->text, words->known[index]);
    for (; index < 0 && hint && hint->word; hint++)
        if (aps_same_word(hint->word, word)) {
            aps_reader_error(reader, at, "unknown %s '%.80s'; %s", what,
                             at->text, hint->text);
            return true;
        }
    return index >= 0;
}

bool aps_key_is_ignored(const struct aps_yaml_node *key)
{
    return aps_name_is_ignored(key->text);
}

static bool key_is_lone(const struct aps_yaml_node *key)
{
    return key->value->kind == APS_YAML_SCALAR && key->value->text[0] == '\0';
}

static int read_keys(const struct aps_reader *reader,
                     const struct aps_yaml_node *mapping, const char *noun,
                     const struct aps_keywords *words,
                     const struct aps_yaml_node **keys)
{
    int result = 0;

    for (const struct aps_yaml_node *key = mapping->first; key;
         key = key->next) {
        int index;

        if (aps_key_is_ignored(key))
            continue;
        index = look_up_text(reader, key->text, key->line, key->column, noun,
                             words, key_is_lone(key));
        if (index < 0) {
            result = -1;
        } else if (keys[index]) {
            aps_reader_error(reader, key,
                             "duplicate key '%s', first in line %d", key->text,
                             keys[index]->line);
            result = -1;
        } else {
            keys[index] = key;
        }
    }
    return result;
}

/* Sets all keys to NULL. Returns -1 if the node is not a mapping; `what` names
 * it. */
static int begin_keys(const struct aps_reader *reader,
                      const struct aps_yaml_node *mapping, const char *what,
                      const struct aps_keywords *words,
                      const struct aps_yaml_node **keys)
{
    for (int i = 0; words->known[i]; i++)
        keys[i] = NULL;
    if (mapping->kind == APS_YAML_MAPPING)
        return 0;
    if (mapping->kind != APS_YAML_BAD)
        aps_reader_error(reader, mapping,
                         "%s must be a mapping (key: value), not %s", what,
                         aps_yaml_kind_name(mapping->kind));
    return -1;
}

int aps_read_keys(const struct aps_reader *reader,
                  const struct aps_yaml_node *mapping, const char *what,
                  const struct aps_keywords *words,
                  const struct aps_yaml_node **keys)
{
    if (begin_keys(reader, mapping, what, words, keys) < 0)
        return -1;
    (void)read_keys(reader, mapping, "key", words, keys);
    return 0;
}

int aps_read_parameter_keys(const struct aps_reader *reader,
                            const struct aps_yaml_node *mapping,
                            const char *name, const struct aps_keywords *words,
                            const struct aps_yaml_node **keys)
{
    char what[80];

    snprintf(what, sizeof what, "the parameters of '%s'", name);
    if (begin_keys(reader, mapping, what, words, keys) < 0)
        return -1;
    if (words->known[0])
        return read_keys(reader, mapping, "parameter", words, keys);
    for (const struct aps_yaml_node *key = mapping->first; key;
         key = key->next) {
        if (aps_key_is_ignored(key))
            continue;
        aps_reader_error(reader, key, "'%s' takes no parameters", name);
        return -1;
    }
    return 0;
}

const char *aps_read_text(const struct aps_reader *reader,
                          const struct aps_yaml_node *key)
{
    const struct aps_yaml_node *value = key->value;

    if (value->kind == APS_YAML_BAD)
        return NULL;
    if (value->kind != APS_YAML_SCALAR) {
        aps_reader_error(reader, value, "'%s' must be a single value, not %s",
                         key->text, aps_yaml_kind_name(value->kind));
        return NULL;
    }
    if (value->text[0] == '\0') {
        aps_reader_error(reader, key, "'%s' has no value", key->text);
        return NULL;
    }
    return value->text;
}

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

const char *aps_read_name(const struct aps_reader *reader,
                          const struct aps_yaml_node *key)
{
    const char *text = aps_read_text(reader, key);
    size_t good;

    if (!text)
        return NULL;
    good = strspn(text, LETTERS "0123456789-_.");
    if (text[good] != '\0') {
        aps_errors_add(
            reader->errors, reader->path, key->value->line,
            aps_yaml_column(key->value, good),
            "'%s' may hold letters, digits, '-', '_' and '.' only: " QUOTE,
            key->text, text);
        return NULL;
    }
    if (!strpbrk(text, LETTERS)) {
        aps_reader_error(reader, key->value,
                         "'%s' must hold a letter: " QUOTE
                         " looks like a number",
                         key->text, text);
        return NULL;
    }
    return text;
}

int aps_read_word(const struct aps_reader *reader,
                  const struct aps_yaml_node *key,
                  const struct aps_keywords *words, int *index)
{
    int found;

    if (!aps_read_text(reader, key))
        return -1;
    found = look_up(reader, key->value, key->text, words);
    if (found < 0)
        return -1;
    *index = found;
    return 0;
}

int aps_read_switch(const struct aps_reader *reader,
                    const struct aps_yaml_node *key, bool *on)
{
    const char *text = aps_read_text(reader, key);

    if (!text)
        return -1;
    if (aps_switch_parse(text, on) == 0)
        return 0;
    aps_reader_error(reader, key->value, "'%s' must be on or off, not " QUOTE,
                     key->text, text);
    return -1;
}

static int take_part(const struct aps_reader *reader,
                     const struct aps_yaml_node *key,
                     const struct aps_item *item, aps_item_fn take, void *data)
{
    if (item->text[0] == '\0') {
        aps_errors_add(reader->errors, reader->path, item->line, item->column,
                       "'%s' holds an empty item", key->text);
        return -1;
    }
    return take(data, item);
}

/* Reads "a, b, c". */
static int read_parts(const struct aps_reader *reader,
                      const struct aps_yaml_node *key, aps_item_fn take,
                      void *data)
{
    const struct aps_yaml_node *value = key->value;
    char *copy = strdup(value->text);
    char *rest = copy;
    const char *counted = copy;
    int column = aps_yaml_column(value, 0);
    int result = 0;

    if (!copy) {
        aps_reader_error(reader, value, "out of memory");
        return -1;
    }
    while (rest) {
        char *part = strsep(&rest, ",");
        size_t length;
        struct aps_item item;

        part += strspn(part, " \t\n");
        length = strlen(part);
        while (length > 0 && strchr(" \t\n", part[length - 1]))
            part[--length] = '\0';
        item.text = part;
        item.line = value->line;
        if (value->text_column > 0)
            column += aps_yaml_characters(counted, (size_t)(part - counted));
        counted = part;
        item.column = column;
        if (take_part(reader, key, &item, take, data) < 0)
            result = -1;
    }
    free(copy);
    return result;
}

static int read_list(const struct aps_reader *reader,
                     const struct aps_yaml_node *key, aps_item_fn take,
                     void *data)
{
    int result = 0;

    if (!key->value->first) {
        aps_reader_error(reader, key->value, "'%s' is an empty list",
                         key->text);
        return -1;
    }
    for (const struct aps_yaml_node *node = key->value->first; node;
         node = node->next) {
        struct aps_item item = {node->text, node->line, node->column};

        if (node->kind == APS_YAML_SCALAR) {
            if (take_part(reader, key, &item, take, data) < 0)
                result = -1;
            continue;
        }
        if (node->kind != APS_YAML_BAD)
            aps_reader_error(reader, node,
                             "items of '%s' must be single values, not %s",
                             key->text, aps_yaml_kind_name(node->kind));
        result = -1;
    }
    return result;
}

int aps_read_items(const struct aps_reader *reader,
                   const struct aps_yaml_node *key, aps_item_fn take,
                   void *data)
{
    switch (key->value->kind) {
    case APS_YAML_BAD:
        return -1;
    case APS_YAML_LIST:
        return read_list(reader, key, take, data);
    case APS_YAML_MAPPING:
        aps_reader_error(reader, key->value,
                         "'%s' must be a value or a list, not a mapping",
                         key->text);
        return -1;
    default:
        if (!aps_read_text(reader, key))
            return -1;
        return read_parts(reader, key, take, data);
    }
}

struct word_taker {
    const struct aps_reader *reader;
    const struct aps_yaml_node *key;
    const struct aps_keywords *words;
    unsigned mask;
};

static int take_word(void *data, const struct aps_item *item)
{
    struct word_taker *taker = data;
    int index = look_up(taker->reader, item, taker->key->text, taker->words);

    if (index < 0)
        return -1;
    if (taker->mask >> index & 1) {
        aps_errors_add(taker->reader->errors, taker->reader->path, item->line,
                       item->column, "'%s' names '%s' twice", taker->key->text,
                       item->text);
        return -1;
    }
    taker->mask |= 1u << index;
    return 0;
}

int aps_read_words(const struct aps_reader *reader,
                   const struct aps_yaml_node *key,
                   const struct aps_keywords *words, unsigned *mask)
{
    struct word_taker taker = {reader, key, words, 0};

    if (aps_read_items(reader, key, take_word, &taker) < 0)
        return -1;
    *mask = taker.mask;
    return 0;
}

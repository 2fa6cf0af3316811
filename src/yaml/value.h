/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of a YAML tree, read as the policy language needs them: a word, a
 * number, a switch, a list of items. A function that reads a value returns 0,
 * or -1 after it has reported the error at the value's line and column.
 */
#ifndef APS_YAML_VALUE_H
#define APS_YAML_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "policy/keywords.h"
#include "yaml/yaml.h"

struct aps_reader {
    const char *path;
    struct aps_errors *errors;
};

/* Reports an error at a node. */
#define aps_reader_error(reader, node, ...)                                    \
    aps_errors_add((reader)->errors, (reader)->path, (node)->line,             \
                   (node)->column, __VA_ARGS__)

/* Reports a warning at a node. */
#define aps_reader_warn(reader, node, ...)                                     \
    aps_errors_warn((reader)->errors, (reader)->path, (node)->line,            \
                    (node)->column, __VA_ARGS__)

/*
 * Sorts the keys of a mapping: keys[i] is the key named words->known[i], or
 * NULL if it is missing. Reports unknown, reserved and duplicate keys, and
 * ignores them; ignores x-... silently. `what` names the mapping if the node is
 * of another kind, which alone makes the function return -1.
 */
int aps_read_keys(const struct aps_reader *reader,
                  const struct aps_yaml_node *mapping, const char *what,
                  const struct aps_keywords *words,
                  const struct aps_yaml_node **keys);

/* Sorts the parameters of the word `name`, like aps_read_keys, without reserved
 * keys; also returns -1 for unknown and duplicate ones. */
int aps_read_parameter_keys(const struct aps_reader *reader,
                            const struct aps_yaml_node *mapping,
                            const char *name, const struct aps_keywords *words,
                            const struct aps_yaml_node **keys);

/* True for a key reserved for others, x-... or x_..., which any mapping may
 * have. */
bool aps_key_is_ignored(const struct aps_yaml_node *key);

/* Returns the index in words->known of the word at a node, or -1 after an error
 * there that calls it `what`. */
int aps_look_up(const struct aps_reader *reader, const struct aps_yaml_node *at,
                const char *what, const struct aps_keywords *words);

/* True if the text is a known word, or one with a hint, but has blanks inside,
 * as in "mstopk + powersgd". Then reports an error that gives the word or the
 * hint. */
bool aps_refuse_blanks(const struct aps_reader *reader,
                       const struct aps_yaml_node *at, const char *what,
                       const struct aps_keywords *words);

/* The functions below read the value of `key`, a key of a mapping. */

/* Returns a text that is not empty, or NULL. The tree owns it. */
const char *aps_read_text(const struct aps_reader *reader,
                          const struct aps_yaml_node *key);

/* Returns a name of letters, digits, '-', '_' and '.', with a letter, or NULL.
 * The tree owns it. */
const char *aps_read_name(const struct aps_reader *reader,
                          const struct aps_yaml_node *key);

/* Sets *index to the index in words->known. */
int aps_read_word(const struct aps_reader *reader,
                  const struct aps_yaml_node *key,
                  const struct aps_keywords *words, int *index);

/* Reads on, off and their synonyms (base/switch.h). */
int aps_read_switch(const struct aps_reader *reader,
                    const struct aps_yaml_node *key, bool *on);

/* Reads one word or several, a list or "a, b", each once: sets bit i of *mask
 * for words->known[i]. */
int aps_read_words(const struct aps_reader *reader,
                   const struct aps_yaml_node *key,
                   const struct aps_keywords *words, unsigned *mask);

/* One item of a list, or one part of a text with commas. */
struct aps_item {
    const char *text;
    int line;
    int column;
};

/*
 * Calls `take` for each item of a list (whose items are not split again, so
 * that a name may have a comma), or of "a, b, c". Continues after an item that
 * `take` refuses, and then returns -1.
 */
typedef int (*aps_item_fn)(void *data, const struct aps_item *item);
int aps_read_items(const struct aps_reader *reader,
                   const struct aps_yaml_node *key, aps_item_fn take,
                   void *data);

#endif

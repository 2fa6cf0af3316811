/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of a YAML tree as what the policy language wants there: a word, a
 * number, a switch, a list of items. A function that reads a value returns 0, or
 * -1 after it has reported the error at the value's place.
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

/* Report an error at a node. */
#define aps_reader_error(reader, node, ...)                                    \
    aps_errors_add((reader)->errors, (reader)->path, (node)->line,             \
                   (node)->column, __VA_ARGS__)

/* The same, of a warning. */
#define aps_reader_warn(reader, node, ...)                                     \
    aps_errors_warn((reader)->errors, (reader)->path, (node)->line,            \
                    (node)->column, __VA_ARGS__)

/*
 * Sort the keys of a mapping: keys[i] becomes the key named words->known[i], or
 * NULL where it is missing. Unknown, reserved and duplicate keys are reported
 * and otherwise passed over, keys for others (x-...) in silence. `what` names
 * the mapping in the message for a node of another kind; -1 for that only.
 */
int aps_read_keys(const struct aps_reader *reader,
                  const struct aps_yaml_node *mapping, const char *what,
                  const struct aps_keywords *words,
                  const struct aps_yaml_node **keys);

/* The same of the parameters of the word `name`, without reserved ones; -1 for
 * unknown and duplicate ones, too. */
int aps_read_parameter_keys(const struct aps_reader *reader,
                            const struct aps_yaml_node *mapping,
                            const char *name, const struct aps_keywords *words,
                            const struct aps_yaml_node **keys);

/* Is it a key for others, x-... or x_...? Our mappings may hold them anywhere. */
bool aps_key_is_ignored(const struct aps_yaml_node *key);

/* The index in words->known of the word at a node, or -1 with an error there
 * that calls it `what`. */
int aps_look_up(const struct aps_reader *reader, const struct aps_yaml_node *at,
                const char *what, const struct aps_keywords *words);

/* Is it one of the words, but for blanks inside, as in "mstopk + powersgd"? Then true,
 * with an error that says so. */
bool aps_refuse_blanks(const struct aps_reader *reader,
                       const struct aps_yaml_node *at, const char *what,
                       const struct aps_keywords *words);

/* The functions below read the value of `key`, a node of a mapping. */

/* Non-empty text, or NULL. It belongs to the tree. */
const char *aps_read_text(const struct aps_reader *reader,
                          const struct aps_yaml_node *key);

/* A name of letters, digits, '-', '_' and '.', with a letter, or NULL. It
 * belongs to the tree. */
const char *aps_read_name(const struct aps_reader *reader,
                          const struct aps_yaml_node *key);

/* The index in words->known. */
int aps_read_word(const struct aps_reader *reader,
                  const struct aps_yaml_node *key,
                  const struct aps_keywords *words, int *index);

/* on, off and their synonyms (base/switch.h). */
int aps_read_switch(const struct aps_reader *reader,
                    const struct aps_yaml_node *key, bool *on);

/* A word or several, a list or "a, b", each once: bit i of *mask for
 * words->known[i]. */
int aps_read_words(const struct aps_reader *reader,
                   const struct aps_yaml_node *key,
                   const struct aps_keywords *words, unsigned *mask);

/* One item of a list, or one part of a comma-separated text. */
struct aps_item {
    const char *text;
    int line;
    int column;
};

/*
 * Call `take` for every item: of a list (whose items are not split again, so
 * that a name may hold a comma), or of "a, b, c". Goes on after an item that
 * take refuses; -1 if there was one.
 */
typedef int (*aps_item_fn)(void *data, const struct aps_item *item);
int aps_read_items(const struct aps_reader *reader,
                   const struct aps_yaml_node *key, aps_item_fn take,
                   void *data);

#endif

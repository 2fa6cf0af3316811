/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A YAML text as a tree with the line and column of each node.
 *
 * A policy uses a subset: one document, mappings, lists and scalars. Anchors,
 * aliases and tags are errors. Scalars are texts: the key determines their
 * type, and their look never does.
 */
#ifndef APS_YAML_YAML_H
#define APS_YAML_YAML_H

#include <stddef.h>

#include "base/error.h"

enum aps_yaml_kind {
    APS_YAML_SCALAR,
    APS_YAML_LIST,
    APS_YAML_MAPPING,
    APS_YAML_BAD /* an error here was reported; readers skip the node
                    silently */
};

/*
 * A node owns its text and its children. `next` chains the items of a list and
 * the keys of a mapping. Each key of the tree is a scalar and has its value;
 * the parser reports any other key and leaves it out.
 */
struct aps_yaml_node {
    enum aps_yaml_kind kind;
    int line;        /* from 1 */
    int column;      /* from 1, in characters */
    int text_column; /* column of the text's first character if the file has the
                        text unchanged on one line; otherwise 0 */
    char *text;      /* text of a scalar, NUL-terminated; otherwise NULL */
    struct aps_yaml_node *first;
    struct aps_yaml_node *next;
    struct aps_yaml_node *value;
};

/*
 * Parses `text`; `path` is for messages. Returns 0 with *root a tree for
 * aps_yaml_destroy; errors that leave the tree usable (tags, aliases, a second
 * document) may have been reported. Returns -1 without a tree: bad syntax, an
 * empty text, too deep nesting, or no memory.
 */
int aps_yaml_parse(const char *path, const char *text, size_t length,
                   struct aps_yaml_node **root, struct aps_errors *errors);
void aps_yaml_destroy(struct aps_yaml_node *root); /* NULL is allowed */

/* Returns the key named `name` of a mapping, or NULL. */
const struct aps_yaml_node *aps_yaml_find(const struct aps_yaml_node *mapping,
                                          const char *name);

/* Returns the number of characters in length bytes of UTF-8. */
int aps_yaml_characters(const char *text, size_t length);

/* Returns the column of the byte `offset` of a scalar's text, or the scalar's
 * own column if escapes or line breaks hide it. */
int aps_yaml_column(const struct aps_yaml_node *scalar, size_t offset);

/* Returns "a mapping", "a list" or "a single value", for messages. */
const char *aps_yaml_kind_name(enum aps_yaml_kind kind);

#endif

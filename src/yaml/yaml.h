/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A YAML text as a tree that remembers where everything stood.
 *
 * The subset of a policy: one document, mappings, lists and scalars. Anchors,
 * aliases and tags are errors. Scalars are texts: their type is what the key
 * that holds them wants, never what they look like.
 */
#ifndef APS_YAML_YAML_H
#define APS_YAML_YAML_H

#include <stddef.h>

#include "base/error.h"

enum aps_yaml_kind {
    APS_YAML_SCALAR,
    APS_YAML_LIST,
    APS_YAML_MAPPING,
    APS_YAML_BAD /* reported already; readers pass over it in silence */
};

/*
 * A node owns its text and what hangs below it. Items of a list and keys of a
 * mapping are chained by `next`; a key is a scalar and holds its value.
 */
struct aps_yaml_node {
    enum aps_yaml_kind kind;
    int line;        /* from 1 */
    int column;      /* from 1, in characters */
    int text_column; /* of the text's first character where the text stands in
                        the file as it is, on one line; otherwise 0 */
    char *text;      /* of a scalar, NUL-terminated; otherwise NULL */
    struct aps_yaml_node *first;
    struct aps_yaml_node *next;
    struct aps_yaml_node *value;
};

/*
 * Parse `text`; `path` is for messages. 0 with *root a tree for
 * aps_yaml_destroy, though errors that leave the tree whole (tags, aliases, a
 * second document) may have been added. -1 when there is no tree: syntax,
 * nothing in it, nested too deeply, no memory.
 */
int aps_yaml_parse(const char *path, const char *text, size_t length,
                   struct aps_yaml_node **root, struct aps_errors *errors);
void aps_yaml_destroy(struct aps_yaml_node *root); /* NULL: nothing */

/* The key named `name` of a mapping, or NULL. */
const struct aps_yaml_node *aps_yaml_find(const struct aps_yaml_node *mapping,
                                          const char *name);

/* Column of the byte `offset` of a scalar's text; the scalar's own column
 * where escapes or line breaks hide it. */
int aps_yaml_column(const struct aps_yaml_node *scalar, size_t offset);

/* "a mapping", "a list" or "a single value", for messages. */
const char *aps_yaml_kind_name(enum aps_yaml_kind kind);

#endif

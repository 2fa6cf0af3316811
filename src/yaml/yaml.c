/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "yaml/yaml.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/nearest.h"

/* Far more than a policy needs, and far less than the stack allows. */
#define MAX_DEPTH 16

struct builder {
    yaml_parser_t parser;
    const char *path;
    const char *text;
    size_t length;
    struct aps_errors *errors;
    const struct aps_yaml_node *open; /* innermost brace or bracket that is not
                                         closed, or NULL */
};

static bool starts_character(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

int aps_yaml_characters(const char *text, size_t length)
{
    int count = 0;

    for (size_t i = 0; i < length; i++)
        count += starts_character(text[i]);
    return count;
}

static void add_error(struct builder *builder, yaml_mark_t mark,
                      const char *text)
{
    aps_errors_add(builder->errors, builder->path, (int)mark.line + 1,
                   (int)mark.column + 1, "%s", text);
}

static int no_memory(struct builder *builder)
{
    aps_errors_add(builder->errors, builder->path, 0, 0, "out of memory");
    return -1;
}

/* libyaml's marks count characters. */
static bool tab_at(const struct builder *builder, yaml_mark_t mark)
{
    size_t index = 0;

    for (size_t i = 0; i < builder->length; i++) {
        if (!starts_character(builder->text[i]))
            continue;
        if (index++ == mark.index)
            return builder->text[i] == '\t';
    }
    return false;
}

/* The encoding error of libyaml has no mark yet, only a byte offset. */
static void add_reader_error(struct builder *builder)
{
    const yaml_parser_t *parser = &builder->parser;
    const char *line_start = builder->text;
    size_t offset = parser->problem_offset;
    int line = 1;

    if (offset > builder->length)
        offset = builder->length;
    for (const char *at = builder->text; at < builder->text + offset; at++) {
        if (*at == '\n') {
            line++;
            line_start = at + 1;
        }
    }
    aps_errors_add(
        builder->errors, builder->path, line,
        1 + aps_yaml_characters(line_start,
                                (size_t)(builder->text + offset - line_start)),
        "not UTF-8 text: %s", parser->problem);
}

/* Returns a hint that the problem alone does not give, or "". */
static const char *syntax_hint(const struct builder *builder)
{
    const yaml_parser_t *parser = &builder->parser;

    if (tab_at(builder, parser->problem_mark))
        return " (a tab: indent with spaces)";
    if (parser->context &&
        strcmp(parser->context, "while scanning an alias") == 0)
        return " (quote a pattern that begins with '*')";
    if (parser->problem &&
        strcmp(parser->problem, "did not find expected '-' indicator") == 0)
        return " (a list ends here: write each item in the column of the "
               "first, "
               "with '- ' before it, and a key of the policy in column 1)";
    return "";
}

/* Returns libyaml's problem. In a text of one line, such as candidates, a
 * misplaced key is not a matter of indentation. */
static const char *syntax_problem(const struct builder *builder)
{
    const char *problem = builder->parser.problem;
    bool key = problem &&
               (strcmp(problem,
                       "mapping values are not allowed in this context") == 0 ||
                strcmp(problem, "did not find expected key") == 0);

    if (key && !memchr(builder->text, '\n', builder->length))
        return "a key and ':' are not allowed here: write a mapping in braces "
               "and several values in brackets, as in [a, {key: b}], and quote "
               "a value that contains ': '";
    return problem ? problem : "not YAML";
}

/* True if only blanks follow the mark. */
static bool ends_at(const struct builder *builder, yaml_mark_t mark)
{
    size_t index = 0;

    for (size_t i = 0; i < builder->length; i++) {
        index += starts_character(builder->text[i]);
        if (index > mark.index && !strchr(" \r\n", builder->text[i]))
            return false;
    }
    return true;
}

/* Reports a syntax error: at the place where libyaml stopped, or, if the file
 * ends too early, at the opening that is not closed. */
static int syntax_error(struct builder *builder)
{
    const yaml_parser_t *parser = &builder->parser;
    const struct aps_yaml_node *open = builder->open;
    const char *open_name =
        open && open->kind == APS_YAML_LIST ? "bracket" : "brace";
    yaml_mark_t mark = parser->problem_mark;
    char where[96] = "";

    if (parser->error == YAML_MEMORY_ERROR)
        return no_memory(builder);
    if (parser->error == YAML_READER_ERROR) {
        add_reader_error(builder);
        return -1;
    }
    if (parser->context &&
        strcmp(parser->context, "while scanning a quoted scalar") == 0) {
        add_error(builder, parser->context_mark, "this quote is not closed");
        return -1;
    }
    if (open && ends_at(builder, parser->problem_mark)) {
        aps_errors_add(builder->errors, builder->path, open->line, open->column,
                       "this %s is not closed", open_name);
        return -1;
    }
    if (parser->context &&
        strcmp(parser->context, "while scanning a simple key") == 0)
        mark = parser->context_mark;
    if (open)
        snprintf(where, sizeof where,
                 "; the %s in line %d, column %d is still open", open_name,
                 open->line, open->column);
    aps_errors_add(builder->errors, builder->path, (int)mark.line + 1,
                   (int)mark.column + 1, "%s%s%s", syntax_problem(builder),
                   syntax_hint(builder), where);
    return -1;
}

static int next_event(struct builder *builder, yaml_event_t *event)
{
    return yaml_parser_parse(&builder->parser, event) ? 0
                                                      : syntax_error(builder);
}

static struct aps_yaml_node *new_node(struct builder *builder,
                                      enum aps_yaml_kind kind, yaml_mark_t mark)
{
    struct aps_yaml_node *node = calloc(1, sizeof *node);

    if (!node) {
        no_memory(builder);
        return NULL;
    }
    node->kind = kind;
    node->line = (int)mark.line + 1;
    node->column = (int)mark.column + 1;
    return node;
}

/* Returns the column of the text if the file has it letter by letter, or 0. */
static int find_text_column(const yaml_event_t *event, const char *text,
                            size_t length)
{
    yaml_scalar_style_t style = event->data.scalar.style;
    size_t quotes = style == YAML_PLAIN_SCALAR_STYLE ? 0 : 2;
    yaml_mark_t start = event->start_mark, end = event->end_mark;

    if (style == YAML_LITERAL_SCALAR_STYLE ||
        style == YAML_FOLDED_SCALAR_STYLE || start.line != end.line ||
        start.column + quotes + (size_t)aps_yaml_characters(text, length) !=
            end.column)
        return 0;
    return (int)(start.column + quotes / 2) + 1;
}

/*
 * Reports anchors and tags: anchors have no use without aliases, and the key
 * determines the type.
 */
static void check_properties(struct builder *builder, const yaml_event_t *event,
                             const void *anchor, const void *tag)
{
    if (anchor)
        add_error(builder, event->start_mark,
                  "anchors (&name) are not accepted; repeat the keys");
    if (tag)
        add_error(builder, event->start_mark, "tags (!name) are not accepted");
}

static struct aps_yaml_node *build_scalar(struct builder *builder,
                                          const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    bool whole = strlen(text) == length;
    struct aps_yaml_node *node = new_node(
        builder, whole ? APS_YAML_SCALAR : APS_YAML_BAD, event->start_mark);

    if (!node)
        return NULL;
    check_properties(builder, event, event->data.scalar.anchor,
                     event->data.scalar.tag);
    if (!whole) {
        add_error(builder, event->start_mark,
                  "a value must not hold a NUL character");
        return node;
    }
    node->text = strdup(text);
    if (!node->text) {
        no_memory(builder);
        aps_yaml_destroy(node);
        return NULL;
    }
    node->text_column = find_text_column(event, text, length);
    return node;
}

static struct aps_yaml_node *build(struct builder *builder,
                                   const yaml_event_t *event, int depth);

/* Returns the key, which has its value, or destroys both and returns NULL if the
 * key is not a word. */
static struct aps_yaml_node *take_key(const struct builder *builder,
                                      struct aps_yaml_node *key)
{
    if (key->kind == APS_YAML_SCALAR)
        return key;
    if (key->kind != APS_YAML_BAD)
        aps_errors_add(builder->errors, builder->path, key->line, key->column,
                       "a key must be a single value");
    aps_yaml_destroy(key);
    return NULL;
}

/*
 * Appends the children of a list, or the keys and values of a mapping, up to
 * the event that ends it.
 */
static int build_children(struct builder *builder, struct aps_yaml_node *parent,
                          int depth)
{
    struct aps_yaml_node **link = &parent->first;
    struct aps_yaml_node *key = NULL;

    if (depth > MAX_DEPTH) {
        aps_errors_add(builder->errors, builder->path, parent->line,
                       parent->column, "the YAML text is nested too deeply");
        return -1;
    }
    for (;;) {
        struct aps_yaml_node *node;
        yaml_event_t event;

        if (next_event(builder, &event) < 0)
            goto destroy_key;
        if (event.type == YAML_SEQUENCE_END_EVENT ||
            event.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&event);
            return 0;
        }
        node = build(builder, &event, depth);
        yaml_event_delete(&event);
        if (!node)
            goto destroy_key;
        if (parent->kind == APS_YAML_MAPPING && !key) {
            key = node;
            continue;
        }
        if (key) {
            key->value = node;
            node = take_key(builder, key);
            key = NULL;
        }
        *link = node;
        if (node)
            link = &node->next;
    }

destroy_key:
    aps_yaml_destroy(key);
    return -1;
}

/* Builds the node that starts with `event`. Returns NULL after a fatal
 * error. */
static struct aps_yaml_node *build(struct builder *builder,
                                   const yaml_event_t *event, int depth)
{
    const struct aps_yaml_node *outer = builder->open;
    struct aps_yaml_node *node;
    bool flow;

    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return build_scalar(builder, event);
    case YAML_SEQUENCE_START_EVENT:
        check_properties(builder, event, event->data.sequence_start.anchor,
                         event->data.sequence_start.tag);
        node = new_node(builder, APS_YAML_LIST, event->start_mark);
        flow = event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
        break;
    case YAML_MAPPING_START_EVENT:
        check_properties(builder, event, event->data.mapping_start.anchor,
                         event->data.mapping_start.tag);
        node = new_node(builder, APS_YAML_MAPPING, event->start_mark);
        flow = event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
        break;
    default: /* only an alias remains */
        add_error(
            builder, event->start_mark,
            "aliases (*name) are not accepted; repeat the keys, or quote a "
            "pattern that begins with '*'");
        return new_node(builder, APS_YAML_BAD, event->start_mark);
    }
    if (flow)
        builder->open = node;
    if (node && build_children(builder, node, depth + 1) < 0) {
        aps_yaml_destroy(node);
        return NULL;
    }
    builder->open = outer;
    return node;
}

/* Skips events up to the first node. Returns false if there is none. */
static int find_root(struct builder *builder, yaml_event_t *event)
{
    for (;;) {
        if (next_event(builder, event) < 0)
            return -1;
        switch (event->type) {
        case YAML_STREAM_START_EVENT:
        case YAML_DOCUMENT_START_EVENT:
            yaml_event_delete(event);
            break;
        case YAML_STREAM_END_EVENT:
            yaml_event_delete(event);
            aps_errors_add(builder->errors, builder->path, 1, 1,
                           "nothing in it");
            return -1;
        default:
            return 0;
        }
    }
}

/* Reports text after the root, where the stream must end. */
static int check_rest(struct builder *builder)
{
    for (;;) {
        yaml_event_t event;
        yaml_event_type_t type;

        if (next_event(builder, &event) < 0)
            return -1;
        type = event.type;
        if (type == YAML_DOCUMENT_START_EVENT)
            add_error(builder, event.start_mark,
                      "a second document; a policy is one document");
        yaml_event_delete(&event);
        if (type != YAML_DOCUMENT_END_EVENT)
            return 0;
    }
}

int aps_yaml_parse(const char *path, const char *text, size_t length,
                   struct aps_yaml_node **root, struct aps_errors *errors)
{
    struct builder builder = {
        .path = path, .text = text, .length = length, .errors = errors};
    struct aps_yaml_node *node = NULL;
    yaml_event_t event;

    if (!yaml_parser_initialize(&builder.parser)) {
        no_memory(&builder);
        errno = ENOMEM;
        return -1;
    }
    /* The encoding is set, not guessed, so that a UTF-16 byte order mark is an
     * error; that of UTF-8 would count as a column. */
    yaml_parser_set_encoding(&builder.parser, YAML_UTF8_ENCODING);
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        builder.text += 3;
        builder.length -= 3;
    }
    yaml_parser_set_input_string(
        &builder.parser, (const unsigned char *)builder.text, builder.length);
    if (find_root(&builder, &event) == 0) {
        node = build(&builder, &event, 0);
        yaml_event_delete(&event);
    }
    if (node && check_rest(&builder) < 0) {
        aps_yaml_destroy(node);
        node = NULL;
    }
    yaml_parser_delete(&builder.parser);
    if (!node) {
        errno = EINVAL;
        return -1;
    }
    *root = node;
    return 0;
}

void aps_yaml_destroy(struct aps_yaml_node *root)
{
    while (root) {
        struct aps_yaml_node *next = root->next;

        /* The depth is at most that of the builder. */
        aps_yaml_destroy(root->first);
        aps_yaml_destroy(root->value);
        free(root->text);
        free(root);
        root = next;
    }
}

const struct aps_yaml_node *aps_yaml_find(const struct aps_yaml_node *mapping,
                                          const char *name)
{
    const struct aps_yaml_node *key = NULL;

    if (mapping->kind == APS_YAML_MAPPING)
        key = mapping->first;
    while (key && !aps_same_word(key->text, name))
        key = key->next;
    return key;
}

int aps_yaml_column(const struct aps_yaml_node *scalar, size_t offset)
{
    if (scalar->text_column == 0)
        return scalar->column;
    return scalar->text_column + aps_yaml_characters(scalar->text, offset);
}

const char *aps_yaml_kind_name(enum aps_yaml_kind kind)
{
    switch (kind) {
    case APS_YAML_LIST:
        return "a list";
    case APS_YAML_MAPPING:
        return "a mapping";
    default:
        return "a single value";
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "yaml/version.h"

#include <errno.h>
#include <string.h>

#define LANGUAGE 1
#define DIGITS "0123456789"

/* Returns the length of the number at *text, without leading zeros, and moves
 * *text past it and past a point that another number follows. */
static size_t next_number(const char **text, const char **digits)
{
    size_t length;

    *text += strspn(*text, "0");
    *digits = *text;
    length = strspn(*text, DIGITS);
    *text += length;
    if ((*text)[0] == '.' && strspn(*text + 1, DIGITS) > 0)
        ++*text;
    else
        *text = "";
    return length;
}

int aps_version_compare(const char *a, const char *b)
{
    while (*a || *b) {
        const char *x, *y;
        size_t x_length = next_number(&a, &x);
        size_t y_length = next_number(&b, &y);
        int order;

        if (x_length != y_length)
            return x_length < y_length ? -1 : 1;
        order = strncmp(x, y, x_length);
        if (order != 0)
            return order;
    }
    return 0;
}

/* True for numbers with points between them. */
static bool is_version(const char *text)
{
    for (;;) {
        size_t digits = strspn(text, DIGITS);

        if (digits == 0)
            return false;
        text += digits;
        if (*text == '\0')
            return true;
        if (*text++ != '.')
            return false;
    }
}

/* Returns the text of a key at the top of the file, or NULL. */
static const char *text_of(const struct aps_yaml_node *root, const char *name,
                           const struct aps_yaml_node **value)
{
    const struct aps_yaml_node *key = aps_yaml_find(root, name);

    if (!key || key->value->kind != APS_YAML_SCALAR)
        return NULL;
    *value = key->value;
    return key->value->text;
}

bool aps_version_is_ours(const char *path, const struct aps_yaml_node *root,
                         struct aps_error *error)
{
    const struct aps_yaml_node *value;
    const char *text = text_of(root, "version", &value);

    if (text && text[0] != '\0' && text[strspn(text, DIGITS)] == '\0' &&
        strcmp(text, "1") != 0) {
        aps_error_set(error, EINVAL, path, value->line, value->column,
                      "this policy is written in version %.20s of the "
                      "language; apsmpi " PACKAGE_VERSION " reads version %d",
                      text, LANGUAGE);
        return false;
    }
    text = text_of(root, "needs", &value);
    if (text && is_version(text) &&
        aps_version_compare(text, PACKAGE_VERSION) > 0) {
        aps_error_set(error, EINVAL, path, value->line, value->column,
                      "this policy needs apsmpi %.20s or newer; this is "
                      "apsmpi " PACKAGE_VERSION,
                      text);
        return false;
    }
    return true;
}

void aps_version_check(const struct aps_reader *reader,
                       const struct aps_yaml_node *root)
{
    const struct aps_yaml_node *version = aps_yaml_find(root, "version");
    const struct aps_yaml_node *needs = aps_yaml_find(root, "needs");
    const char *text;

    if (!version)
        aps_reader_error(reader, root,
                         "'version: %d' is missing: it says which policy "
                         "language follows",
                         LANGUAGE);
    else if ((text = aps_read_text(reader, version)) != NULL &&
             text[strspn(text, DIGITS)] != '\0')
        aps_reader_error(reader, version->value,
                         "'version' must be a whole number, not '%.80s'", text);
    if (needs && (text = aps_read_text(reader, needs)) != NULL &&
        !is_version(text))
        aps_reader_error(
            reader, needs->value,
            "'needs' must be a version of apsmpi such as " PACKAGE_VERSION
            ", not '%.80s'",
            text);
}

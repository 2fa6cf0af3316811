/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rules/select.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/digits.h"
#include "base/nearest.h"
#include "base/plural.h"
#include "text/glob.h"

struct taker {
    const struct aps_reader *reader;
    const struct aps_step_layers *layers;
    struct aps_selection *selection;
};

#define item_error(taker, item, ...)                                           \
    aps_errors_add((taker)->reader->errors, (taker)->reader->path,             \
                   (item)->line, (item)->column, __VA_ARGS__)

/* One end of a range. `last` with an unknown number of layers is an open end,
 * because no index exceeds the last layer. */
enum end_kind { END_NONE, END_INDEX, END_LAST, END_TOO_LARGE };

static enum end_kind parse_end(const char *text, size_t length, long *index)
{
    uintmax_t number;

    if (length == 5 && memcmp(text, "first", 5) == 0) {
        *index = 0;
        return END_INDEX;
    }
    if (length == 4 && memcmp(text, "last", 4) == 0)
        return END_LAST;
    if (aps_digits_parse(text, length, LONG_MAX - 1, &number) < 0)
        return errno == ERANGE ? END_TOO_LARGE : END_NONE;
    *index = (long)number;
    return END_INDEX;
}

/* Reads N, A-B or A-, where N, A and B may be `first` or `last`. False if the
 * text is not a range. */
static bool parse_span(const char *text, enum end_kind ends[2], long index[2])
{
    const char *dash = strchr(text, '-');
    size_t length = strlen(text);
    size_t left = dash ? (size_t)(dash - text) : length;

    ends[0] = parse_end(text, left, &index[0]);
    if (ends[0] == END_NONE)
        return false;
    if (!dash) {
        ends[1] = ends[0];
        index[1] = index[0];
        return true;
    }
    if (dash[1] == '\0') {
        ends[1] = END_LAST;
        return true;
    }
    ends[1] = parse_end(dash + 1, length - left - 1, &index[1]);
    return ends[1] != END_NONE;
}

static int add(const struct taker *taker, const struct aps_item *item,
               long first, long last)
{
    if (aps_ranges_add(&taker->selection->indices, first, last) < 0) {
        item_error(taker, item, "out of memory");
        return -1;
    }
    return 0;
}

static int take_span(const struct taker *taker, const struct aps_item *item,
                     const enum end_kind ends[2], long index[2])
{
    long count = taker->layers->blind ? 0 : taker->layers->count;

    if (ends[0] == END_TOO_LARGE || ends[1] == END_TOO_LARGE) {
        item_error(taker, item, "layer '%.80s' is too large", item->text);
        return -1;
    }
    if (ends[0] == END_LAST && ends[1] == END_LAST) {
        if (count == 0) {
            taker->selection->last = true;
            return 0;
        }
        return add(taker, item, count - 1, count - 1);
    }
    if (ends[0] == END_LAST || (ends[1] == END_INDEX && index[1] < index[0])) {
        item_error(taker, item, "layers '%.80s' runs backwards", item->text);
        return -1;
    }
    for (int i = 0; i < 2; i++) {
        if (count > 0 && ends[i] == END_INDEX && index[i] >= count) {
            item_error(taker, item,
                       "layer %ld is beyond the last: a step has %ld layer%s "
                       "(0-%ld)",
                       index[i], count, aps_plural(count), count - 1);
            return -1;
        }
    }
    if (ends[1] == END_LAST)
        index[1] = count > 0 ? count - 1 : APS_RANGE_OPEN;
    return add(taker, item, index[0], index[1]);
}

static bool has_name(const struct aps_layers *table, const char *name)
{
    for (size_t i = 0; table && i < table->count; i++)
        if (strcmp(table->list[i].name, name) == 0)
            return true;
    return false;
}

static int no_such_name(const struct taker *taker, const struct aps_item *item)
{
    const struct aps_layers *table = taker->layers->table;
    struct aps_nearest nearest = {.word = item->text};
    char hint[APS_HINT_MAX];

    if (item->text[0] == '-' && isdigit((unsigned char)item->text[1])) {
        item_error(taker, item,
                   "no layer is '%.80s': layers are counted from 0, and the "
                   "last one is 'last'",
                   item->text);
        return -1;
    }
    aps_nearest_offer(&nearest, "first");
    aps_nearest_offer(&nearest, "last");
    aps_nearest_offer(&nearest, "all");
    if (!table) {
        item_error(taker, item,
                   "layer name '%.80s' needs a layer table (table: FILE next "
                   "to 'rules')%s",
                   item->text, aps_nearest_hint(nearest.best, hint));
        return -1;
    }
    for (size_t i = 0; i < table->count; i++)
        aps_nearest_offer(&nearest, table->list[i].name);
    item_error(taker, item, "no layer of the table %s '%.80s'%s",
               aps_glob_is(item->text) ? "matches" : "is named", item->text,
               aps_nearest_hint(nearest.best, hint));
    return -1;
}

static int take_name(const struct taker *taker, const struct aps_item *item)
{
    const struct aps_layers *table = taker->layers->table;
    bool glob = aps_glob_is(item->text);
    bool found = false;

    if (taker->layers->blind)
        return 0;
    for (size_t i = 0; table && i < table->count; i++) {
        const char *name = table->list[i].name;

        /* A name that looks like a pattern matches its layer too. */
        if (strcmp(item->text, name) == 0 ||
            (glob && aps_glob_match(item->text, name))) {
            found = true;
            if (add(taker, item, (long)i, (long)i) < 0)
                return -1;
        }
    }
    return found ? 0 : no_such_name(taker, item);
}

static int take(void *data, const struct aps_item *item)
{
    const struct taker *taker = data;
    enum end_kind ends[2];
    long index[2] = {0, 0};

    if (parse_span(item->text, ends, index))
        return take_span(taker, item, ends, index);
    /* A layer may have that name. */
    if (strcmp(item->text, "all") == 0 &&
        !has_name(taker->layers->table, item->text)) {
        taker->selection->all = true;
        return 0;
    }
    return take_name(taker, item);
}

int aps_select_read(const struct aps_reader *reader,
                    const struct aps_yaml_node *key,
                    const struct aps_step_layers *layers,
                    struct aps_selection *selection)
{
    struct taker taker = {reader, layers, selection};

    if (aps_read_items(reader, key, take, &taker) < 0)
        return -1;
    aps_ranges_sort(&selection->indices);
    return 0;
}

bool aps_selection_holds(const struct aps_selection *selection, long layer,
                         long layers)
{
    if (selection->all || layer < 0)
        return selection->all;
    if (selection->last && layers > 0 && layer == layers - 1)
        return true;
    return aps_ranges_contain(&selection->indices, layer);
}

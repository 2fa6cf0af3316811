/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "policy/layers.h"
#include "tests/tap/tap.h"

#define HEADER "layer,name,count\n"

static struct aps_errors errors;

static const char *all_errors(void)
{
    static char text[8192];
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < errors.count && i < APS_ERRORS_MAX; i++) {
        char line[sizeof(struct aps_error)];

        aps_error_format(&errors.list[i], line, sizeof line);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                 i > 0 ? "\n" : "", line);
        if (used >= sizeof text)
            break;
    }
    return text;
}

static int parse(const char *text, struct aps_layers **layers)
{
    errors.count = 0;
    return aps_layers_parse("t.csv", text, strlen(text), layers, &errors);
}

static void test_bad(void)
{
    static const struct {
        const char *what;
        const char *text;
        const char *errors;
    } cases[] = {
        {"nothing", "", "t.csv:1:1: the table has no layers"},
        {"a header alone", HEADER, "t.csv:1:1: the table has no layers"},
        {"no header", "0,a,1\n1,b,1\n",
         "t.csv:1:1: the first line must be layer,name,count"},
        {"another header", "layer,count,name\n0,a,1\n",
         "t.csv:1:7: the first line must be layer,name,count"},
        {"too few fields", HEADER "0,a\n",
         "t.csv:2:4: too few fields: a line is layer,name,count"},
        {"too many fields", HEADER "0,a,1,2\n",
         "t.csv:2:6: too many fields: a line is layer,name,count"},
        {"an index out of order", HEADER "0,a,1\n2,b,1\n",
         "t.csv:3:1: layer index 2 out of order: expected 1"},
        {"no index", HEADER "x,a,1\n",
         "t.csv:2:1: layer index 'x' is not a whole number"},
        {"a negative index", HEADER "-1,a,1\n",
         "t.csv:2:1: layer index '-1' is not a whole number"},
        {"no name", HEADER "0,,1\n", "t.csv:2:3: the layer has no name"},
        {"an empty name in quotes", HEADER "0,\"\",1\n",
         "t.csv:2:3: the layer has no name"},
        {"a name twice", HEADER "0,a,1\n1,b,1\n2,a,1\n",
         "t.csv:4:3: duplicate layer name 'a', first in line 2"},
        {"a name three times", HEADER "0,a,1\n1,a,1\n2,a,1\n",
         "t.csv:3:3: duplicate layer name 'a', first in line 2\n"
         "t.csv:4:3: duplicate layer name 'a', first in line 2"},
        {"no elements", HEADER "0,a,0\n", "t.csv:2:5: count must be above 0"},
        {"no count", HEADER "0,a,\n",
         "t.csv:2:5: count '' is not a whole number"},
        {"a negative count", HEADER "0,a,-5\n",
         "t.csv:2:5: count '-5' is not a whole number"},
        {"a huge count", HEADER "0,a,99999999999999999999\n",
         "t.csv:2:5: count '99999999999999999999' is too large"},
        {"a huge sum", HEADER "0,a,9223372036854775807\n1,b,1\n",
         "t.csv:3:5: the counts up to here add up to too many elements"},
        {"a quote without end", HEADER "0,\"a,1\n",
         "t.csv:2:3: the quote does not end"},
        {"text behind a quote", HEADER "0,\"a\"b,1\n",
         "t.csv:2:6: a comma must follow the closing quote"},
        {"a column behind UTF-8", HEADER "0,\xc3\xa4\xc3\xb6,x\n",
         "t.csv:2:6: count 'x' is not a whole number"},
        {"several errors, sorted", HEADER "0,a,x\n5,a,1\n2,,1\n",
         "t.csv:2:5: count 'x' is not a whole number\n"
         "t.csv:3:1: layer index 5 out of order: expected 1\n"
         "t.csv:3:3: duplicate layer name 'a', first in line 2\n"
         "t.csv:4:3: the layer has no name"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct aps_layers *layers = NULL;

        ok(parse(cases[i].text, &layers) < 0 && !layers, "%s is refused",
           cases[i].what);
        is(all_errors(), cases[i].errors, "... with its place and cause");
    }
}

static void test_many_errors(void)
{
    static char text[16 * 1024] = HEADER;
    struct aps_layers *layers = NULL;

    for (int i = 0; i < 1000; i++)
        strcat(text, "x,y\n");
    ok(parse(text, &layers) < 0 && errors.count == 1000,
       "all errors are counted, though not all are kept");
}

static void test_good(void)
{
    struct aps_layers *layers = NULL;

    ok(parse("\n# a comment\n layer , name, count \r\n"
             "0,conv1.weight,9408\r\n"
             "\n  # another\n"
             "1,\"a, \"\"quoted\"\" name\" ,64\n"
             "2, blanks around , 1",
             &layers) == 0,
       "comments, empty lines, CRLF, quotes and blanks are taken");
    if (!layers) {
        diag("%s", all_errors());
        return;
    }
    ok(layers->count == 3, "three layers");
    is(layers->list[0].name, "conv1.weight", "a plain name");
    is(layers->list[1].name, "a, \"quoted\" name", "a quoted name");
    is(layers->list[2].name, "blanks around", "blanks around a name go");
    ok(layers->list[0].count == 9408 && layers->list[1].count == 64 &&
           layers->list[2].count == 1,
       "the counts");
    aps_layers_destroy(layers);
    aps_layers_destroy(NULL);
}

/* Every prefix, in storage that ends where the text ends. */
static void test_truncated(void)
{
    static const char text[] = HEADER "# c\n0,\"a \"\"b\",12\n1, x ,3\n";
    int parsed = 0;

    for (size_t length = 0; length < sizeof text; length++) {
        char copy[sizeof text];
        struct aps_layers *layers = NULL;

        /* To the end of the array, so that a tool can see reads behind. */
        char *start = copy + sizeof copy - length;
        memcpy(start, text, length);
        errors.count = 0;
        if (aps_layers_parse("t.csv", start, length, &layers, &errors) == 0)
            parsed++;
        aps_layers_destroy(layers);
    }
    ok(parsed > 0, "no truncated table does harm");
}

int main(void)
{
    test_bad();
    test_many_errors();
    test_good();
    test_truncated();
    return done_testing();
}

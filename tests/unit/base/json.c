/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/json.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "tests/tap/tap.h"

static char *written;
static size_t size;

static struct aps_json begin(void)
{
    return (struct aps_json){.stream = open_memstream(&written, &size)};
}

static void compare(struct aps_json *json, const char *wanted, const char *name)
{
    fclose(json->stream);
    is(written, wanted, "%s", name);
    free(written);
}

static void test_texts(void)
{
    static const struct {
        const char *text, *json, *name;
    } cases[] = {
        {NULL, "null", "no text"},
        {"", "\"\"", "an empty text"},
        {"a b", "\"a b\"", "letters"},
        {"\"\\/", "\"\\\"\\\\/\"", "a quotation mark, a backslash, a slash"},
        {"\001\t\n\r\033\037", "\"\\u0001\\u0009\\u000a\\u000d\\u001b\\u001f\"",
         "control characters"},
        {"\177", "\"\\u007f\"", "DEL"},
        {"\302\200\337\277", "\"\302\200\337\277\"", "two bytes"},
        {"\340\240\200\357\277\277", "\"\340\240\200\357\277\277\"",
         "three bytes"},
        {"\360\220\200\200\364\217\277\277",
         "\"\360\220\200\200\364\217\277\277\"", "four bytes"},
        {"\200x", "\"\\ufffdx\"", "a continuation alone"},
        {"\303", "\"\\ufffd\"", "a sequence that the end cuts"},
        {"\303(", "\"\\ufffd(\"", "a sequence that a letter cuts"},
        {"\300\257", "\"\\ufffd\\ufffd\"", "an over-long slash"},
        {"\340\237\277", "\"\\ufffd\\ufffd\\ufffd\"", "three bytes for two"},
        {"\355\240\200", "\"\\ufffd\\ufffd\\ufffd\"", "a surrogate"},
        {"\364\220\200\200", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"",
         "above 0x10ffff"},
        {"\370\210\200\200\200", "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\"",
         "five bytes"},
        {"\377\376", "\"\\ufffd\\ufffd\"", "bytes that UTF-8 lacks"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct aps_json json = begin();

        aps_json_text(&json, NULL, cases[i].text);
        compare(&json, cases[i].json, cases[i].name);
    }
}

static void test_numbers(void)
{
    static const struct {
        double value;
        const char *json;
    } cases[] = {
        {0, "0"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {100, "100"},
        {1e300, "1e+300"},
        {74.9, "74.9"},
        {1 / 3.0, "0.3333333333333333"},
        {0x1p-1074, "4.94065645841247e-324"},
        {(double)INFINITY, "null"},
        {(double)NAN, "null"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct aps_json json = begin();

        aps_json_double(&json, NULL, cases[i].value);
        compare(&json, cases[i].json, cases[i].json);
    }
}

static void test_nesting(void)
{
    struct aps_json json = begin();

    aps_json_open_object(&json, NULL);
    aps_json_open_array(&json, "empty");
    aps_json_close_array(&json);
    aps_json_open_object(&json, "o\"");
    aps_json_close_object(&json);
    aps_json_open_array(&json, "list");
    aps_json_bool(&json, NULL, true);
    aps_json_bool(&json, NULL, false);
    aps_json_null(&json, NULL);
    aps_json_unsigned(&json, NULL, UINTMAX_MAX);
    aps_json_open_object(&json, NULL);
    aps_json_text(&json, "a", "b");
    aps_json_close_object(&json);
    aps_json_close_array(&json);
    aps_json_unsigned(&json, "last", 0);
    aps_json_close_object(&json);
    compare(&json,
            "{\"empty\":[],\"o\\\"\":{},\"list\":[true,false,null,"
            "18446744073709551615,{\"a\":\"b\"}],\"last\":0}",
            "objects and arrays");
}

/* A program that loads the library may have set any locale. */
static void test_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8",
                                        "ru_RU.UTF-8"};
    bool found = false;

    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]) != NULL;
    if (!found) {
        skip(1, "no locale with a decimal comma is installed");
        return;
    }
    struct aps_json json = begin();

    aps_json_double(&json, NULL, 1.5);
    compare(&json, "1.5", "a point where the locale has a comma");
}

int main(void)
{
    test_texts();
    test_numbers();
    test_nesting();
    test_locale();
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apsmpi formats: the range and precision of number formats.
 */
#include "config.h"

#include <limits.h>
#include <stdio.h>

#include "base/print.h"
#include "number/format.h"
#include "cli/columns.h"
#include "cli/command.h"
#include "number/parse.h"

/* Formats that are shown if none is named. */
static const char *const common[] = {
    "e3m0",      "e2m1",      "e3m2",    "e4m3",     "e5m2",      "e2m1fn",
    "e2m3fn",    "e3m2fn",    "e4m3fn",  "fp16",     "bf16",      "tf32",
    "fp32",      "bfp3/64",   "bfp7/64", "bfp7/576", "mx-e2m1fn", "mx-e2m3fn",
    "mx-e3m2fn", "mx-e4m3fn", "mx-e5m2", "mx-int8",  "nvfp4",     "qsgd7/512",
    "int8/512",  "sign/512",  "flex8",   "flex16",
};

static const struct aps_column columns[] = {
    {"format", false},
    {"bits", false},
    {"width", true},
    {"bias", true},
    {"largest", true},
    {"smallest normal", true},
    {"smallest subnormal", true},
    {"per binade", true},
    {"block", true},
    {"bits a value", true},
};
#define COLUMNS (sizeof columns / sizeof columns[0])

/* Writes a value with all its digits, or a mark that it does not exist. */
static void print_value(char *cell, size_t size, bool exists, double value)
{
    if (exists)
        aps_print(cell, size, "%.9g", value);
    else
        snprintf(cell, size, "none");
}

static void add(struct aps_columns *table, const char *name,
                const struct aps_format *f)
{
    const bool floats = f->exponent_bits > 0;
    char text[COLUMNS][32];
    const char *cells[COLUMNS];

    snprintf(text[0], sizeof text[0], "%s", name);
    if (floats)
        snprintf(text[1], sizeof text[1], "1+%d+%d", f->exponent_bits,
                 f->mantissa_bits);
    else
        snprintf(text[1], sizeof text[1], "1+%d", f->mantissa_bits);
    print_value(text[2], sizeof text[2], true, f->width);
    print_value(text[3], sizeof text[3], floats, f->bias);
    print_value(text[4], sizeof text[4], true, (double)aps_format_max(f));
    print_value(text[5], sizeof text[5], f->exponent_bits > 1,
                aps_format_min_normal(f));
    print_value(text[6], sizeof text[6], f->mantissa_bits > 0,
                aps_format_min_positive(f));
    print_value(text[7], sizeof text[7], floats, 1 << f->mantissa_bits);
    print_value(text[8], sizeof text[8], f->block > 1, f->block);
    print_value(text[9], sizeof text[9], true, aps_format_bits(f));
    for (size_t i = 0; i < COLUMNS; i++)
        cells[i] = text[i];
    aps_columns_add(table, cells);
}

static int run(const struct aps_arguments *arguments)
{
    struct aps_columns *table;
    const char *const *names = common;
    size_t count = sizeof common / sizeof common[0];
    int status = APS_EXIT_OK;

    if (arguments->count > 0) {
        names = arguments->operands;
        count = arguments->count;
    }
    table = aps_columns_create(columns, COLUMNS);
    for (size_t i = 0; i < count; i++) {
        struct aps_error error;
        struct aps_format format;

        if (aps_format_parse(names[i], &format, &error) < 0) {
            fprintf(stderr, "apsmpi: %s\n", error.text);
            status = APS_EXIT_USAGE;
        } else {
            add(table, names[i], &format);
        }
    }
    if (status == APS_EXIT_OK)
        aps_columns_print(table);
    aps_columns_destroy(table);
    return status;
}

const struct aps_subcommand aps_subcommand_formats = {
    .name = "formats",
    .summary = "what number formats can hold",
    .operands = "[NAME...]",
    .help =
        "Prints a table: bits (sign+exponent+mantissa, or sign+magnitude),\n"
        "width, bias, the largest and the smallest values, values per\n"
        "binade; how many values share a scale, and the bits of a value\n"
        "with its part of that. The values of a format in blocks\n"
        "are those of a block whose scale is 1. Without a name, shows common\n"
        "formats. If a name is wrong, says why and prints no table.\n",
    .most = INT_MAX,
    .run = run,
};

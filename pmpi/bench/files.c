/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "bench/files.h"

#include <errno.h>
#include <string.h>

#include "base/print.h"
#include "bench/figures.h"

#define SCHEMA 1 /* see apsmpi(1) */

/* Figures that both files have: the CSV's column and the JSON's member, and the factor
 * of their unit. */
static const struct {
    const char *name;
    size_t offset;
    double factor;
} columns[] = {
    {"median_usec", offsetof(struct aps_bench_figures, median), 1e6},
    {"min_usec", offsetof(struct aps_bench_figures, least), 1e6},
    {"ratio_native", offsetof(struct aps_bench_figures, faster), 1},
    {"ratio_floor", offsetof(struct aps_bench_figures, of_floor), 1},
    {"wire_share", offsetof(struct aps_bench_figures, of_wire), 1},
    {"q1_usec", offsetof(struct aps_bench_figures, first_quartile), 1e6},
    {"q3_usec", offsetof(struct aps_bench_figures, third_quartile), 1e6},
    {"bus_gbytes", offsetof(struct aps_bench_figures, bus), 1e-9},
    {"copy_share", offsetof(struct aps_bench_figures, of_copy), 1},
};
#define COLUMNS (sizeof columns / sizeof *columns)

/* Returns a figure in its unit; 0: there is none. */
static double figure(const struct aps_bench_variant *v, size_t column)
{
    const char *figures = (const char *)&v->figures;
    double value;

    memcpy(&value, figures + columns[column].offset, sizeof value);
    return value * columns[column].factor;
}

static FILE *open_file(const char *path, char *error)
{
    FILE *file = path ? fopen(path, "w") : NULL;

    if (path && !file)
        snprintf(error, APS_BENCH_ERROR, "%.200s: %s", path, strerror(errno));
    return file;
}

static void open_json(struct aps_json *json, const struct aps_bench *b)
{
    aps_json_open_object(json, NULL);
    aps_json_unsigned(json, "schema", SCHEMA);
    aps_json_text(json, "command", "bench");
    aps_json_text(json, "version", PACKAGE_VERSION);
    aps_json_unsigned(json, "ranks", (uintmax_t)b->ranks);
    aps_json_unsigned(json, "hosts", (uintmax_t)b->hosts);
    aps_json_open_array(json, "cases");
}

int aps_bench_files_open(struct aps_bench_files *files,
                         const struct aps_bench *b, char *error)
{
    files->csv = open_file(b->choice.csv, error);
    files->json.stream = open_file(b->choice.json, error);
    if ((b->choice.csv && !files->csv) ||
        (b->choice.json && !files->json.stream))
        return -1;
    if (files->csv) {
        fprintf(files->csv, "variant,reduce,count,ranks");
        for (size_t i = 0; i < COLUMNS; i++)
            fprintf(files->csv, ",%s", columns[i].name);
        fprintf(files->csv, ",hosts,calls,rounds,error,rewritten,wire_gbit\n");
    }
    if (files->json.stream)
        open_json(&files->json, b);
    return 0;
}

static void write_row(FILE *csv, const struct aps_bench *b,
                      const struct aps_bench_variant *v)
{
    fprintf(csv, "%s,%s,%zu,%d", v->name, v->reduce, b->count, b->ranks);
    for (size_t i = 0; i < COLUMNS; i++)
        if (figure(v, i) > 0)
            aps_fprint(csv, ",%.6g", figure(v, i));
        else
            fprintf(csv, ",");
    fprintf(csv, ",%d,%d,%d", b->hosts, b->piece_count, b->rounds);
    if (aps_bench_has_error(v))
        aps_fprint(csv, ",%.3g,%s", v->error, v->rewritten ? "yes" : "no");
    else
        fprintf(csv, ",,");
    if (b->choice.wire_gbit > 0)
        aps_fprint(csv, ",%.6g\n", b->choice.wire_gbit);
    else
        fprintf(csv, ",\n");
}

static void write_object(struct aps_json *json,
                         const struct aps_bench_variant *v)
{
    aps_json_open_object(json, NULL);
    aps_json_text(json, "variant", v->name);
    aps_json_text(json, "reduce", v->reduce);
    for (size_t i = 0; i < COLUMNS; i++)
        if (figure(v, i) > 0)
            aps_json_double(json, columns[i].name, figure(v, i));
        else
            aps_json_null(json, columns[i].name);
    if (aps_bench_has_error(v)) {
        aps_json_double(json, "error", v->error);
        aps_json_bool(json, "rewritten", v->rewritten);
    } else {
        aps_json_null(json, "error");
        aps_json_null(json, "rewritten");
    }
    aps_json_close_object(json);
}

void aps_bench_files_case(struct aps_bench_files *files,
                          const struct aps_bench *b)
{
    struct aps_json *json = &files->json;

    for (int i = 0; i < b->variant_count && files->csv; i++)
        write_row(files->csv, b, &b->variants[i]);
    if (files->csv)
        fflush(files->csv);
    if (!json->stream)
        return;
    aps_json_open_object(json, NULL);
    aps_json_unsigned(json, "count", b->count);
    aps_json_unsigned(json, "calls", (uintmax_t)b->piece_count);
    aps_json_unsigned(json, "rounds", (uintmax_t)b->rounds);
    aps_json_open_array(json, "rows");
    for (int i = 0; i < b->variant_count; i++)
        write_object(json, &b->variants[i]);
    aps_json_close_array(json);
    aps_json_close_object(json);
}

static void close_json(struct aps_json *json, const struct aps_bench *b,
                       bool busy)
{
    aps_json_close_array(json);
    aps_json_open_array(json, "min_counts");
    for (int i = 0; i < b->variant_count; i++) {
        const struct aps_bench_variant *v = &b->variants[i];

        if (v->kind != APS_BENCH_OURS)
            continue;
        aps_json_open_object(json, NULL);
        aps_json_text(json, "format", v->name);
        aps_json_text(json, "reduce", v->reduce);
        if (v->min_count > 0)
            aps_json_unsigned(json, "min_count", v->min_count);
        else
            aps_json_null(json, "min_count");
        aps_json_close_object(json);
    }
    aps_json_close_array(json);
    aps_json_bool(json, "busy", busy);
    aps_json_bool(json, "ok", !b->wrong);
    aps_json_close_object(json);
    fputc('\n', json->stream);
}

/* Returns -1 if a part of the file could not be written. NULL is allowed. */
static int close_file(FILE *file)
{
    const bool bad = file && ferror(file);

    return (file && fclose(file) != 0) || bad ? -1 : 0;
}

int aps_bench_files_close(struct aps_bench_files *files,
                          const struct aps_bench *b, bool busy)
{
    int rc = close_file(files->csv);

    if (files->json.stream)
        close_json(&files->json, b, busy);
    return close_file(files->json.stream) < 0 ? -1 : rc;
}

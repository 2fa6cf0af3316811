/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "bench/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
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

/* Returns 0, or -1 with the cause in `error`. */
static int open_file(struct aps_bench_file *file, const char *path, char *error)
{
    if (!path)
        return 0;
    if (aps_output_open(&file->output, path) < 0) {
        snprintf(error, APS_BENCH_ERROR, "%.200s: %s", path, strerror(errno));
        return -1;
    }
    file->text = open_memstream(&file->bytes, &file->size);
    if (file->text)
        return 0;
    snprintf(error, APS_BENCH_ERROR, "out of memory");
    return -1;
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
    if (open_file(&files->csv, b->choice.csv, error) < 0 ||
        open_file(&files->object, b->choice.json, error) < 0) {
        aps_output_drop(&files->csv.output);
        return -1;
    }
    files->json.stream = files->object.text;
    if (files->csv.text) {
        fprintf(files->csv.text, "variant,reduce,count,ranks");
        for (size_t i = 0; i < COLUMNS; i++)
            fprintf(files->csv.text, ",%s", columns[i].name);
        fprintf(files->csv.text,
                ",hosts,calls,rounds,error,rewritten,wire_gbit\n");
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

    for (int i = 0; i < b->variant_count && files->csv.text; i++)
        write_row(files->csv.text, b, &b->variants[i]);
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

static void close_json(struct aps_json *json, const struct aps_bench *b)
{
    aps_json_close_array(json);
    aps_json_open_array(json, "min_counts");
    for (int i = 0; i < b->variant_count; i++) {
        const struct aps_bench_variant *v = &b->variants[i];

        if (v->kind != APS_BENCH_OURS || b->choice.size_count == 0)
            continue;
        aps_json_open_object(json, NULL);
        aps_json_text(json, "format", v->name);
        aps_json_text(json, "reduce", v->reduce);
        aps_json_unsigned_or_null(json, "min_count", v->min_count > 0,
                                  v->min_count);
        aps_json_close_object(json);
    }
    aps_json_close_array(json);
    aps_json_bool(json, "busy", b->busy);
    aps_json_bool(json, "ok", !b->wrong);
    aps_json_close_object(json);
    fputc('\n', json->stream);
}

/* Writes the text to its file, and closes both. Prints the cause of a failure. */
static bool close_file(struct aps_bench_file *file, const char *path)
{
    bool good = true;

    if (file->text) {
        const bool whole = !ferror(file->text);

        good = fclose(file->text) == 0 && whole &&
               aps_output_begin(&file->output) == 0;
        if (good)
            (void)fwrite(file->bytes, 1, file->size, file->output.stream);
        good = good && aps_output_end(&file->output) == 0;
        if (!good)
            aps_message(-1, "bench: %s: %s", path, strerror(errno));
    }
    aps_output_drop(&file->output);
    free(file->bytes);
    return good;
}

bool aps_bench_files_close(struct aps_bench_files *files,
                           const struct aps_bench *b)
{
    bool good = close_file(&files->csv, b->choice.csv);

    if (files->json.stream)
        close_json(&files->json, b);
    return close_file(&files->object, b->choice.json) && good;
}

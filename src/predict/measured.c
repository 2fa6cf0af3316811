/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "predict/measured.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/print.h"
#include "base/real.h"
#include "number/parse.h"
#include "yaml/yaml.h"
#include "predict/quantity.h"

#define MEASURED_VERSION 1
#define FILE_MAX ((size_t)1024 * 1024)
#define LEAST 1e-15 /* seconds; no rate is 0 */

/* Does not use the link's own latency, because a step of native MPI may
 * exchange requests before data. */
static bool measured_waits(const struct aps_link *link)
{
    return link->wait > APS_MEASURED_BUSY_WAIT + 4 * link->latency;
}

bool aps_measured_is_busy(const struct aps_measured *measured)
{
    return measured->spread > APS_MEASURED_BUSY_SPREAD ||
           measured_waits(&measured->machine.between) ||
           measured_waits(&measured->machine.inside);
}

/* Returns the longest wait of the links beyond the limit, or 0. */
static double longest_wait(const struct aps_machine *machine)
{
    const struct aps_link *const links[] = {&machine->between,
                                            &machine->inside};
    double longest = 0;

    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (measured_waits(links[i]))
            longest = fmax(longest, links[i]->wait);
    return longest;
}

char *aps_measured_busy(const struct aps_measured *measured, const char *what,
                        char *buffer, size_t size)
{
    const double wait = longest_wait(&measured->machine);
    size_t used = 0;
    char time[24];

    if (size == 0)
        return buffer;
    buffer[0] = '\0';
    if (measured->spread > APS_MEASURED_BUSY_SPREAD)
        aps_print(buffer, size, "repetitions disagree by %.0f %%%s%s%s",
                  100 * measured->spread, what ? " (" : "", what ? what : "",
                  what ? ")" : "");
    used = strlen(buffer);
    if (wait > 0)
        snprintf(buffer + used, size - used, "%sa step of native MPI waits %s",
                 used > 0 ? ", and " : "",
                 aps_quantity_format_time(wait, time, sizeof time));
    return buffer;
}

const struct aps_codec_rates *
aps_measured_codec(const struct aps_measured *measured,
                   const struct aps_format *format)
{
    for (int i = 0; i < measured->formats; i++)
        if (strcmp(measured->codecs[i].format.name, format->name) == 0)
            return &measured->codecs[i].rates;
    return NULL;
}

/* --- numbers of a mapping ------------------------------------------------ */

/* A key and the destination of its number. */
struct field {
    const char *name;
    double *value;
    double least;
};

struct reading {
    const char *path;
    struct aps_errors *errors;
};

static void wrong(const struct reading *reading,
                  const struct aps_yaml_node *node, const char *what,
                  const char *why)
{
    aps_errors_add(reading->errors, reading->path, node->line, node->column,
                   "%s %s", what, why);
}

static void read_field(const struct reading *reading,
                       const struct aps_yaml_node *mapping,
                       const struct field *field)
{
    const struct aps_yaml_node *key = aps_yaml_find(mapping, field->name);
    double value;

    if (!key) {
        wrong(reading, mapping, field->name, "is missing");
        return;
    }
    if (!key->value || key->value->kind != APS_YAML_SCALAR) {
        wrong(reading, key, field->name, "is not a number");
        return;
    }
    value = aps_real_parse(key->value->text);
    if (isnan(value) || isinf(value))
        wrong(reading, key->value, field->name, "is not a number");
    else if (value < field->least)
        wrong(reading, key->value, field->name,
              field->least < 1 ? "is too small" : "is less than 1");
    else
        *field->value = value;
}

/* Reads the fields, which must all be given, except `optional` (may be
 * NULL). */
static void read_fields(const struct reading *reading,
                        const struct aps_yaml_node *mapping, const char *what,
                        const struct field *fields, size_t count,
                        const struct field *optional)
{
    if (!mapping || mapping->kind != APS_YAML_MAPPING) {
        if (mapping && mapping->kind != APS_YAML_BAD)
            wrong(reading, mapping, what, "is no mapping");
        return;
    }
    for (size_t i = 0; i < count; i++)
        read_field(reading, mapping, &fields[i]);
    if (optional && aps_yaml_find(mapping, optional->name))
        read_field(reading, mapping, optional);
    for (const struct aps_yaml_node *key = mapping->first; key;
         key = key->next) {
        bool known = optional && strcmp(key->text, optional->name) == 0;

        for (size_t i = 0; i < count; i++)
            known |= strcmp(key->text, fields[i].name) == 0;
        if (!known)
            aps_errors_add(reading->errors, reading->path, key->line,
                           key->column, "unknown key '%.40s' in %s", key->text,
                           what);
    }
}

static void read_link(const struct reading *reading,
                      const struct aps_yaml_node *mapping, const char *what,
                      struct aps_link *link)
{
    const struct field fields[] = {
        {"latency", &link->latency, LEAST}, {"rate", &link->rate, 1},
        {"bulk", &link->bulk, 1},           {"wait", &link->wait, LEAST},
        {"message", &link->message, 0},     {"byte", &link->byte, 0},
    };
    const struct field burst = {"burst", &link->burst, 0};

    read_fields(reading, mapping, what, fields, sizeof fields / sizeof *fields,
                &burst);
}

static void read_codec(const struct reading *reading,
                       const struct aps_yaml_node *key,
                       struct aps_measured *measured)
{
    struct aps_codec_rates *rates = &measured->codecs[measured->formats].rates;
    const struct field fields[] = {
        {"magnitude", &rates->magnitude, LEAST},
        {"encode", &rates->encode, LEAST},
        {"decode", &rates->decode, LEAST},
        {"add", &rates->add, LEAST},
        {"round", &rates->round, LEAST},
    };
    struct aps_error error;

    if (measured->formats == APS_MEASURED_FORMATS) {
        wrong(reading, key, key->text, "is one format too many");
        return;
    }
    if (aps_format_parse(key->text, &measured->codecs[measured->formats].format,
                         &error) < 0) {
        wrong(reading, key, key->text, "is no format");
        return;
    }
    read_fields(reading, key->value, key->text, fields,
                sizeof fields / sizeof *fields, NULL);
    measured->formats++;
}

/* --- the file ------------------------------------------------------------ */

enum { FORMAT_VERSION, HOSTS, RANKS, COPY, ADD, MARK, SPREAD, MEMORY };
enum { BETWEEN = MEMORY + 1, INSIDE, CODECS };
static const char *const sections[] = {
    "version", "hosts",  "ranks_per_host", "copy",   "add",    "mark",
    "spread",  "memory", "between",        "inside", "codecs",
};
#define SECTIONS (sizeof sections / sizeof *sections)

static void read_tree(const struct reading *reading,
                      const struct aps_yaml_node *root,
                      struct aps_measured *measured)
{
    struct aps_machine *machine = &measured->machine;
    const struct aps_yaml_node *keys[SECTIONS];
    double version = 0, hosts = 0, ranks = 0;
    const struct field fields[] = {
        {sections[FORMAT_VERSION], &version, 1},
        {sections[HOSTS], &hosts, 1},
        {sections[RANKS], &ranks, 1},
        {sections[COPY], &machine->copy, LEAST},
        {sections[ADD], &machine->add, LEAST},
        {sections[MARK], &machine->mark, LEAST},
    };
    const struct field memory[APS_MEMORY_SIZES] = {
        {"4Mi", &machine->memory[0], 0}, {"16Mi", &machine->memory[1], 0}};
    const struct field spread = {sections[SPREAD], &measured->spread, 0};

    for (size_t i = 0; i < SECTIONS; i++) {
        keys[i] = aps_yaml_find(root, sections[i]);
        if (i >= BETWEEN && !keys[i])
            wrong(reading, root, sections[i], "is missing");
    }
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        read_field(reading, root, &fields[i]);
    if (keys[SPREAD])
        read_field(reading, root, &spread);
    if (keys[MEMORY])
        read_fields(reading, keys[MEMORY]->value, sections[MEMORY], memory,
                    APS_MEMORY_SIZES, NULL);
    if (keys[FORMAT_VERSION] && version != MEASURED_VERSION)
        wrong(reading, keys[FORMAT_VERSION], "version",
              "is not 1, which this apsmpi reads");
    for (const struct aps_yaml_node *key = root->first; key; key = key->next) {
        bool known = false;

        for (size_t i = 0; i < SECTIONS; i++)
            known |= strcmp(key->text, sections[i]) == 0;
        if (!known)
            aps_errors_add(reading->errors, reading->path, key->line,
                           key->column, "unknown key '%.40s'", key->text);
    }
    machine->hosts = (int)fmin(hosts, 1e6);
    machine->ranks_per_host = (int)fmin(ranks, 1e6);
    if (keys[BETWEEN])
        read_link(reading, keys[BETWEEN]->value, "between", &machine->between);
    if (keys[INSIDE])
        read_link(reading, keys[INSIDE]->value, "inside", &machine->inside);
    if (keys[CODECS] && keys[CODECS]->value &&
        keys[CODECS]->value->kind == APS_YAML_MAPPING)
        for (const struct aps_yaml_node *key = keys[CODECS]->value->first; key;
             key = key->next)
            read_codec(reading, key, measured);
    else if (keys[CODECS])
        wrong(reading, keys[CODECS], "codecs", "is no mapping");
}

/* Returns the file's text, which the caller frees, or NULL after an error. */
static char *read_text(const char *path, size_t *length,
                       struct aps_errors *errors)
{
    FILE *stream = fopen(path, "re");
    char *text = stream ? malloc(FILE_MAX + 1) : NULL;

    if (!text) {
        aps_errors_add(errors, path, 0, 0, "%s", strerror(errno));
    } else {
        *length = fread(text, 1, FILE_MAX + 1, stream);
        if (ferror(stream) || *length > FILE_MAX) {
            aps_errors_add(errors, path, 0, 0, "%s",
                           ferror(stream) ? "cannot be read"
                                          : "is longer than 1 MiB");
            free(text);
            text = NULL;
        } else {
            text[*length] = '\0';
        }
    }
    if (stream)
        fclose(stream);
    return text;
}

int aps_measured_read(const char *path, struct aps_measured *measured,
                      struct aps_errors *errors)
{
    const size_t before = errors->count;
    const struct reading reading = {path, errors};
    struct aps_yaml_node *root;
    size_t length;
    char *text = read_text(path, &length, errors);

    if (!text)
        return -1;
    memset(measured, 0, sizeof *measured);
    if (aps_yaml_parse(path, text, length, &root, errors) == 0) {
        if (root->kind == APS_YAML_MAPPING)
            read_tree(&reading, root, measured);
        else if (root->kind != APS_YAML_BAD)
            wrong(&reading, root, "the file", "is no mapping");
        aps_yaml_destroy(root);
    }
    free(text);
    return errors->count > before ? -1 : 0;
}

static void write_link(const char *name, const struct aps_link *link,
                       FILE *stream)
{
    aps_fprint(stream,
               "%s: {latency: %.4g, rate: %.4g, bulk: %.4g, wait: %.4g, "
               "message: %.4g, byte: %.4g, burst: %.4g}\n",
               name, link->latency, link->rate, link->bulk, link->wait,
               link->message, link->byte, link->burst);
}

void aps_measured_write(const struct aps_measured *measured,
                        const char *comment, FILE *stream)
{
    const struct aps_machine *machine = &measured->machine;

    aps_fprint(stream,
               "# %s\n"
               "# seconds; rates in bytes a second; codecs: seconds a value\n"
               "version: %d\nhosts: %d\nranks_per_host: %d\n"
               "copy: %.4g\nadd: %.4g\nmark: %.4g\n"
               "spread: %.2g # of repetitions, of 1\n",
               comment, MEASURED_VERSION, machine->hosts,
               machine->ranks_per_host, machine->copy, machine->add,
               machine->mark, measured->spread);
    aps_fprint(stream, "memory: {4Mi: %.4g, 16Mi: %.4g}\n", machine->memory[0],
               machine->memory[1]);
    write_link("between", &machine->between, stream);
    write_link("inside", &machine->inside, stream);
    fprintf(stream, "codecs:\n");
    for (int i = 0; i < measured->formats; i++) {
        const struct aps_codec_rates *rates = &measured->codecs[i].rates;

        aps_fprint(stream,
                   "  %s: {magnitude: %.4g, encode: %.4g, decode: %.4g, "
                   "add: %.4g, round: %.4g}\n",
                   measured->codecs[i].format.name, rates->magnitude,
                   rates->encode, rates->decode, rates->add, rates->round);
    }
}

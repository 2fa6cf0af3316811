/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tests/unit/roundoff/log_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap/tap.h"

char log_file_directory[] = "/tmp/aps-log-XXXXXX";
char log_file_path[256];
char log_file_text[1 << 20];

void log_file_begin(void)
{
    if (!mkdtemp(log_file_directory))
        bail_out("cannot make %s", log_file_directory);
    snprintf(log_file_path, sizeof log_file_path, "%s/log.csv",
             log_file_directory);
}

void log_file_end(void)
{
    char command[300];

    snprintf(command, sizeof command, "rm -rf '%s'", log_file_directory);
    if (system(command) != 0)
        diag("%s is left", log_file_directory);
}

void log_file_read_from(const char *path)
{
    FILE *file = fopen(path, "r");
    size_t length =
        file ? fread(log_file_text, 1, sizeof log_file_text - 1, file) : 0;

    if (file)
        fclose(file);
    log_file_text[length] = '\0';
}

void log_file_read(void)
{
    log_file_read_from(log_file_path);
}

void log_file_write_to(const char *path, const char *content)
{
    FILE *file = fopen(path, "w");

    if (!file || fputs(content, file) < 0 || fclose(file) != 0)
        bail_out("cannot write %s", path);
}

void log_file_write(const char *content)
{
    log_file_write_to(log_file_path, content);
}

size_t log_file_count(const char *what)
{
    size_t n = 0;

    for (const char *p = log_file_text; (p = strstr(p, what));
         p += strlen(what))
        n++;
    return n;
}

void log_file_open(struct aps_log *log)
{
    struct aps_error error;

    if (aps_log_open(log, log_file_path, &error) < 0)
        bail_out("%s: %s", log_file_path, error.text);
}

static const struct aps_measure log_file_measure = {.compared = 4,
                                                    .skipped = 1,
                                                    .underflow = 2,
                                                    .overflow = 3,
                                                    .nonfinite = 5,
                                                    .sum_relative = 1,
                                                    .max_relative = 0.5,
                                                    .sum_error2 = 1,
                                                    .sum_reference2 = 100};

struct aps_log_row log_file_row(const char *name)
{
    return (struct aps_log_row){
        .time = 1700000000.25,
        .comm = "MPI_COMM_WORLD",
        .step = 300,
        .epoch = 1,
        .layer = 52,
        .name = name,
        .count = 2359296,
        .type = "bf16",
        .format = "e5m2",
        .scale = "aps",
        .reduce = "direct",
        .scale_exponent = -7,
        .measure = &log_file_measure,
        .wire_bytes = 4718592,
        .fp32_bytes = 18874368,
        .usec = 1234.56,
        .agree_usec = 20.5,
        .run = "20231114T221320.250000-4711",
        .call = "iallreduce",
        .rule = "deep, wide",
        .scale_value = 0.0078125,
        .group = "numa",
        .node = "fp32",
        .accumulate = "format",
        .shadow = 3,
        .redone = 2,
        .overflowed = 1,
        .compress = "mstopk 0.2 + powersgd rank 4",
        .density = 0.2,
        .rank = 4,
        .residual = 0.125,
        .entropy = 3.14159,
    };
}

/* Splits a CSV line in place. Returns the number of fields. */
int log_file_split(char *line, char *fields[LOG_FIELDS + 1])
{
    int n = 0;
    char *at = line;

    while (n <= LOG_FIELDS) {
        char *out = at;

        fields[n++] = out;
        if (*at == '"') {
            for (at++; *at && (*at != '"' || at[1] == '"'); at++) {
                at += *at == '"';
                *out++ = *at;
            }
            at += *at == '"';
        } else {
            at += strcspn(at, ",\n");
            out = at;
        }
        if (*at != ',') {
            *out = '\0';
            return n;
        }
        at++;
        *out = '\0';
    }
    return n;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "bench/sizes.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int aps_bench_read_size(const char *text, size_t *size)
{
    char *end;
    double number = strtod(text, &end);

    if (strcmp(end, "Ki") == 0)
        number *= 1024;
    else if (strcmp(end, "Mi") == 0)
        number *= 1024 * 1024;
    else if (*end)
        return -1;
    if (end == text || !(number >= 1 && number <= 1e9))
        return -1;
    *size = (size_t)llround(number);
    return 0;
}

/* Returns the column of the header `line` that is the count; -1: none. */
static int find_count(char *line)
{
    char *rest = line;
    int column = 0;

    line[strcspn(line, "\r\n")] = 0;
    for (char *name; (name = strsep(&rest, ",")); column++)
        if (strcmp(name, "count") == 0)
            return column;
    return -1;
}

/* Reads one line of the table. */
static int read_tensor(char *line, int column, size_t *tensor, char *error)
{
    const char *count = line;
    char *end = NULL;

    line[strcspn(line, "\r\n")] = 0;
    for (int i = 0; i < column && count; i++) {
        count = strchr(count, ',');
        count = count ? count + 1 : NULL;
    }
    if (count)
        *tensor = strtoul(count, &end, 10);
    if (count && end > count && (!*end || *end == ',') && *tensor >= 1)
        return 0;
    snprintf(error, APS_BENCH_ERROR, "no count in column %d: '%.120s'",
             column + 1, line);
    return -1;
}

int aps_bench_read_tensors(const char *path, size_t **tensors, int *count,
                           char *error)
{
    size_t *list = malloc(APS_BENCH_TENSORS * sizeof *list);
    FILE *file = fopen(path, "r");
    char line[256];
    int n = 0, rc = -1, column = 2;

    if (!list || !file) {
        snprintf(error, APS_BENCH_ERROR, "%s: %s", path, strerror(errno));
        goto out;
    }
    for (rc = 0; rc == 0 && fgets(line, sizeof line, file);) {
        if (strchr("#\r\n", line[0]))
            continue; /* a comment, or an empty line */
        if (n == 0 && strchr("0123456789", line[0]) == NULL) {
            column = find_count(line);
            if (column >= 0)
                continue;
        }
        rc = -1;
        if (n == APS_BENCH_TENSORS)
            snprintf(error, APS_BENCH_ERROR, "more than %d tensors in %s",
                     APS_BENCH_TENSORS, path);
        else
            rc = read_tensor(line, column, &list[n++], error);
    }
    if (rc == 0 && n == 0) {
        snprintf(error, APS_BENCH_ERROR, "no tensors in %s", path);
        rc = -1;
    }
out:
    if (file)
        fclose(file);
    if (rc < 0) {
        free(list);
        return -1;
    }
    *tensors = list;
    *count = n;
    return 0;
}

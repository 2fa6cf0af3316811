/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "sizes.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sizes_read(const char *text, size_t *size)
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

/* One line of the table. */
static int read_tensor(char *line, size_t *tensor, char *error)
{
    const char *count = strrchr(line, ',');
    char *end = NULL;

    if (count)
        *tensor = strtoul(count + 1, &end, 10);
    line[strcspn(line, "\n")] = 0;
    if (end && (!*end || *end == '\n') && *tensor >= 1)
        return 0;
    snprintf(error, SIZES_ERROR, "not layer,name,count: '%.120s'", line);
    return -1;
}

int sizes_read_tensors(const char *path, size_t **tensors, int *count,
                       char *error)
{
    size_t *list = malloc(SIZES_TENSORS * sizeof *list);
    FILE *file = fopen(path, "r");
    char line[256];
    int n = 0, rc = -1;

    if (!list || !file) {
        snprintf(error, SIZES_ERROR, "%s: %s", path, strerror(errno));
        goto out;
    }
    for (rc = 0; rc == 0 && fgets(line, sizeof line, file);) {
        if (strncmp(line, "layer,", 6) == 0)
            continue;
        rc = -1;
        if (n == SIZES_TENSORS)
            snprintf(error, SIZES_ERROR, "more than %d tensors in %s",
                     SIZES_TENSORS, path);
        else
            rc = read_tensor(line, &list[n++], error);
    }
    if (rc == 0 && n == 0) {
        snprintf(error, SIZES_ERROR, "no tensors in %s", path);
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

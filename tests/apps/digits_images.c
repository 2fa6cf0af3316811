/* SPDX-License-Identifier: BSD-3-Clause */
#include "digits_images.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digits.h"

void images_free(struct images *set)
{
    free(set->x);
    free(set->label);
    *set = (struct images){0};
}

/* Reads one comma separated line into 64 features and a label. */
static int parse_line(const char *file, int line, const char *text, float *x,
                      unsigned char *label)
{
    const char *p = text;

    for (int j = 0; j <= FEATURES; j++) {
        const int max = j < FEATURES ? 16 : CLASSES - 1;
        const char *what = j < FEATURES ? "a feature 0..16" : "a label 0..9";
        char *end;
        long v = strtol(p, &end, 10);
        int bad = end == p || v < 0 || v > max;

        end += strspn(end, " \t\r\n");
        if (bad || *end != (j < FEATURES ? ',' : '\0')) {
            complain("%s:%d: value %d of %d is not %s", file, line, j + 1,
                     FEATURES + 1, what);
            return -1;
        }
        if (j < FEATURES)
            x[j] = (float)v / 16.0f;
        else
            *label = (unsigned char)v;
        p = end + (j < FEATURES);
    }
    return 0;
}

static int images_reserve(int room, struct images *set)
{
    float *x = realloc(set->x, (size_t)room * FEATURES * sizeof *x);
    unsigned char *label;

    if (x == NULL)
        return -1;
    set->x = x;
    label = realloc(set->label, (size_t)room * sizeof *label);
    if (label == NULL)
        return -1;
    set->label = label;
    return 0;
}

static int images_read(const char *file, struct images *set)
{
    char text[1024]; /* a longer line is cut, and then not a line of data */
    int room = 0, status = -1;
    FILE *f = fopen(file, "r");

    if (f == NULL) {
        complain("%s: %s", file, strerror(errno));
        return -1;
    }
    while (fgets(text, sizeof text, f) != NULL) {
        const int i = set->count;

        if (i == MAX_IMAGES) {
            complain("%s:%d: more than %d images", file, i + 1, MAX_IMAGES);
            goto close_file;
        }
        if (i == room) {
            room = room ? 2 * room : 2048;
            if (images_reserve(room, set) != 0) {
                complain("%s:%d: out of memory", file, i + 1);
                goto close_file;
            }
        }
        if (parse_line(file, i + 1, text, set->x + (size_t)i * FEATURES,
                       &set->label[i]) != 0)
            goto close_file;
        set->count++;
    }
    if (ferror(f)) {
        complain("%s:%d: %s", file, set->count + 1, strerror(errno));
        goto close_file;
    }
    if (set->count <= TEST_IMAGES) {
        complain("%s:%d: ends too early, %d images are for the test alone",
                 file, set->count, TEST_IMAGES);
        goto close_file;
    }
    status = 0;
close_file:
    fclose(f);
    return status;
}

int images_load(const char *file, struct images *set)
{
    int failed = 0;

    if (rank == 0)
        failed = images_read(file, set) != 0;
    MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (failed)
        goto free_images;
    MPI_Bcast(&set->count, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank != 0)
        failed = images_reserve(set->count, set) != 0;
    if (anyone_failed(failed)) {
        complain("%s: out of memory for %d images", file, set->count);
        goto free_images;
    }
    MPI_Bcast(set->x, set->count * FEATURES, MPI_FLOAT, 0, MPI_COMM_WORLD);
    MPI_Bcast(set->label, set->count, MPI_UNSIGNED_CHAR, 0, MPI_COMM_WORLD);
    return 0;
free_images:
    images_free(set);
    return -1;
}

char *images_beside(const char *program)
{
    static const char name[] = "digits.csv";
    const char *slash = strrchr(program, '/');
    size_t folder = slash ? (size_t)(slash - program) + 1 : 0;
    char *path = malloc(folder + sizeof name);

    if (path != NULL) {
        memcpy(path, program, folder);
        memcpy(path + folder, name, sizeof name);
    }
    return path;
}

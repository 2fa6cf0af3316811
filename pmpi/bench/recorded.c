/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "bench/recorded.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the number of floats of the record at `place`, or 0 if no whole record lies
 * there. */
static size_t record_length(const struct aps_recorded *recorded, size_t place)
{
    const size_t left = recorded->size - place;
    int64_t n;

    if (left < sizeof n)
        return 0;
    memcpy(&n, recorded->bytes + place, sizeof n);
    return n > 0 && (uint64_t)n <= (left - sizeof n) / sizeof(float) ? (size_t)n
                                                                     : 0;
}

/* Finds the records. Returns false if the file has other bytes, or without memory. */
static bool recorded_index(struct aps_recorded *recorded)
{
    for (size_t place = 0; place < recorded->size;) {
        const size_t n = record_length(recorded, place);
        size_t *more =
            realloc(recorded->records, (recorded->count + 1) * sizeof *more);

        if (more)
            recorded->records = more;
        if (!more || n == 0)
            return false;
        recorded->records[recorded->count++] = place;
        place += sizeof(int64_t) + n * sizeof(float);
    }
    return recorded->count > 0;
}

static bool recorded_repeats(const struct aps_recorded *recorded, size_t calls)
{
    for (size_t i = calls; i < recorded->count; i++)
        if (record_length(recorded, recorded->records[i]) !=
            record_length(recorded, recorded->records[i - calls]))
            return false;
    return true;
}

static int recorded_map(const char *path, struct aps_recorded *recorded)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;

    if (file < 0)
        return -1;
    if (fstat(file, &status) == 0 && status.st_size > 0) {
        recorded->size = (size_t)status.st_size;
        recorded->bytes =
            mmap(NULL, recorded->size, PROT_READ, MAP_PRIVATE, file, 0);
        if (recorded->bytes == MAP_FAILED)
            recorded->bytes = NULL;
    }
    close(file);
    return recorded->bytes ? 0 : -1;
}

int aps_recorded_open(const char *prefix, int rank,
                      struct aps_recorded *recorded, char *error, size_t size)
{
    char path[4096];

    *recorded = (struct aps_recorded){0};
    snprintf(path, sizeof path, "%s.%d", prefix, rank);
    errno = ENODATA;
    if (recorded_map(path, recorded) < 0) {
        snprintf(error, size, "%.200s: %s", path, strerror(errno));
        return -1;
    }
    if (!recorded_index(recorded)) {
        snprintf(error, size, "%.200s: not a file of record.c", path);
        return -1;
    }
    for (recorded->calls = 1; !recorded_repeats(recorded, recorded->calls);)
        recorded->calls++;
    return 0;
}

void aps_recorded_clear(struct aps_recorded *recorded)
{
    if (recorded->bytes)
        munmap(recorded->bytes, recorded->size);
    free(recorded->records);
    *recorded = (struct aps_recorded){0};
}

void aps_recorded_fill(const struct aps_recorded *recorded, size_t step,
                       float *x, size_t n)
{
    const size_t steps = recorded->count / recorded->calls;
    const size_t *records = recorded->records + step % steps * recorded->calls;

    for (size_t i = 0, begin = 0; begin < n; i++) {
        const size_t place = records[i % recorded->calls];
        size_t length = record_length(recorded, place);

        if (length > n - begin)
            length = n - begin;
        memcpy(x + begin, recorded->bytes + place + sizeof(int64_t),
               length * sizeof *x);
        begin += length;
    }
}

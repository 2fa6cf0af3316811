/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "roundoff/log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/message.h"
#include "base/print.h"
#include "base/quiet_write.h"
#include "roundoff/field.h"

/* Returns 1 if the file has the header, 0 if it is empty, -1 otherwise. */
static int check_header(int fd, const char *header)
{
    const size_t length = strlen(header);
    char start[sizeof APS_LOG_HEADER + 1]; /* the longest, with its line end */
    ssize_t got = pread(fd, start, length + 1, 0);

    if (got == 0)
        return 0;
    if (got == (ssize_t)length + 1 && memcmp(start, header, length) == 0 &&
        start[length] == '\n')
        return 1;
    return -1;
}

static int write_header(int fd, const char *header)
{
    char line[sizeof APS_LOG_HEADER + 1];
    const size_t length = (size_t)snprintf(line, sizeof line, "%s\n", header);

    return aps_quiet_write_all(fd, line, length);
}

/* Ends the last line: a job that was killed, or met a full disk, may have left
 * half a row. A row that another process is writing may be visible in part,
 * page by page, and complete a moment later, so the function repeats until the
 * file has stopped growing. */
static int end_last_line(int fd)
{
    const struct timespec pause = {.tv_nsec = 2 * 1000 * 1000};
    struct stat status;
    off_t before = -1;
    char last = '\n';

    while (fstat(fd, &status) == 0 && status.st_size > 0 &&
           pread(fd, &last, 1, status.st_size - 1) == 1 && last != '\n') {
        if (status.st_size == before)
            return aps_quiet_write_all(fd, "\n", 1);
        before = status.st_size;
        nanosleep(&pause, NULL);
    }
    return 0;
}

/* Returns a descriptor that is never 0, 1 or 2: a program that closed its
 * standard output would otherwise print into the log. Writes to a pipe do not
 * wait: if no process reads it, the job would wait for ever. */
static int open_high(const char *path)
{
    const int flags = O_CREAT | O_APPEND | O_CLOEXEC;
    int fd = aps_message_open(path, O_RDWR | flags);
    struct stat status;
    int high;

    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode)) {
        close(fd);
        fd = aps_message_open(path, O_WRONLY | O_NONBLOCK | flags);
    }
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return high;
}

/* Returns the text of an error number of a log. */
static const char *log_cause(int error)
{
    return error == ENXIO || error == EAGAIN ? "no process reads the pipe"
                                             : strerror(error);
}

/* Waits at most half a second, because a file system without locks only risks a
 * second header. */
static void lock(int fd)
{
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};

    for (int i = 0; i < 50; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
            return;
        nanosleep(&pause, NULL);
    }
}

/* Files with another header are left unchanged; this is the number of names
 * that are tried. */
#define TRIES 100

size_t aps_log_stem(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');

    return dot && dot > base ? (size_t)(dot - path) : strlen(path);
}

/* Returns NAME.csv, NAME-1.csv, NAME-2.csv ...; malloc'ed, or NULL. */
static char *log_number_path(const char *path, int number)
{
    const size_t stem = aps_log_stem(path);
    char *numbered;

    if (number == 0)
        return strdup(path);
    return asprintf(&numbered, "%.*s-%d%s", (int)stem, path, number,
                    path + stem) < 0
               ? NULL
               : numbered;
}

/* Opens one file, and locks it while its beginning is read and written. Returns
 * 0 with *fd, or with *fd -1 if the file is not a log with this header;
 * otherwise -1. */
static int log_open_file(const char *path, const char *wanted, int *fd,
                         bool *created, struct aps_error *error)
{
    struct stat status;
    int header = 0;

    *fd = open_high(path);
    if (*fd < 0)
        return aps_error_set(error, errno, path, 0, 0,
                             "cannot open the log: %s", log_cause(errno));
    /* Pipes and terminals have no beginning to read: write the header. */
    if (fstat(*fd, &status) == 0 && S_ISREG(status.st_mode)) {
        lock(*fd);
        header = check_header(*fd, wanted);
        if (header > 0 && end_last_line(*fd) < 0)
            goto cannot_write;
    }
    if (header < 0) {
        close(*fd);
        *fd = -1;
        return 0;
    }
    *created = header == 0;
    if (*created && write_header(*fd, wanted) < 0)
        goto cannot_write;
    (void)flock(*fd, LOCK_UN);
    return 0;

cannot_write:
    aps_error_set(error, errno, path, 0, 0, "cannot write the log: %s",
                  log_cause(errno));
    close(*fd);
    return -1;
}

int aps_log_open(struct aps_log *log, const char *path, struct aps_error *error)
{
    return aps_log_open_with(log, path, APS_LOG_HEADER, error);
}

int aps_log_open_with(struct aps_log *log, const char *path, const char *header,
                      struct aps_error *error)
{
    for (int number = 0; number < TRIES; number++) {
        struct aps_log opened = {.numbered = number > 0};
        int rc;

        opened.path = log_number_path(path, number);
        if (!opened.path)
            return aps_error_set(error, ENOMEM, path, 0, 0, "out of memory");
        rc = log_open_file(opened.path, header, &opened.fd, &opened.created,
                           error);
        if (rc == 0 && opened.fd >= 0) {
            *log = opened;
            return 0;
        }
        free(opened.path);
        if (rc < 0)
            return -1;
    }
    return aps_error_set(
        error, EEXIST, path, 1, 0,
        "neither this file nor any of the numbered ones beside "
        "it is a round-off log of this version");
}

void aps_log_close(struct aps_log *log)
{
    if (log->fd >= 0)
        close(log->fd);
    free(log->path);
    *log = (struct aps_log){.fd = -1};
}

int aps_log_put(struct aps_log *log, const char *line, size_t length,
                struct aps_error *error)
{
    int failed = atomic_load(&log->failed);

    if (log->fd < 0)
        return aps_error_set(error, EBADF, NULL, 0, 0, "the log is closed");
    if (failed == 0) {
        if (aps_quiet_write_all(log->fd, line, length) == 0)
            return 0;
        /* The first error is kept. */
        if (atomic_compare_exchange_strong(&log->failed, &failed, errno))
            failed = atomic_load(&log->failed);
    }
    return aps_error_set(error, failed, log->path, 0, 0,
                         "cannot write the log: %s", log_cause(failed));
}

/* The texts of a row as fields. */
struct fields {
    char run[64];
    char comm[160];
    char call[64];
    char name[320];
    char rule[160];
    char format[96];
    char scale[64];
    char reduce[64];
    char group[64];
    char node[64];
    char accumulate[64];
    char compress[96];
    char density[32];
    char rank[32];
    char residual[32];
    char entropy[32];
};

/* NaN gives an empty field. */
static void log_write_number(double number, char field[32])
{
    aps_print(field, 32, isnan(number) ? "" : "%.6g", number);
}

static void log_quote_fields(const struct aps_log_row *row,
                             struct fields *fields)
{
    aps_field_quote(row->run, fields->run, sizeof fields->run);
    aps_field_quote(row->comm, fields->comm, sizeof fields->comm);
    aps_field_quote(row->call, fields->call, sizeof fields->call);
    aps_field_quote(row->name, fields->name, sizeof fields->name);
    aps_field_quote(row->rule, fields->rule, sizeof fields->rule);
    aps_field_quote(row->format, fields->format, sizeof fields->format);
    aps_field_quote(row->scale, fields->scale, sizeof fields->scale);
    aps_field_quote(row->reduce, fields->reduce, sizeof fields->reduce);
    aps_field_quote(row->group, fields->group, sizeof fields->group);
    aps_field_quote(row->node, fields->node, sizeof fields->node);
    aps_field_quote(row->accumulate, fields->accumulate,
                    sizeof fields->accumulate);
    aps_field_quote(row->compress, fields->compress, sizeof fields->compress);
    log_write_number(row->density, fields->density);
    log_write_number(row->rank, fields->rank);
    log_write_number(row->residual, fields->residual);
    aps_print(fields->entropy, sizeof fields->entropy,
              isnan(row->entropy) ? "" : "%.4g", row->entropy);
}

int aps_log_write(struct aps_log *log, const struct aps_log_row *row,
                  struct aps_error *error)
{
    const struct aps_measure *m = row->measure;
    struct fields fields;
    char line[sizeof fields + 1024]; /* 1024 bytes for the numbers */
    int length;

    log_quote_fields(row, &fields);
    length = aps_print(
        line, sizeof line,
        "%.6f,%s,%ld,%ld,%ld,%s,%zu,%s,%s,%s,%d,%.6g,%.6g,%.6g,%.4g,"
        "%zu,%zu,%zu,%zu,%llu,%llu,%.1f,%s,%s,%s,%.9g,%s,%s,%s,%d,%llu,"
        "%llu,%s,%s,%s,%s,%s,%.6g,%s,%.1f\n",
        row->time, fields.comm, row->step, row->epoch, row->layer, fields.name,
        row->count, fields.format, fields.scale, fields.reduce,
        row->scale_exponent, aps_measure_mean(m), m->max_relative,
        aps_measure_l2(m), aps_measure_snr(m), m->underflow, m->overflow,
        m->nonfinite, m->skipped, row->wire_bytes, row->fp32_bytes, row->usec,
        fields.run, fields.call, fields.rule, row->scale_value, fields.group,
        fields.node, fields.accumulate, row->shadow, row->redone,
        row->overflowed, fields.compress, fields.density, fields.rank,
        fields.residual, fields.entropy, sqrt(m->sum_reference2), row->type,
        row->agree_usec);
    return aps_log_put(log, line, (size_t)length, error);
}

int aps_log_event(struct aps_log *log, const char *text,
                  struct aps_error *error)
{
    char line[1024] = "# ";
    size_t length = 2;

    length += aps_field_clean(text, line + length, sizeof line - length - 1);
    line[length++] = '\n';
    return aps_log_put(log, line, length, error);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The round-off log: a CSV file that survives the death of the job. Each row is
 * one write(2) on a descriptor opened with O_APPEND; nothing is buffered.
 */
#ifndef APS_ROUNDOFF_LOG_H
#define APS_ROUNDOFF_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "aps.h"
#include "roundoff/measure.h"

#define APS_LOG_HEADER                                                         \
    "time,comm,step,epoch,layer,name,count,format,scale,reduce,scale_exp,"     \
    "err_mean,err_max,err_l2,snr_db,underflow,overflow,nonfinite,skipped,"     \
    "wire_bytes,fp32_bytes,usec,run,call,rule,scale_value,group,node,"         \
    "accumulate,shadow,redone,overflowed,compress,density,rank,residual,"      \
    "entropy,ref_l2,type,agree_usec"

struct aps_log {
    int fd;        /* -1: closed */
    char *path;    /* name of the file that is written; owned */
    bool numbered; /* path is NAME-1.csv or similar, because NAME.csv is another
                      file */
    bool created;  /* this process wrote the header */
    /* Threads write to the same log. */
    _Atomic int failed;    /* errno of a failed write, after which no write is
                              tried */
    _Atomic bool reported; /* for the caller: it has reported the failure */
};

/* One row; apsmpi-log(5) defines the columns. A text may be NULL: the field is
 * empty. */
struct aps_log_row {
    double time;     /* seconds since 1970 */
    const char *run; /* the id of the job */
    const char *comm;
    const char *call; /* name of the program's call: "iallreduce" */
    long step;
    long epoch;
    long layer;
    const char *name; /* name of the layer */
    size_t count;
    const char *type; /* type of the program's elements */
    const char *rule; /* its name, or its number as text */
    const char *format;
    const char *scale;
    int scale_exponent;
    double scale_value; /* factor by which the values were multiplied */
    const char *reduce;
    const char *group;
    const char *node;
    const char *accumulate;
    const struct aps_measure *measure;
    unsigned long long wire_bytes;
    unsigned long long fp32_bytes;
    double usec;
    double agree_usec; /* part of usec in which the ranks agreed on exponents */
    unsigned long long redone; /* chunks that were reduced again */
    unsigned long long
        overflowed; /* layers in which values overflowed with the scale */
    int shadow;     /* 0: the reduction whose result the program got; otherwise
                       the number of a candidate, from 1 */
    const char *compress; /* the compressor, as text for people */
    double density;  /* the compressor's density; NaN: the field is empty */
    double rank;     /* its rank; NaN: the field is empty */
    double residual; /* its residual; NaN: the field is empty */
    double entropy;  /* bits a value; NaN: the field is empty */
};

/*
 * Opens `path` for appending and writes the header if the file is new or empty
 * (under a file lock, because several processes may open one log). A file that
 * begins with anything else is left unchanged, and NAME-1.csv next to NAME.csv
 * is tried, then NAME-2.csv and so on: the first that is new, empty, or a log
 * with this header. So processes that open one path get one file, in this run
 * and in the next. Returns 0 or -1.
 */
int aps_log_open(struct aps_log *log, const char *path,
                 struct aps_error *error);

/* Returns the length of a path without its extension. Files of a run are named after
 * its log. */
size_t aps_log_stem(const char *path);

/* Opens a file of other rows, whose header is this line, like aps_log_open. */
int aps_log_open_with(struct aps_log *log, const char *path, const char *header,
                      struct aps_error *error);
void aps_log_close(struct aps_log *log);

/* Writes one row. Returns 0, or -1 with the reason of the first failure, after
 * which no write is tried. */
int aps_log_write(struct aps_log *log, const struct aps_log_row *row,
                  struct aps_error *error);

/* Writes one line, with its line end, like aps_log_write. */
int aps_log_put(struct aps_log *log, const char *line, size_t length,
                struct aps_error *error);

/* Writes one `# ...` line: an event such as a desync. */
int aps_log_event(struct aps_log *log, const char *text,
                  struct aps_error *error);

#endif

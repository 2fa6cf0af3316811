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
    "entropy,ref_l2"

struct aps_log {
    int fd;        /* -1: closed */
    char *path;    /* of the file that is written; owned */
    bool numbered; /* path is NAME-1.csv or so: NAME.csv was left alone */
    bool created;  /* this process wrote the header */
    /* Threads write to one log. */
    _Atomic int failed;    /* errno of a write that failed: no more are tried */
    _Atomic bool reported; /* for the caller: it has said so */
};

/* One row; apsmpi-log(5) says what the columns mean. A text may be NULL: the
 * field is empty. */
struct aps_log_row {
    double time;     /* seconds since 1970 */
    const char *run; /* the id of the job */
    const char *comm;
    const char *call; /* the program's: "iallreduce" */
    long step;
    long epoch;
    long layer;
    const char *name; /* of the layer */
    size_t count;
    const char *rule; /* its name, or its number as text */
    const char *format;
    const char *scale;
    int scale_exponent;
    double scale_value; /* what the values were multiplied by */
    const char *reduce;
    const char *group;
    const char *node;
    const char *accumulate;
    const struct aps_measure *measure;
    unsigned long long wire_bytes;
    unsigned long long fp32_bytes;
    double usec;
    unsigned long long redone; /* chunks that were reduced again */
    unsigned long long
        overflowed; /* layers in which a scale let values do so */
    int shadow;     /* 0: the reduction that the program got; otherwise the
                             number of a candidate, from 1 */
    const char *compress; /* as a person reads it */
    double density;       /* of the compressor; NaN: the field is empty */
    double rank;          /* the same */
    double residual;      /* the same */
    double entropy;       /* bits a value; NaN: the field is empty */
};

/*
 * Open `path` for appending and write the header if the file is new or empty
 * (under a file lock: several processes may open one log). A file that begins
 * with anything else than this header is left alone, whatever it is, and
 * NAME-1.csv beside NAME.csv is tried next, then NAME-2.csv and so on: the first
 * that is new, empty, or a log with this header. So processes that open one
 * path get one file, in one run and in the next. 0 or -1.
 */
int aps_log_open(struct aps_log *log, const char *path,
                 struct aps_error *error);

/* The same of a file of other rows, that begins with this line. */
int aps_log_open_with(struct aps_log *log, const char *path, const char *header,
                      struct aps_error *error);
void aps_log_close(struct aps_log *log);

/* One row; -1 with the reason of the first failure, after which nothing is tried. */
int aps_log_write(struct aps_log *log, const struct aps_log_row *row,
                  struct aps_error *error);

/* One line, which ends itself, the same. */
int aps_log_put(struct aps_log *log, const char *line, size_t length,
                struct aps_error *error);

/* One `# ...` line: an event such as a desync. */
int aps_log_event(struct aps_log *log, const char *text,
                  struct aps_error *error);

#endif

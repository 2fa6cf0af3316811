/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command line of apsmpi-bench: sizes, formats, reductions and rows.
 */
#ifndef APS_PMPI_BENCH_CHOICE_H
#define APS_PMPI_BENCH_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/sizes.h"

#define APS_BENCH_FORMATS 8
#define APS_BENCH_REDUCES 6
#define APS_BENCH_SIZES 32
/* Limit of the extra elements, so that the neighbours 1000 and 1024 of
 * ResNet-50's layers remain distinct. */
#define APS_BENCH_EXTRA 24

/* Rows of the table besides native FP32 and the formats: the enum, and the word of
 * --rows. */
#define APS_BENCH_ROWS_LIST(ROW)                                               \
    ROW(PASS, "pass")   /* native once more, bypassed, unmatched */            \
    ROW(FLOOR, "floor") /* native integers of the formats' widths */           \
    ROW(TYPES, "types") /* MPI's own 16-bit floats */                          \
    ROW(HALF, "half")   /* FP16 by an operation of the program's own */        \
    ROW(COPY, "copy")   /* memcpy */

#define APS_BENCH_ROW_ENUM(NAME, ...) APS_BENCH_ROW_##NAME,
enum aps_bench_row { APS_BENCH_ROWS_LIST(APS_BENCH_ROW_ENUM) APS_BENCH_ROWS };

struct aps_bench_format {
    char name[16];
    int mantissa; /* bits */
    int width;    /* bits on the wire, sign and exponent with them */
};

struct aps_bench_choice {
    size_t sizes[APS_BENCH_SIZES]; /* elements, in ascending order */
    int size_count;
    struct aps_bench_format formats[APS_BENCH_FORMATS];
    int format_count;
    char reduces[APS_BENCH_REDUCES][24];
    int reduce_count;
    bool rows[APS_BENCH_ROWS];
    size_t *tensors; /* elements of each */
    int tensor_count;
    const char *rule;     /* more of every rule, or NULL */
    const char *csv;      /* or NULL */
    const char *json;     /* or NULL */
    const char *recorded; /* prefix of files of values, or NULL */
    double seconds;       /* time for a size */
    double rounds;        /* minimum number of rounds */
    double wire_gbit;     /* 0: not given */
    double cold; /* MiB of other memory touched before a call; 0: none */
    bool in_place;
    bool steady; /* all calls have the same values */
};

enum aps_bench_action { APS_BENCH_RUN, APS_BENCH_TEXT, APS_BENCH_BAD };

/*
 * Local. Reads the command line and the file of tensors. Returns APS_BENCH_TEXT
 * after it has printed a help or the version, and APS_BENCH_BAD with the cause in
 * `error` (APS_BENCH_ERROR bytes). The arguments are kept; aps_bench_choice_clear
 * frees the rest.
 */
enum aps_bench_action aps_bench_choice_read(int argc, char **argv,
                                            struct aps_bench_choice *choice,
                                            char *error);
void aps_bench_choice_clear(struct aps_bench_choice *choice);

#endif

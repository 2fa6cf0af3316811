/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of apsmpi-bench: CSV, a line for each row of the table, and one JSON object.
 * Rank 0 alone writes them; the functions do nothing for a file that is not open.
 */
#ifndef APS_PMPI_BENCH_FILES_H
#define APS_PMPI_BENCH_FILES_H

#include "base/json.h"
#include "bench/bench.h"

struct aps_bench_files {
    FILE *csv;            /* NULL: not open */
    struct aps_json json; /* its stream is NULL if it is not open */
};

/* Opens the files of the choice, and writes what precedes the cases. Returns 0, or -1
 * with the cause in `error` (APS_BENCH_ERROR bytes); the caller closes the files in
 * both cases. */
int aps_bench_files_open(struct aps_bench_files *files,
                         const struct aps_bench *bench, char *error);

void aps_bench_files_case(struct aps_bench_files *files,
                          const struct aps_bench *bench);

/* Writes what follows the cases, and closes the files. Returns -1 if a file is
 * incomplete. */
int aps_bench_files_close(struct aps_bench_files *files,
                          const struct aps_bench *bench, bool busy);

#endif

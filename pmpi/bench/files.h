/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of apsmpi-bench: CSV, a line for each row of the table, and one JSON object.
 * Rank 0 alone writes them, and changes them only after all measurements. The functions
 * do nothing for a file that is not asked for.
 */
#ifndef APS_PMPI_BENCH_FILES_H
#define APS_PMPI_BENCH_FILES_H

#include "base/json.h"
#include "bench/bench.h"
#include "measure/output.h"

struct aps_bench_file {
    struct aps_output output;
    FILE *text; /* memory; NULL: not asked for */
    char *bytes;
    size_t size;
};

struct aps_bench_files {
    struct aps_bench_file csv, object;
    struct aps_json json; /* to object.text */
};

/* Opens the files of the choice, and begins their texts. Returns 0, or -1 with the
 * cause in `error` (APS_BENCH_ERROR bytes). */
int aps_bench_files_open(struct aps_bench_files *files,
                         const struct aps_bench *bench, char *error);

void aps_bench_files_case(struct aps_bench_files *files,
                          const struct aps_bench *bench);

/* Writes and closes the files. Returns false after a message. */
bool aps_bench_files_close(struct aps_bench_files *files,
                           const struct aps_bench *bench);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file to which measurements are written. It is opened before the
 * measurements, which take a minute, and changed only after all of them.
 */
#ifndef APS_PMPI_MEASURE_OUTPUT_H
#define APS_PMPI_MEASURE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct aps_output {
    const char *path;
    FILE *stream; /* owned; NULL: not open */
    /* created by the program, which deletes it if nothing is written */
    bool made;
};

/* Opens `path`, which is not owned; "-" is standard output. Returns 0, or -1
 * with errno. */
int aps_output_open(struct aps_output *output, const char *path);

/* Empties the file, whose new text the caller then writes to output->stream.
 * Returns 0, or -1 with errno. */
int aps_output_begin(struct aps_output *output);

/* Closes the file after the text is complete. Returns 0, or -1 with errno. */
int aps_output_end(struct aps_output *output);

/* Closes the file, and keeps its old text unless the file has been emptied.
 * Does nothing if the file is not open. */
void aps_output_drop(struct aps_output *output);

#endif

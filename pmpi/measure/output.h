/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file that a measurement is written to. It is opened before anything is measured,
 * which takes a minute, and changed only when all has been measured.
 */
#ifndef APS_PMPI_MEASURE_OUTPUT_H
#define APS_PMPI_MEASURE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct aps_output {
    const char *path;
    FILE *stream; /* owned; NULL: not open */
    bool made;    /* by us: it goes again if nothing is written */
};

/* `path`, not owned; "-" is standard output. 0, or -1 with errno. */
int aps_output_open(struct aps_output *output, const char *path);

/* Empties the file, whose new text the caller then writes to output->stream. 0, or -1
 * with errno. */
int aps_output_begin(struct aps_output *output);

/* The text is whole: close the file. 0, or -1 with errno. */
int aps_output_end(struct aps_output *output);

/* Close the file and leave what was there before, if it has not been emptied. Nothing
 * where it is not open. */
void aps_output_drop(struct aps_output *output);

#endif

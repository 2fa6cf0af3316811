/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text of an MPI error code.
 */
#ifndef APS_PMPI_NATIVE_ERROR_TEXT_H
#define APS_PMPI_NATIVE_ERROR_TEXT_H

#include <mpi.h>
#include <stddef.h>

/* Stores the text of the MPI error code `rc` in `text`, or "unknown error" if
 * MPI has no text. Returns `text`. */
static inline const char *aps_error_text(int rc,
                                         char text[MPI_MAX_ERROR_STRING])
{
    static const char unknown[] = "unknown error";
    int length;

    if (PMPI_Error_string(rc, text, &length) != MPI_SUCCESS)
        for (size_t i = 0; i < sizeof unknown; i++)
            text[i] = unknown[i];
    return text;
}

#endif

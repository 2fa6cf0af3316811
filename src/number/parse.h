/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of formats. */
#ifndef APS_NUMBER_PARSE_H
#define APS_NUMBER_PARSE_H

#include "number/format.h"

/* Parses the name of a format (aps.h lists them). A format has the same
 * canonical name, whatever alias was given. Returns 0, or -1 with errno EINVAL
 * and the reason. */
int aps_format_parse(const char *name, struct aps_format *format,
                     struct aps_error *error);

/* Parses also the names of wide formats, which the function above refuses. */
int aps_format_parse_wide(const char *name, struct aps_format *format,
                          struct aps_error *error);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of formats. */
#ifndef APS_NUMBER_PARSE_H
#define APS_NUMBER_PARSE_H

#include "number/format.h"

/*
 * Read the name of a format (aps.h says which there are). The same format has
 * the same name, whatever alias it was asked for by. 0, or -1 with errno EINVAL
 * and the reason.
 */
int aps_format_parse(const char *name, struct aps_format *format,
                     struct aps_error *error);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "roundoff/exponents.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "roundoff/field.h"

#define SUFFIX "-exponents"

int aps_exponents_open(struct aps_log *file, const char *path,
                       struct aps_error *error)
{
    const size_t stem = aps_log_stem(path);
    char *beside;
    int rc;

    if (asprintf(&beside, "%.*s" SUFFIX "%s", (int)stem, path, path + stem) < 0)
        return aps_error_set(error, ENOMEM, path, 0, 0, "out of memory");
    rc = aps_log_open_with(file, beside, APS_EXPONENTS_HEADER, error);
    free(beside);
    return rc;
}

int aps_exponents_write(struct aps_log *file, const struct aps_log_row *row,
                        const struct aps_binades *binades,
                        struct aps_error *error)
{
    char run[64], comm[160], call[64], name[320], text[APS_BINADES_TEXT];
    char line[sizeof run + sizeof comm + sizeof call + sizeof name +
              sizeof text + 256];
    int length;

    aps_field_quote(row->run, run, sizeof run);
    aps_field_quote(row->comm, comm, sizeof comm);
    aps_field_quote(row->call, call, sizeof call);
    aps_field_quote(row->name, name, sizeof name);
    length = snprintf(line, sizeof line,
                      "%s,%s,%s,%ld,%ld,%ld,%s,%zu,%zu,%zu,%zu,%s\n", run, comm,
                      call, row->step, row->epoch, row->layer, name, row->count,
                      binades->zeros, binades->infinite, binades->nan,
                      aps_binades_format(binades, text));
    return aps_log_put(file, line, (size_t)length, error);
}

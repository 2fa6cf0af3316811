/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/message.h"
#include "base/plural.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

void aps_message(int rank, const char *format, ...)
{
    char line[1024];
    int saved = errno;
    int length;
    va_list args;

    if (rank >= 0)
        length = snprintf(line, sizeof line, "apsmpi: rank %d: ", rank);
    else
        length = snprintf(line, sizeof line, "apsmpi: ");
    va_start(args, format);
    length +=
        vsnprintf(line + length, sizeof line - (size_t)length, format, args);
    va_end(args);
    if ((size_t)length > sizeof line - 2)
        length = (int)sizeof line - 2;
    line[length++] = '\n';
    /* If standard error is closed, the line is lost. */
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        errno = 0;
    errno = saved;
}

void aps_message_errors(int rank, const struct aps_errors *errors)
{
    const size_t kept = aps_errors_kept(errors);
    const size_t left = errors->count - kept;
    char text[sizeof(struct aps_error) + 32];

    for (size_t i = 0; i < kept; i++)
        aps_message(rank, "%s",
                    aps_error_format(&errors->list[i], text, sizeof text));
    if (left > 0)
        aps_message(rank, "%zu more error%s %s not shown", left,
                    aps_plural(left), aps_plural_are(left));
}

void aps_message_warnings(int rank, const struct aps_errors *errors)
{
    const size_t kept = aps_warnings_kept(errors);
    const size_t left = errors->warning_count - kept;
    char text[sizeof(struct aps_error) + 32];

    for (size_t i = 0; i < kept; i++)
        aps_message(
            rank, "%s",
            aps_warning_format(&errors->warnings[i], text, sizeof text));
    if (left > 0)
        aps_message(rank, "%zu more warning%s %s not shown", left,
                    aps_plural(left), aps_plural_are(left));
}

bool aps_message_is_due(unsigned long long times)
{
    return times <= 10 || (times & (times - 1)) == 0;
}

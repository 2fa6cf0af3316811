/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "job/log_event.h"

#include "base/message.h"

void aps_job_lost_file(struct aps_log *file, int rank,
                       const struct aps_error *error, const char *what)
{
    char text[sizeof *error + 32];

    if (!atomic_exchange(&file->reported, true))
        aps_message(rank, "%s; the job runs without %s",
                    aps_error_format(error, text, sizeof text), what);
}

void aps_job_log_event(struct aps_log *log, int rank, const char *text)
{
    struct aps_error error;

    if (aps_log_event(log, text, &error) < 0)
        aps_job_lost_file(log, rank, &error, "a log");
}

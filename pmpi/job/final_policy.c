/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "job/final_policy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fpenv.h"
#include "base/message.h"
#include "base/plural.h"
#include "job/chosen_formats.h"
#include "job/run.h"
#include "policy/chosen.h"

/* The path, malloc'ed: beside the log, unless it is named. NULL: none. */
static char *final_path(const struct aps_job *job)
{
    const char *named = job->options.final_policy;
    const char *log =
        job->options.log ? job->options.log : aps_policy_log(job->policy)->file;
    const char *slash, *dot;
    struct stat found;
    char *path;
    int stem;

    if (named)
        return strdup(named);
    /* Nor beside a log that is no file, as /dev/stderr. */
    if (!log || (stat(log, &found) == 0 && !S_ISREG(found.st_mode)))
        return NULL;
    slash = strrchr(log, '/');
    dot = strrchr(log, '.');
    stem = dot && dot > (slash ? slash + 1 : log) ? (int)(dot - log)
                                                  : (int)strlen(log);
    return asprintf(&path, "%.*s-policy.yaml", stem, log) < 0 ? NULL : path;
}

/* The policy as text, malloc'ed; NULL with errno. */
static char *final_text(const struct aps_job *job, const char *table,
                        size_t *length)
{
    struct aps_chosen_layer *layers;
    const size_t count = aps_chosen_formats_list(&layers);
    char *text = NULL;
    FILE *stream = open_memstream(&text, length);
    char run[APS_RUN_ID];
    int rc = -1;

    if (stream) {
        aps_run_get(run);
        fprintf(stream,
                "# The formats that the layers had at the end of run %s of\n"
                "# %.400s, which chose them while it ran.\n",
                run, job->source.path);
        rc = aps_chosen_write(stream, &job->source, job->policy, table, layers,
                              count);
        rc |= fclose(stream);
    }
    free(layers);
    if (rc == 0)
        return text;
    free(text);
    errno = ENOMEM;
    return NULL;
}

/* Would the library take it? */
static bool final_is_good(const struct aps_job *job, char *path, char *text,
                          size_t length)
{
    struct aps_policy_source source = job->source;
    struct aps_errors *errors = calloc(1, sizeof *errors);
    struct aps_policy *policy = NULL;
    char cause[512];
    bool good;

    source.path = path;
    source.text = text;
    source.length = length;
    source.shadow = NULL;
    good = errors && aps_policy_parse(&source, &policy, errors) == 0;
    if (!good)
        aps_message(
            -1, "%s is not written: %s", path,
            errors && errors->count > 0
                ? aps_error_format(&errors->list[0], cause, sizeof cause)
                : strerror(ENOMEM));
    aps_policy_destroy(policy);
    free(errors);
    return good;
}

/* All of the text, whatever interrupts. 0, or -1 with errno. */
static int final_put(int descriptor, const char *text, size_t length)
{
    while (length > 0) {
        const ssize_t written = write(descriptor, text, length);

        if (written < 0 && errno != EINTR)
            return -1;
        if (written > 0) {
            text += written;
            length -= (size_t)written;
        }
    }
    return 0;
}

/* A pipe, or a device: written to as it is, and never replaced. */
static int final_send(const char *path, const char *text, size_t length)
{
    const int descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    int rc = descriptor < 0 ? -1 : final_put(descriptor, text, length);
    const int saved = errno;

    if (descriptor >= 0)
        close(descriptor);
    errno = saved;
    return rc;
}

/* 0, or -1 with errno: then there is no new file. */
static int final_replace(const char *path, const char *text, size_t length)
{
    char *part;
    int descriptor, saved, rc;

    if (asprintf(&part, "%s.%ld.part", path, (long)getpid()) < 0) {
        errno = ENOMEM;
        return -1;
    }
    (void)unlink(part);
    descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    rc = descriptor < 0 ? -1 : final_put(descriptor, text, length);
    if (rc == 0)
        rc = fsync(descriptor);
    if (rc == 0)
        rc = rename(part, path);
    saved = errno;
    if (descriptor >= 0)
        close(descriptor);
    if (rc < 0)
        (void)unlink(part);
    free(part);
    errno = saved;
    return rc;
}

static int final_store(const char *path, const char *text, size_t length)
{
    struct stat found;
    char *target = NULL; /* of a link */
    int rc;

    if (stat(path, &found) == 0) {
        if (!S_ISREG(found.st_mode))
            return final_send(path, text, length);
        target = realpath(path, NULL);
    }
    rc = final_replace(target ? target : path, text, length);
    free(target);
    return rc;
}

/* A run must not replace the policy that it was given. */
static bool final_is_source(const char *path, const struct aps_job *job)
{
    struct stat a, b;

    return stat(path, &a) == 0 && stat(job->source.path, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static void final_write(const struct aps_job *job, char *path)
{
    char *table = job->source.layers_path
                      ? realpath(job->source.layers_path, NULL)
                      : NULL;
    size_t length = 0;
    char *text = NULL;

    if (final_is_source(path, job)) {
        aps_message(-1,
                    "%s is the policy of this run, and is left as it is: "
                    "APSMPI_FINAL_POLICY=FILE names another file for the "
                    "formats that its layers have got",
                    path);
    } else if (!(text = final_text(job, table ? table : job->source.layers_path,
                                   &length))) {
        aps_message(-1, "%s is not written: %s", path, strerror(errno));
    } else if (final_is_good(job, path, text, length)) {
        if (final_store(path, text, length) < 0)
            aps_message(-1, "%s cannot be written: %s", path, strerror(errno));
        else if (job->options.summary && !job->options.summary_file)
            aps_message(-1,
                        "%s: a policy with the formats that layers have at the "
                        "end",
                        path);
    }
    free(text);
    free(table);
}

void aps_final_policy_write(const struct aps_job *job, int world_rank)
{
    fenv_t environment;
    char *path;

    if (world_rank != 0 || job->foreign || job->held != APS_HELD_GOOD ||
        !aps_policy_chooses(job->policy) ||
        atomic_load(&aps_counters.formats_measured) == 0)
        return;
    aps_fpenv_enter(&environment);
    path = final_path(job);
    if (path)
        final_write(job, path);
    else
        aps_message(-1, "the formats that layers have at the end are written "
                        "nowhere: no log is a file, and APSMPI_FINAL_POLICY "
                        "names no file");
    free(path);
    aps_fpenv_leave(&environment);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "summary/final_policy.h"

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
#include "base/quiet_write.h"
#include "base/utf8.h"
#include "summary/chosen_formats.h"
#include "job/run.h"
#include "source/chosen.h"

/* Number of names that are tried for a new file. */
#define PARTS_MAX 100

/* State of the file when the job began, or when the job wrote it. */
static struct {
    bool known;
    bool there;
    struct stat found;
} before;

/* Returns the path: the named file, or a file next to the log. The caller frees
 * it. Returns NULL if there is no path, or memory is missing. */
static char *final_path(const struct aps_job *job)
{
    const char *named = job->options.final_policy;
    const char *log =
        job->options.log ? job->options.log : aps_policy_log(job->policy)->file;
    struct stat found;
    char *path;

    if (named)
        return strdup(named);
    /* A log that is not a regular file, such as /dev/stderr, has no file next
     * to it. */
    if (!log || (stat(log, &found) == 0 && !S_ISREG(found.st_mode)))
        return NULL;
    return asprintf(&path, "%.*s-policy.yaml", (int)aps_log_stem(log), log) < 0
               ? NULL
               : path;
}

/* Returns the policy as text, which the caller frees, or NULL with errno. */
static char *final_text(const struct aps_job *job, const char *table,
                        size_t *length)
{
    struct aps_chosen_layer *layers;
    size_t count;
    const bool listed = aps_chosen_formats_list(&layers, &count) == 0;
    char *text = NULL;
    FILE *stream = listed ? open_memstream(&text, length) : NULL;
    char run[APS_RUN_ID], path[400];
    int rc = -1;

    if (stream) {
        aps_run_get(run);
        snprintf(path, sizeof path, "%s", job->source.path);
        aps_utf8_clean(path);
        fprintf(stream,
                "# The formats that the layers had at the end of run %s of\n"
                "# %s, which chose them while it ran.\n",
                run, path);
        rc = aps_chosen_write(stream, &job->source, job->policy, table,
                              atomic_load(&aps_counters.any_order), layers,
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

/* True if the library accepts the text as a policy; otherwise reports the
 * error. */
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

/* Writes to a pipe or a device, which is never replaced. Returns 0, or -1 with
 * errno. */
static int final_send(const char *path, const char *text, size_t length)
{
    const int descriptor =
        aps_message_open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    int rc =
        descriptor < 0 ? -1 : aps_quiet_write_all(descriptor, text, length);
    const int saved = errno;

    if (descriptor >= 0)
        close(descriptor);
    errno = saved;
    return rc;
}

/* Makes a file without a name in the folder of `path`. Returns its descriptor, or -1:
 * not every file system has such files. */
static int final_open_unnamed(const char *path)
{
    char *folder = strdup(path);
    char *end = folder ? strrchr(folder, '/') : NULL;
    int descriptor = -1;

    if (end)
        end[1] = '\0';
    if (folder)
        descriptor =
            open(end ? folder : ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    free(folder);
    return descriptor;
}

/* Makes a file with a name of its own next to `path`: a new file, or the one that is
 * open as `unnamed` if that is not -1. Returns its descriptor and its name, which the
 * caller frees, or -1 with errno. An existing file of that name stays, because a
 * job on another host may have made it with the same process number. */
static int final_open_part(const char *path, int unnamed, char **part)
{
    int descriptor = -1, saved = EEXIST;
    char link[40];

    snprintf(link, sizeof link, "/proc/self/fd/%d", unnamed);
    for (int i = 0; i < PARTS_MAX && descriptor < 0 && saved == EEXIST; i++) {
        if (asprintf(part, "%s.%ld-%d.part", path, (long)getpid(), i) < 0) {
            *part = NULL;
            errno = ENOMEM;
            return -1;
        }
        if (unnamed < 0)
            descriptor =
                open(*part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        else if (linkat(AT_FDCWD, link, AT_FDCWD, *part, AT_SYMLINK_FOLLOW) ==
                 0)
            descriptor = unnamed;
        saved = errno;
        if (descriptor < 0) {
            free(*part);
            *part = NULL;
        }
    }
    errno = saved;
    return descriptor;
}

/* Replaces the file at `path` by a new file, which has no name until it is complete if
 * `unnamed`: a job that is killed leaves nothing. Returns 0, or -1 with errno; then the
 * old file stays. */
static int final_replace_by(bool unnamed, const char *path, const char *text,
                            size_t length)
{
    char *part = NULL;
    const int descriptor =
        unnamed ? final_open_unnamed(path) : final_open_part(path, -1, &part);
    int saved, rc;

    if (descriptor < 0)
        return -1;
    rc = aps_quiet_write_all(descriptor, text, length);
    if (rc == 0)
        rc = fsync(descriptor);
    if (rc == 0 && unnamed && final_open_part(path, descriptor, &part) < 0)
        rc = -1;
    if (rc == 0)
        rc = rename(part, path);
    saved = errno;
    close(descriptor);
    if (rc < 0 && part)
        (void)unlink(part);
    free(part);
    errno = saved;
    return rc;
}

static int final_replace(const char *path, const char *text, size_t length)
{
    return final_replace_by(true, path, text, length) == 0
               ? 0
               : final_replace_by(false, path, text, length);
}

/* Checks that the file can be written now, and leaves no file. Returns 0, or -1
 * with errno. */
static int final_try(const char *path)
{
    struct stat found;
    char *target = NULL, *part = NULL;
    int descriptor, saved;

    if (stat(path, &found) == 0) {
        if (S_ISDIR(found.st_mode)) {
            errno = EISDIR;
            return -1;
        }
        if (!S_ISREG(found.st_mode))
            return access(path, W_OK);
        target = realpath(path, NULL);
    }
    descriptor = final_open_unnamed(target ? target : path);
    if (descriptor < 0)
        descriptor = final_open_part(target ? target : path, -1, &part);
    saved = errno;
    if (descriptor >= 0)
        close(descriptor);
    if (part)
        (void)unlink(part);
    free(part);
    free(target);
    errno = saved;
    return descriptor < 0 ? -1 : 0;
}

static int final_store(const char *path, const char *text, size_t length)
{
    struct stat found;
    char *target = NULL; /* target of a link */
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

/* True if `path` is the policy of this run, which the run must not replace. */
static bool final_is_source(const char *path, const struct aps_job *job)
{
    struct stat a, b;

    return stat(path, &a) == 0 && stat(job->source.path, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* --- other jobs ----------------------------------------------------------- */

static void final_remember(const char *path)
{
    before.known = true;
    before.there = stat(path, &before.found) == 0;
}

/* True if another job has written the file since this one began. A job makes a
 * new file each time. */
static bool final_is_others(const char *path)
{
    struct stat now;

    if (!before.known || stat(path, &now) < 0 || !S_ISREG(now.st_mode))
        return false;
    return !before.there || now.st_dev != before.found.st_dev ||
           now.st_ino != before.found.st_ino ||
           now.st_mtim.tv_sec != before.found.st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != before.found.st_mtim.tv_nsec;
}

/* Returns a path such as "roundoff-policy-RUN.yaml", which the caller frees, or
 * NULL if memory is missing. */
static char *final_own_path(const char *path)
{
    const size_t stem = aps_log_stem(path);
    char run[APS_RUN_ID], *own;

    aps_run_get(run);
    return asprintf(&own, "%.*s-%s%s", (int)stem, path, run, path + stem) < 0
               ? NULL
               : own;
}

/* --- the beginning and the end -------------------------------------------- */

static void final_say_source(const char *path)
{
    aps_message(-1,
                "%s is the policy of this run and is not overwritten; set "
                "APSMPI_FINAL_POLICY=FILE to write the chosen formats to "
                "another file",
                path);
}

void aps_final_policy_begin(const struct aps_job *job)
{
    static atomic_flag begun = ATOMIC_FLAG_INIT;
    char *path;

    if (!aps_policy_chooses(job->policy) || atomic_flag_test_and_set(&begun))
        return;
    path = final_path(job);
    if (aps_job_rank() != 0) {
        /* This rank writes the file if it leads the first communicator. */
        if (path)
            final_remember(path);
        free(path);
        return;
    }
    if (!path) {
        aps_message(-1, "the formats that layers have at the end will be "
                        "written nowhere: no log is a file, and "
                        "APSMPI_FINAL_POLICY names no file");
        return;
    }
    if (final_is_source(path, job))
        final_say_source(path);
    else if (final_try(path) < 0)
        aps_message(-1,
                    "%s, for the formats that layers have at the end, cannot "
                    "be written: %s (APSMPI_FINAL_POLICY=FILE names another "
                    "file)",
                    path, strerror(errno));
    final_remember(path);
    free(path);
}

/* Reports the file that was written: `path`, or `own` if another job's file is
 * at `path`. */
static void final_say(const struct aps_job *job, const char *path,
                      const char *own)
{
    if (own)
        aps_message(-1,
                    "%s was written by another job while this one ran, and is "
                    "left as it is",
                    path);
    if (job->options.summary && !job->options.summary_file)
        aps_message(-1,
                    "%s: a policy with the formats that layers have at the "
                    "end",
                    own ? own : path);
}

/* Stores the text, which is a good policy. */
static void final_keep(const struct aps_job *job, const char *path,
                       const char *text, size_t length)
{
    char *own = final_is_others(path) ? final_own_path(path) : NULL;
    const char *to = own ? own : path;

    if (final_store(to, text, length) < 0) {
        aps_message(-1, "%s cannot be written: %s", to, strerror(errno));
    } else {
        final_say(job, path, own);
        if (!own)
            final_remember(path);
    }
    free(own);
}

static void final_write(const struct aps_job *job, char *path)
{
    char *table = job->source.layers_path
                      ? realpath(job->source.layers_path, NULL)
                      : NULL;
    size_t length = 0;
    char *text = NULL;

    if (final_is_source(path, job)) {
        final_say_source(path);
    } else if (!(text = final_text(job, table ? table : job->source.layers_path,
                                   &length))) {
        aps_message(-1, "%s is not written: %s", path, strerror(errno));
    } else if (final_is_good(job, path, text, length)) {
        final_keep(job, path, text, length);
    }
    free(text);
    free(table);
}

void aps_final_policy_write(const struct aps_job *job)
{
    fenv_t environment;
    char *path;

    if (job->foreign || job->held != APS_HELD_GOOD ||
        !aps_policy_chooses(job->policy) ||
        atomic_load(&aps_counters.formats_measured) == 0)
        return;
    aps_fpenv_enter(&environment);
    path = final_path(job);
    if (path)
        final_write(job, path);
    free(path);
    aps_fpenv_leave(&environment);
}

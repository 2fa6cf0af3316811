/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "summary/summary_json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/message.h"
#include "base/quiet_write.h"
#include "codec/workers.h"
#include "summary/chosen_formats.h"
#include "job/run.h"
#include "job/thread_level.h"
#include "policy/keywords.h"

/* Version of the object, raised when a member changes its meaning or
 * disappears. A new member does not raise it. */
#define SCHEMA 1

static const char *const reason_names[APS_PASSED_REASONS] = {
    [APS_PASSED_INTEGER] = "integers",
    [APS_PASSED_DOUBLE] = "double",
    [APS_PASSED_OPERATION] = "other_operations",
    [APS_PASSED_TYPE] = "other_types",
    [APS_PASSED_OTHER] = "arguments",
    [APS_PASSED_SMALL] = "min_count",
    [APS_PASSED_RULE] = "rule",
    [APS_PASSED_AUTO] = "auto",
    [APS_PASSED_STEP] = "step_unknown",
    [APS_PASSED_SHADOW] = "shadow",
    [APS_PASSED_FORMAT] = "format",
    [APS_PASSED_OUTSIDE] = "outside_step",
    [APS_PASSED_OFF] = "pcontrol",
    [APS_PASSED_SINGLE] = "one_rank",
    [APS_PASSED_INTER] = "intercommunicator",
    [APS_PASSED_DISAGREED] = "no_common_policy",
    [APS_PASSED_UNRULED] = "no_policy",
    [APS_PASSED_SWITCHED] = "switched_off",
    [APS_PASSED_BAD] = "bad_policy",
    [APS_PASSED_RESOURCES] = "resources",
    [APS_PASSED_EARLY] = "before_blocking_call",
    [APS_PASSED_THREADS] = "thread_level",
    [APS_PASSED_PERSISTENT] = "persistent_order",
};

/* Writes the calls that passed by reason. `type_or_operation` adds up the
 * reasons before APS_PASSED_SMALL, which the object type_or_operation_by has one by
 * one. */
static void summary_json_passed(struct aps_json *json,
                                const struct aps_counters *counters)
{
    unsigned long long others = 0;

    aps_json_open_object(json, "type_or_operation_by");
    for (int i = 0; i < APS_PASSED_SMALL; i++) {
        const unsigned long long times =
            aps_counters_passed(counters, (enum aps_reason)i);

        aps_json_unsigned(json, reason_names[i], times);
        others += times;
    }
    aps_json_close_object(json);
    aps_json_open_object(json, "passed");
    aps_json_unsigned(json, "type_or_operation", others);
    for (int i = APS_PASSED_SMALL; i < APS_PASSED_REASONS; i++)
        aps_json_unsigned(json, reason_names[i],
                          aps_counters_passed(counters, (enum aps_reason)i));
    aps_json_close_object(json);
}

static void summary_json_counters(struct aps_json *json,
                                  enum aps_counted function)
{
    const struct aps_counters *counters = aps_counters_of(function);

    aps_json_open_object(json, NULL);
    aps_json_text(json, "call", aps_counted_functions[function].name);
    aps_json_unsigned(json, "calls", aps_counters_calls(counters));
    aps_json_unsigned(json, "rewritten", atomic_load(&counters->rewritten));
    aps_json_unsigned(json, "fused", atomic_load(&counters->fused));
    aps_json_unsigned(json, "batches", atomic_load(&counters->batches));
    aps_json_unsigned(json, "nonblocking", atomic_load(&counters->nonblocking));
    aps_json_unsigned(json, "eligible", aps_counters_eligible(counters));
    if (function == APS_COUNTED_ALLREDUCE) {
        aps_json_unsigned(json, "eligible_bytes",
                          atomic_load(&counters->eligible_bytes));
        aps_json_unsigned(json, "rewritten_bytes",
                          atomic_load(&counters->rewritten_bytes));
    }
    summary_json_passed(json, counters);
    aps_json_unsigned(json, "wire_bytes", atomic_load(&counters->wire_bytes));
    aps_json_unsigned(json, "fp32_bytes", atomic_load(&counters->fp32_bytes));
    aps_json_unsigned(json, "redone_chunks", atomic_load(&counters->redone));
    aps_json_open_object(json, "overflowed_layers");
    for (int i = 0; i < APS_OVERFLOW_KINDS; i++)
        aps_json_unsigned(json, aps_keywords_overflow.known[i],
                          atomic_load(&counters->overflowed[i]));
    aps_json_close_object(json);
    aps_json_unsigned(json, "compressed_layers",
                      atomic_load(&counters->compressed));
    aps_json_unsigned(json, "compressor_bytes",
                      atomic_load(&counters->remembered));
    aps_json_unsigned(json, "device_bytes",
                      atomic_load(&counters->device_bytes));
    aps_json_unsigned(json, "streamed_bytes",
                      atomic_load(&counters->streamed_bytes));
    aps_json_close_object(json);
}

/* Writes the number of ranks in MPI_COMM_WORLD, or null in the sessions
 * model. */
static void summary_json_ranks(struct aps_json *json)
{
    int initialized = 0, finalized = 1, ranks;

    if (PMPI_Initialized(&initialized) == MPI_SUCCESS && initialized &&
        PMPI_Finalized(&finalized) == MPI_SUCCESS && !finalized &&
        PMPI_Comm_size(MPI_COMM_WORLD, &ranks) == MPI_SUCCESS)
        aps_json_unsigned(json, "ranks", (uintmax_t)ranks);
    else
        aps_json_null(json, "ranks");
}

/* Writes the measurements of candidates, or null without candidates. */
static void summary_json_shadow(struct aps_json *json, bool shadows)
{
    if (!shadows) {
        aps_json_null(json, "shadow");
        return;
    }
    aps_json_open_object(json, "shadow");
    aps_json_unsigned(json, "layers", atomic_load(&aps_counters.shadowed));
    aps_json_double(json, "seconds",
                    1e-9 * (double)atomic_load(&aps_counters.shadow_ns));
    aps_json_unsigned(json, "bytes",
                      atomic_load(&aps_counters.shadow_bytes) +
                          atomic_load(&aps_counters.shadow_copies));
    aps_json_close_object(json);
}

/* Writes the choices of formats, or null if no formats are chosen while the
 * program runs. */
static void summary_json_formats(struct aps_json *json,
                                 const struct aps_policy *policy)
{
    struct aps_chosen_layer *list;
    size_t count;

    if (!policy || !aps_policy_chooses(policy)) {
        aps_json_null(json, "auto");
        return;
    }
    (void)aps_chosen_formats_list(&list, &count);
    aps_json_open_object(json, "auto");
    aps_json_unsigned(json, "measurements",
                      atomic_load(&aps_counters.formats_measured));
    aps_json_double(json, "seconds",
                    1e-9 * (double)atomic_load(&aps_counters.formats_ns));
    aps_json_unsigned(json, "bytes", atomic_load(&aps_counters.formats_bytes));
    aps_json_unsigned(json, "changes",
                      atomic_load(&aps_counters.format_changes));
    aps_json_open_array(json, "layers");
    for (size_t i = 0; i < count; i++) {
        aps_json_open_object(json, NULL);
        aps_json_double(json, "layer", (double)list[i].layer);
        aps_json_text(json, "name", list[i].name);
        aps_json_unsigned(json, "count", list[i].count);
        aps_json_text(json, "format",
                      aps_chosen_layer_format(policy, &list[i]));
        aps_json_close_object(json);
    }
    aps_json_close_array(json);
    aps_json_close_object(json);
    free(list);
}

static void summary_json_object(struct aps_json *json,
                                const struct aps_job *job, int rank)
{
    const bool held = job->held == APS_HELD_GOOD;
    struct timespec now;
    char hash[17], run[APS_RUN_ID];

    clock_gettime(CLOCK_REALTIME, &now);
    aps_json_open_object(json, NULL);
    aps_json_unsigned(json, "schema", SCHEMA);
    aps_json_text(json, "kind", "summary");
    aps_json_text(json, "version", PACKAGE_VERSION);
    aps_json_double(json, "time",
                    (double)(now.tv_sec * 1000 + now.tv_nsec / 1000000) / 1000);
    summary_json_ranks(json);
    aps_json_unsigned(json, "rank", (uintmax_t)rank);
    aps_run_get(run);
    aps_json_text(json, "run", run[0] ? run : NULL);
    aps_json_bool(json, "enabled", job->options.enabled);
    snprintf(hash, sizeof hash, "%016" PRIx64, job->hash);
    aps_json_text(json, "policy", held ? job->source.path : NULL);
    aps_json_text(json, "policy_hash", held ? hash : NULL);
    aps_json_text(json, "progress",
                  held ? aps_progress_name(aps_policy_progress(job->policy))
                       : NULL);
    aps_json_text(json, "thread_level", aps_thread_level_name());
    aps_json_unsigned(json, "threads", (uintmax_t)aps_workers_threads());
    summary_json_shadow(json, held && aps_policy_shadows(job->policy));
    summary_json_formats(json, held ? job->policy : NULL);
    aps_json_open_array(json, "calls");
    for (int i = 0; i < APS_COUNTED_FUNCTIONS; i++)
        summary_json_counters(json, (enum aps_counted)i);
    aps_json_close_array(json);
    aps_json_close_object(json);
    fputc('\n', json->stream);
}

/* True if the file ends within a line, which a full disk has cut short. */
static bool summary_json_is_cut(const char *path)
{
    const int fd = aps_message_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat found;
    char last = '\n';

    if (fd < 0)
        return false;
    if (fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0)
        (void)!pread(fd, &last, 1, found.st_size - 1);
    close(fd);
    return last != '\n';
}

/* Appends the text by one write, so that lines of jobs that end at the same
 * time do not mix. A pipe without a reader is an error instead of a wait.
 * Returns 0, or -1 with errno. */
static int summary_json_append(const char *path, const char *text,
                               size_t length)
{
    int fd = aps_message_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC |
                                        O_NONBLOCK);
    ssize_t written;
    int saved;

    if (fd < 0)
        return -1;
    written = aps_quiet_write(fd, text, length);
    if (written >= 0 && (size_t)written < length) {
        errno = ENOSPC;
        written = -1;
    }
    saved = errno;
    if (close(fd) < 0 && written >= 0)
        return -1;
    errno = saved;
    return written < 0 ? -1 : 0;
}

void aps_summary_json_write(const struct aps_job *job, int rank)
{
    const char *path = job->options.summary_file;
    char *text = NULL;
    size_t length = 0;
    struct aps_json json = {.stream = open_memstream(&text, &length)};
    bool whole;

    if (json.stream) {
        if (summary_json_is_cut(path))
            fputc('\n', json.stream);
        summary_json_object(&json, job, rank);
        whole = !ferror(json.stream);
        whole &= fclose(json.stream) == 0;
        if (!whole)
            errno = ENOMEM;
        whole = whole && summary_json_append(path, text, length) == 0;
    } else {
        whole = false;
    }
    if (!whole)
        aps_message(-1, "%s: cannot write the summary: %s", path,
                    strerror(errno));
    free(text);
}

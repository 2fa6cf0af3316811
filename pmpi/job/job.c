/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "job/job.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "native/abi.h"
#include "base/fpenv.h"
#include "base/message.h"
#include "native/elf_imports.h"
#include "progress/wait.h"

struct aps_counters aps_counters;
struct aps_counters aps_other_counters[APS_CALL_KINDS];
bool aps_counters_shared = true;
struct aps_job *_Atomic aps_job_made;

static struct aps_job the_job;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_once_t texts_read = PTHREAD_ONCE_INIT; /* before MPI_Init, too */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct aps_log the_log = {.fd = -1};
static bool log_tried;

#define FNV_OFFSET UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

/* FNV-1a, with the length so that two texts do not run into each other. */
static uint64_t job_hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *next = bytes;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ next[i]) * FNV_PRIME;
    for (size_t rest = size; rest > 0; rest >>= 8)
        hash = (hash ^ (rest & 0xff)) * FNV_PRIME;
    return hash;
}

static uint64_t job_hash_source(const struct aps_policy_source *source)
{
    uint64_t hash = job_hash_bytes(FNV_OFFSET, source->text, source->length);

    if (source->layers_text)
        hash = job_hash_bytes(hash, source->layers_text, source->layers_length);
    return hash;
}

bool aps_job_is_first_rank(void)
{
    static const char *const names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK",
                                        "SLURM_PROCID"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);

        if (value)
            return strcmp(value, "0") == 0;
    }
    return true;
}

/* Are we inside an MPI of another ABI than we were built for? Says so once. */
static bool job_is_foreign(void)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    char version[APS_ABI_VERSION_MAX] = "";
    int length;

    if (PMPI_Get_library_version(version, &length) == MPI_SUCCESS &&
        aps_abi_is_ours(version))
        return false;
    version[strcspn(version, "\r\n")] = '\0';
    if (aps_job_is_first_rank() && !atomic_flag_test_and_set(&said))
        aps_message(-1,
                    "built for %s but running with '%s': every call passes "
                    "through",
                    aps_abi_name, version);
    return true;
}

static void job_read_policy(struct aps_job *job)
{
    if (access(job->options.policy, R_OK) != 0)
        job->policy_absent = true;
    if (aps_policy_source_read(job->options.policy, &job->source,
                               &job->errors) < 0)
        return;
    job->hash = job_hash_source(&job->source);
    if (aps_policy_parse(&job->source, &job->policy, &job->errors) == 0)
        job->held = APS_HELD_GOOD;
}

/* How many ranks share this machine, as launchers tell it, for the waits before
 * any shared memory is there (hierarchical.c knows better). */
static void job_count_neighbours(void)
{
    static const char *const names[] = {"MPI_LOCALNRANKS",
                                        "OMPI_COMM_WORLD_LOCAL_SIZE"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);

        if (value)
            aps_wait_set_ranks(atoi(value), (int)sysconf(_SC_NPROCESSORS_ONLN));
    }
}

/* Before MPI_Init, and with sessions, nobody can tell. */
static bool job_may_have_threads(void)
{
    int initialized = 0, level = MPI_THREAD_MULTIPLE;

    if (PMPI_Initialized(&initialized) == MPI_SUCCESS && initialized)
        PMPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE;
}

/* Numbers are read, and must be the same on all ranks, whatever rounding and
 * traps the program has set by now. */
static void job_read_texts(void)
{
    struct aps_job *job = &the_job;
    fenv_t environment;

    aps_options_read(&job->options, &job->errors, &job->warnings);
    if (job->options.policy && job->options.enabled) {
        aps_fpenv_enter(&environment);
        job_read_policy(job);
        aps_fpenv_leave(&environment);
    }
    /* Without the file a rank may still be given the text by rank 0. */
    if (job->errors.count > 0)
        job->held = APS_HELD_BAD;
}

static void job_start(void)
{
    struct aps_job *job = &the_job;
    int real_size;

    job->foreign = job_is_foreign();
    if (job->foreign)
        return;
    job_count_neighbours();
    aps_counters_shared = job_may_have_threads();
    job->real_is_float = MPI_REAL != MPI_DATATYPE_NULL &&
                         PMPI_Type_size(MPI_REAL, &real_size) == MPI_SUCCESS &&
                         real_size == 4;
    pthread_once(&texts_read, job_read_texts);
}

bool aps_job_asks_for_threads(void)
{
    static const char *const nonblocking[] = {
        "MPI_Iallreduce", "MPI_Iallreduce_c", "MPI_Allreduce_init",
        "MPI_Allreduce_init_c",
        /* Fortran */
        "mpi_iallreduce_", "mpi_iallreduce_f08_", "mpi_iallreduce_f08ts_",
        "mpi_iallreduce_f08ts_large_", "mpi_allreduce_init_"};
    const struct aps_job *job = &the_job;

    if (job_is_foreign())
        return false;
    pthread_once(&texts_read, job_read_texts);
    if (!job->options.policy || !job->options.enabled)
        return false;
    return (job->held == APS_HELD_GOOD &&
            aps_policy_progress(job->policy) == APS_PROGRESS_THREAD) ||
           aps_elf_imports_any(nonblocking,
                               sizeof nonblocking / sizeof *nonblocking,
                               "mpi_iallreduce_"); /* Fortran's bindings */
}

struct aps_job *aps_job_make(void)
{
    pthread_once(&once, job_start);
    atomic_store_explicit(&aps_job_made, &the_job, memory_order_release);
    return &the_job;
}

/* The texts, each with its length in front; a missing one has length -1. */
static size_t job_pack_text(char *to, const char *text, size_t length)
{
    int64_t size = text ? (int64_t)length : -1;

    if (to) {
        memcpy(to, &size, sizeof size);
        if (text)
            memcpy(to + sizeof size, text, length);
    }
    return sizeof size + (text ? length : 0);
}

static size_t job_pack_all(const struct aps_policy_source *source, char *to)
{
    const struct {
        const char *text;
        size_t length;
    } parts[] = {
        {source->path, strlen(source->path)},
        {source->text, source->length},
        {source->layers_path,
         source->layers_path ? strlen(source->layers_path) : 0},
        {source->layers_text, source->layers_length},
    };
    size_t used = 0;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        used += job_pack_text(to ? to + used : NULL, parts[i].text,
                              parts[i].length);
    return used;
}

int aps_job_pack(const struct aps_job *job, char **bytes, size_t *size)
{
    size_t needed = job_pack_all(&job->source, NULL);
    char *packed = malloc(needed);

    if (!packed)
        return -1;
    job_pack_all(&job->source, packed);
    *bytes = packed;
    *size = needed;
    return 0;
}

/* The next text of a packed source, NUL-terminated; 0 or -1 without memory. */
static int job_unpack_text(const char **next, char **text, size_t *length)
{
    int64_t size;

    memcpy(&size, *next, sizeof size);
    *next += sizeof size;
    *text = NULL;
    *length = 0;
    if (size < 0)
        return 0;
    *text = malloc((size_t)size + 1);
    if (!*text)
        return -1;
    memcpy(*text, *next, (size_t)size);
    (*text)[size] = '\0';
    *length = (size_t)size;
    *next += size;
    return 0;
}

int aps_job_adopt(struct aps_job *job, const char *bytes)
{
    struct aps_policy_source source = {0};
    static struct aps_errors errors; /* under the lock; too big for a stack */
    fenv_t environment;
    size_t ignored;
    int rc;

    aps_fpenv_enter(&environment);
    pthread_mutex_lock(&lock);
    errors.count = 0;
    rc = -1;
    if (job_unpack_text(&bytes, &source.path, &ignored) < 0 ||
        job_unpack_text(&bytes, &source.text, &source.length) < 0 ||
        job_unpack_text(&bytes, &source.layers_path, &ignored) < 0 ||
        job_unpack_text(&bytes, &source.layers_text, &source.layers_length) < 0)
        goto clear;
    if (job->held == APS_HELD_GOOD) {
        /* Another thread was first, and must have been given the same. */
        rc = job->hash == job_hash_source(&source) ? 0 : -1;
        goto clear;
    }
    if (aps_policy_parse(&source, &job->policy, &errors) < 0)
        goto clear;
    job->source = source;
    job->hash = job_hash_source(&source);
    job->held = APS_HELD_GOOD;
    rc = 0;
    goto unlock;

clear:
    aps_policy_source_clear(&source);
unlock:
    pthread_mutex_unlock(&lock);
    aps_fpenv_leave(&environment);
    return rc;
}

void aps_job_report(struct aps_job *job)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;

    if (atomic_flag_test_and_set(&said))
        return;
    aps_message_errors(-1, &job->warnings);
    if (job->held != APS_HELD_BAD)
        return;
    aps_message_errors(-1, &job->errors);
    aps_message(-1, job->options.pass_on_error
                        ? "every call passes through (APSMPI_ON_ERROR=pass)"
                        : "the job stops before training "
                          "(APSMPI_ON_ERROR=pass goes on without apsmpi)");
}

bool aps_job_must_stop(const struct aps_job *job)
{
    return job->held == APS_HELD_BAD && !job->options.pass_on_error;
}

uint64_t aps_job_switches(const struct aps_job *job)
{
    const int switches[] = {
        job->options.pass_on_error,
        job->options.enabled,
        job->options.test_nodes,
        job->options.test_cyclic,
    };

    return job_hash_bytes(FNV_OFFSET, switches, sizeof switches);
}

struct aps_log *aps_job_log(struct aps_job *job, int rank)
{
    const char *path = job->options.log;
    struct aps_error error;

    if (!path && job->policy)
        path = aps_policy_log(job->policy)->file;
    if (!path)
        return NULL;
    pthread_mutex_lock(&lock);
    if (!log_tried && aps_log_open(&the_log, path, &error) < 0) {
        char text[sizeof error + 32];

        aps_message(rank, "%s; going on without a log",
                    aps_error_format(&error, text, sizeof text));
    }
    log_tried = true;
    pthread_mutex_unlock(&lock);
    return the_log.fd >= 0 ? &the_log : NULL;
}

void aps_job_flush(void)
{
    pthread_mutex_lock(&lock);
    if (the_log.fd >= 0)
        (void)fdatasync(the_log.fd);
    pthread_mutex_unlock(&lock);
}

/* Bytes for people: 1536 -> "1.5 KB". */
static char *job_human(unsigned long long bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 1000 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1000;
        unit++;
    }
    snprintf(text, size, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text;
}

static double job_percent(unsigned long long part, unsigned long long whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

unsigned long long aps_counters_calls(const struct aps_counters *counters)
{
    unsigned long long calls = atomic_load(&counters->calls);

    for (int i = 0; i < APS_PASSED_REASONS; i++)
        calls += atomic_load(&counters->again[i]);
    return calls;
}

/* ", passed: 4 no FP32 sums, 11 by rule", or "". */
static char *job_list_passed(const struct aps_counters *counters, char *text,
                             size_t size)
{
    static const char *const reasons[APS_PASSED_REASONS] = {
        [APS_PASSED_OTHER] = "no FP32 sums",
        [APS_PASSED_SMALL] = "below min_count",
        [APS_PASSED_RULE] = "by rule or for want of one",
        [APS_PASSED_AUTO] = "by auto",
        [APS_PASSED_STEP] = "while the step was not known",
        [APS_PASSED_OFF] = "after MPI_Pcontrol(0)",
        [APS_PASSED_COMM] = "on communicators that pass through",
    };
    const bool sums = counters != &aps_other_counters[APS_CALL_ALLGATHER];
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < APS_PASSED_REASONS; i++) {
        unsigned long long times = atomic_load(&counters->passed[i]) +
                                   atomic_load(&counters->again[i]);

        if (times > 0 && used < size)
            used += (size_t)snprintf(
                text + used, size - used, "%s %llu %s",
                used == 0 ? ", passed:" : ",", times,
                i == APS_PASSED_OTHER && !sums ? "not plain FP32" : reasons[i]);
    }
    return text;
}

static void job_print_counters(const struct aps_counters *counters,
                               const char *name, const char *hint)
{
    const unsigned long long calls = aps_counters_calls(counters);
    const unsigned long long rewritten = atomic_load(&counters->rewritten);
    const unsigned long long wire = atomic_load(&counters->wire_bytes);
    const unsigned long long fp32 = atomic_load(&counters->fp32_bytes);
    const unsigned long long fused = atomic_load(&counters->fused);
    const unsigned long long device = atomic_load(&counters->device_bytes);
    char sent[32], native[32], passed[256], together[64] = "", from[64] = "";
    char there[32];

    if (fused > 0)
        snprintf(together, sizeof together, ", %llu of them fused", fused);
    if (device > 0)
        snprintf(from, sizeof from, ", %s of it from GPU memory",
                 job_human(device, there, sizeof there));
    job_list_passed(counters, passed, sizeof passed);
    if (rewritten == 0)
        aps_message(-1, "%llu calls of %s, none rewritten%s%s", calls, name,
                    passed, hint);
    else
        aps_message(-1,
                    "%llu calls of %s, %llu rewritten (%.1f %%)%s%s; rank 0 "
                    "sent %s instead of %s (%.1f %% saved)%s",
                    calls, name, rewritten, job_percent(rewritten, calls),
                    together, passed, job_human(wire, sent, sizeof sent),
                    job_human(fp32, native, sizeof native),
                    fp32 > wire ? job_percent(fp32 - wire, fp32) : 0.0, from);
}

static const char *const relatives[APS_CALL_KINDS] = {
    [APS_CALL_REDUCE_SCATTER] = "MPI_Reduce_scatter",
    [APS_CALL_ALLGATHER] = "MPI_Allgather",
    [APS_CALL_REDUCE] = "MPI_Reduce",
};

/*
 * The relatives of the all-reduce are worth a line where a rule names them, or
 * could have: programs make many such calls that are no matter of ours. Returns
 * the number of lines.
 */
static int job_print_relatives(const struct aps_job *job)
{
    int lines = 0;

    for (int kind = 0; kind < APS_CALL_KINDS; kind++) {
        const struct aps_counters *counters = &aps_other_counters[kind];
        const bool named =
            aps_policy_names(job->policy, (enum aps_call_kind)kind);
        char hint[64] = "";

        if (!relatives[kind] || aps_counters_calls(counters) == 0 ||
            (!named && atomic_load(&counters->passed[APS_PASSED_RULE]) == 0))
            continue;
        if (!named)
            snprintf(hint, sizeof hint, " (a rule may say: calls: [%s])",
                     aps_call_name((enum aps_call_kind)kind));
        job_print_counters(counters, relatives[kind], hint);
        lines++;
    }
    return lines;
}

/* Without a policy. */
static void job_print_unruled(const char *name, unsigned long long calls)
{
    if (calls > 0)
        aps_message(-1, "%llu calls of %s, none rewritten (no policy)", calls,
                    name);
}

static void job_print_summary(const struct aps_job *job)
{
    const unsigned long long calls = aps_counters_calls(&aps_counters);

    if (job->held == APS_HELD_NONE) {
        job_print_unruled("MPI_Allreduce", calls);
        for (int kind = 0; kind < APS_CALL_KINDS; kind++)
            if (calls == 0 && relatives[kind])
                job_print_unruled(
                    relatives[kind],
                    aps_counters_calls(&aps_other_counters[kind]));
        return;
    }
    if (calls == 0 && job->held != APS_HELD_GOOD)
        return;
    if (calls > 0)
        job_print_counters(&aps_counters, "MPI_Allreduce", "");
    if (job->held == APS_HELD_GOOD && job_print_relatives(job) == 0 &&
        calls == 0)
        job_print_counters(&aps_counters, "MPI_Allreduce", "");
}

void aps_job_end(struct aps_job *job, int world_rank)
{
    fenv_t environment;

    if (world_rank != 0 || !job->options.summary || job->foreign)
        return;
    aps_fpenv_enter(&environment);
    job_print_summary(job);
    aps_fpenv_leave(&environment);
}

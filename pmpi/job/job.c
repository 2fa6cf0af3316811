/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "job/job.h"

#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fpenv.h"
#include "base/hot.h"
#include "base/launch.h"
#include "base/message.h"
#include "job/policy_text.h"
#include "native/elf_imports.h"
#include "native/foreign.h"
#include "message/wait.h"

struct aps_counters aps_counters;
struct aps_counters aps_other_counters[APS_COUNTED_FUNCTIONS];
const struct aps_counted_function aps_counted_functions[APS_COUNTED_FUNCTIONS] =
    {
        [APS_COUNTED_ALLREDUCE] = {"MPI_Allreduce", APS_CALL_ALLREDUCE, true},
        [APS_COUNTED_REDUCE_SCATTER] = {"MPI_Reduce_scatter",
                                        APS_CALL_REDUCE_SCATTER, true},
        [APS_COUNTED_REDUCE_SCATTER_BLOCK] = {"MPI_Reduce_scatter_block",
                                              APS_CALL_REDUCE_SCATTER, true},
        [APS_COUNTED_ALLGATHER] = {"MPI_Allgather", APS_CALL_ALLGATHER, true},
        [APS_COUNTED_REDUCE] = {"MPI_Reduce", APS_CALL_REDUCE, true},
        /* Nearly every program distributes its weights once. */
        [APS_COUNTED_BCAST] = {"MPI_Bcast", APS_CALL_BCAST, false},
};
APS_HOT bool aps_counters_shared = true;
APS_HOT atomic_uint aps_job_changes;
struct aps_job *_Atomic aps_job_made;
atomic_bool aps_job_leads;

static struct aps_job the_job;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_once_t texts_read = PTHREAD_ONCE_INIT; /* separate, since
                                                         MPI_Init may need
                                                         the texts first */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct aps_log the_log = {.fd = -1};
static bool log_tried;
static struct aps_log the_exponents = {.fd = -1};
static bool exponents_tried;

bool aps_job_is_first_rank(void)
{
    return aps_launch_rank() <= 0;
}

int aps_job_rank(void)
{
    int initialized = 0, rank;

    /* The sessions model has no MPI_COMM_WORLD. */
    if (PMPI_Initialized(&initialized) == MPI_SUCCESS && initialized &&
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS)
        return rank;
    rank = aps_launch_rank();
    return rank < 0 ? 0 : rank;
}

/* Parses the source, which has been read. The candidates of APSMPI_SHADOW
 * replace those of the policy. */
static void job_take_policy(struct aps_job *job)
{
    if (job->options.shadow && !job->source.shadow) {
        job->source.shadow = strdup(job->options.shadow);
        if (!job->source.shadow) {
            aps_errors_add(&job->errors, APS_SHADOW_PATH, 0, 0,
                           "out of memory");
            return;
        }
    }
    job->hash = aps_policy_text_hash(&job->source);
    if (aps_policy_parse(&job->source, &job->policy, &job->errors) == 0)
        job->held = APS_HELD_GOOD;
}

static bool job_has_policy(const struct aps_job *job)
{
    return (job->options.policy || job->options.shadow) && job->options.enabled;
}

static void job_read_policy(struct aps_job *job)
{
    if (access(job->options.policy, R_OK) != 0)
        job->policy_absent = true;
    if (aps_policy_source_read(job->options.policy, &job->source,
                               &job->errors) < 0)
        return;
    job_take_policy(job);
}

/* Makes a policy of candidates alone, for all layers. */
static void job_read_shadow(struct aps_job *job)
{
    if (aps_policy_source_shadow(job->options.shadow, APS_SHADOW_PATH,
                                 &job->source) < 0)
        aps_errors_add(&job->errors, APS_SHADOW_PATH, 0, 0, "out of memory");
    else
        job_take_policy(job);
}

/* Takes the number of ranks of this node from the launcher. Waits use the
 * number until the ranks have counted themselves (reduce/hierarchical.c). */
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

/* True before MPI_Init and with sessions, because MPI cannot name the level. */
static bool job_may_have_threads(void)
{
    int initialized = 0, level = MPI_THREAD_MULTIPLE;

    if (PMPI_Initialized(&initialized) == MPI_SUCCESS && initialized)
        PMPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE;
}

/* Reads the options and the policy. Every rank must read the same numbers,
 * whatever rounding mode and traps the program has set, so the floating-point
 * environment is replaced during the reading. */
static void job_read_texts(void)
{
    struct aps_job *job = &the_job;
    fenv_t environment;

    aps_options_read(&job->options, &job->errors, &job->warnings);
    if (job->options.test_patience > 0)
        aps_wait_set_patience(job->options.test_patience);
    if (job_has_policy(job)) {
        aps_fpenv_enter(&environment);
        if (job->options.policy)
            job_read_policy(job);
        else
            job_read_shadow(job);
        aps_fpenv_leave(&environment);
    }
    /* A rank that cannot read the file may still get the text from another
     * rank. */
    if (job->errors.count > 0)
        job->held = APS_HELD_BAD;
}

static void job_start(void)
{
    struct aps_job *job = &the_job;

    job->pid = getpid();
    job->foreign = aps_foreign();
    if (job->foreign)
        return;
    job_count_neighbours();
    aps_counters_shared = job_may_have_threads();
    pthread_once(&texts_read, job_read_texts);
}

/* True if the policy names calls whose nonblocking forms the program
 * imports. */
static bool job_defers_others(const struct aps_job *job)
{
    static const struct {
        enum aps_call_kind kind;
        size_t count;
        const char *names[8]; /* the first one is Fortran's */
    } forms[] = {
        {APS_CALL_REDUCE_SCATTER,
         8,
         {"mpi_ireduce_scatter_", "mpi_ireduce_scatter_block_",
          "mpi_ireduce_scatter_f08ts_", "mpi_ireduce_scatter_block_f08ts_",
          "MPI_Ireduce_scatter", "MPI_Ireduce_scatter_c",
          "MPI_Ireduce_scatter_block", "MPI_Ireduce_scatter_block_c"}},
        {APS_CALL_REDUCE,
         4,
         {"mpi_ireduce_", "mpi_ireduce_f08ts_", "MPI_Ireduce",
          "MPI_Ireduce_c"}},
        {APS_CALL_ALLGATHER,
         4,
         {"mpi_iallgather_", "mpi_iallgather_f08ts_", "MPI_Iallgather",
          "MPI_Iallgather_c"}},
        {APS_CALL_BCAST,
         4,
         {"mpi_ibcast_", "mpi_ibcast_f08ts_", "MPI_Ibcast", "MPI_Ibcast_c"}},
    };

    for (size_t i = 0;
         job->held == APS_HELD_GOOD && i < sizeof forms / sizeof *forms; i++)
        if (aps_policy_names(job->policy, forms[i].kind) &&
            aps_elf_imports_any(forms[i].names, forms[i].count,
                                forms[i].names[0]))
            return true;
    return false;
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

    if (aps_foreign())
        return false;
    pthread_once(&texts_read, job_read_texts);
    if (!job_has_policy(job) || job->options.threads == APS_THREADS_KEPT)
        return false;
    return (job->held == APS_HELD_GOOD &&
            aps_policy_progress(job->policy) == APS_PROGRESS_THREAD) ||
           aps_elf_imports_any(nonblocking,
                               sizeof nonblocking / sizeof *nonblocking,
                               "mpi_iallreduce_") || /* Fortran's bindings */
           job_defers_others(job);
}

struct aps_job *aps_job_make(void)
{
    pthread_once(&once, job_start);
    atomic_store_explicit(&aps_job_made, &the_job, memory_order_release);
    return &the_job;
}

/* Writes `held` last: a thread that reads GOOD finds the other fields written.
 * Returns 0 if the job has taken `source`, or -1 with `cause`, which is empty
 * if the job holds the same text already. */
static int job_adopt_locked(struct aps_job *job,
                            struct aps_policy_source *source, char *cause,
                            size_t size)
{
    static struct aps_errors errors; /* too large for a stack */
    const uint64_t hash = aps_policy_text_hash(source);

    if (job->held == APS_HELD_GOOD && job->hash == hash)
        return -1; /* the same text: `source` is not needed */
    if (job->held == APS_HELD_GOOD) {
        snprintf(cause, size,
                 "has taken another policy on another communicator");
        return -1;
    }
    errors.count = 0;
    if (aps_policy_parse(source, &job->policy, &errors) < 0) {
        char text[sizeof errors.list[0] + 32];

        snprintf(cause, size, "cannot read the policy that it was given: %s",
                 errors.count > 0
                     ? aps_error_format(&errors.list[0], text, sizeof text)
                     : "out of memory");
        return -1;
    }
    job->source = *source;
    job->hash = hash;
    job->held = APS_HELD_GOOD;
    atomic_fetch_add(&aps_job_changes, 1);
    return 0;
}

int aps_job_adopt(struct aps_job *job, const char *bytes, size_t length,
                  char *cause, size_t size)
{
    struct aps_policy_source source = {0};
    fenv_t environment;
    bool kept = false;

    cause[0] = '\0';
    aps_fpenv_enter(&environment);
    pthread_mutex_lock(&lock);
    if (aps_policy_text_unpack(bytes, length, &source) < 0)
        snprintf(cause, size,
                 errno == ENOMEM ? "has no memory left for the policy"
                                 : "has received a damaged policy");
    else
        kept = job_adopt_locked(job, &source, cause, size) == 0;
    pthread_mutex_unlock(&lock);
    if (!kept)
        aps_policy_source_clear(&source);
    aps_fpenv_leave(&environment);
    return cause[0] == '\0' ? 0 : -1;
}

/* Returns the consequence of a bad policy, for a message. */
static const char *job_outcome(const struct aps_job *job, bool stops)
{
    if (job->options.pass_on_error)
        return "every call passes through (APSMPI_ON_ERROR=pass)";
    if (!job->options.enabled)
        return "every call passes through (APSMPI_ENABLE is off)";
    if (stops)
        return "the job stops before training (with APSMPI_ON_ERROR=pass every "
               "call passes through instead)";
    return "calls pass through, unless another rank hands out a policy";
}

void aps_job_report(struct aps_job *job, int rank, bool stops)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;

    if (atomic_flag_test_and_set(&said))
        return;
    rank = rank > 0 ? rank : -1; /* rank 0 reports for the job */
    aps_message_errors(rank, &job->warnings);
    if (job->held != APS_HELD_BAD)
        return;
    aps_message_errors(rank, &job->errors);
    aps_message_warnings(rank, &job->errors);
    aps_message(rank, "the policy or an APSMPI_ variable is bad: %s",
                job_outcome(job, stops));
}

void aps_job_warn(struct aps_job *job, int rank)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;

    if (!atomic_flag_test_and_set(&said))
        aps_message_warnings(rank > 0 ? rank : -1, &job->errors);
}

bool aps_job_is_absent(const struct aps_job *job)
{
    return job->held == APS_HELD_BAD && job->policy_absent &&
           job->errors.count == 1;
}

bool aps_job_must_stop(const struct aps_job *job)
{
    return job->options.enabled && job->held == APS_HELD_BAD &&
           !aps_job_is_absent(job) && !job->options.pass_on_error;
}

enum {
    SWITCH_ENABLE,
    SWITCH_ON_ERROR,
    SWITCH_CYCLIC,
    SWITCH_NODES = 4 /* and the next three bytes: an int32_t */
};
_Static_assert(SWITCH_NODES + sizeof(int32_t) <= APS_SWITCHES,
               "the number of nodes fits");

void aps_job_switches(const struct aps_job *job, uint8_t switches[APS_SWITCHES])
{
    const int32_t nodes = job->options.test_nodes;

    memset(switches, 0, APS_SWITCHES);
    switches[SWITCH_ENABLE] = job->options.enabled;
    switches[SWITCH_ON_ERROR] = job->options.pass_on_error;
    switches[SWITCH_CYCLIC] = job->options.test_cyclic;
    memcpy(switches + SWITCH_NODES, &nodes, sizeof nodes);
}

const char *aps_job_other_switch(const uint8_t mine[APS_SWITCHES],
                                 const uint8_t first[APS_SWITCHES])
{
    static const char *const names[APS_SWITCHES] = {
        [SWITCH_ENABLE] = "APSMPI_ENABLE",
        [SWITCH_ON_ERROR] = "APSMPI_ON_ERROR",
        [SWITCH_CYCLIC] = "APSMPI_TEST_NODES",
        [SWITCH_NODES] = "APSMPI_TEST_NODES",
        [SWITCH_NODES + 1] = "APSMPI_TEST_NODES",
        [SWITCH_NODES + 2] = "APSMPI_TEST_NODES",
        [SWITCH_NODES + 3] = "APSMPI_TEST_NODES",
    };

    for (int i = 0; i < APS_SWITCHES; i++)
        if (mine[i] != first[i])
            return names[i] ? names[i] : "an APSMPI_ variable";
    return NULL;
}

/* Reports that the log is another file than the named one. The first rank
 * prints the line, or the rank that begins the file. */
static void job_tell_numbered_log(const char *path, int rank)
{
    if (the_log.numbered && (the_log.created || aps_job_is_first_rank()))
        aps_message(rank,
                    "%s is not a round-off log of this version and is left "
                    "alone: the log is %s",
                    path, the_log.path);
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

        aps_message(rank, "%s; the job runs without a log",
                    aps_error_format(&error, text, sizeof text));
    }
    if (!log_tried)
        job_tell_numbered_log(path, rank);
    log_tried = true;
    pthread_mutex_unlock(&lock);
    return the_log.fd >= 0 ? &the_log : NULL;
}

struct aps_log *aps_job_exponents(struct aps_job *job, int rank)
{
    const struct aps_log *log = aps_job_log(job, rank);
    struct aps_error error;

    if (!log)
        return NULL;
    pthread_mutex_lock(&lock);
    if (!exponents_tried &&
        aps_exponents_open(&the_exponents, log->path, &error) < 0) {
        char text[sizeof error + 32];

        aps_message(rank, "%s; the job runs without histograms of exponents",
                    aps_error_format(&error, text, sizeof text));
    }
    exponents_tried = true;
    pthread_mutex_unlock(&lock);
    return the_exponents.fd >= 0 ? &the_exponents : NULL;
}

void aps_job_flush(void)
{
    pthread_mutex_lock(&lock);
    if (the_log.fd >= 0)
        (void)fdatasync(the_log.fd);
    if (the_exponents.fd >= 0)
        (void)fdatasync(the_exponents.fd);
    pthread_mutex_unlock(&lock);
}

unsigned long long aps_counters_passed(const struct aps_counters *counters,
                                       enum aps_reason reason)
{
    return atomic_load(&counters->passed[reason]) +
           atomic_load(&counters->passed_cached[reason]);
}

unsigned long long aps_counters_eligible(const struct aps_counters *counters)
{
    unsigned long long others = 0;

    for (int i = 0; i < APS_PASSED_REASONS; i++)
        if (!aps_reason_is_eligible((enum aps_reason)i))
            others += aps_counters_passed(counters, (enum aps_reason)i);
    return aps_counters_calls(counters) - others;
}

unsigned long long aps_counters_calls(const struct aps_counters *counters)
{
    unsigned long long calls = atomic_load(&counters->calls);

    for (int i = 0; i < APS_PASSED_REASONS; i++)
        calls += atomic_load(&counters->passed_cached[i]);
    return calls;
}

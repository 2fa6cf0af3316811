/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "job/run.h"

#include <inttypes.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "job/log_event.h"
#include "native/abi.h"
#include "grammar/plan_text.h"
#include "roundoff/event.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char the_id[APS_RUN_ID];
static bool written; /* this process has written that the run began */

static void run_make_locked(void)
{
    struct timespec now;
    struct tm utc;
    char time[24];

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(time, sizeof time, "%Y%m%dT%H%M%S", &utc);
    snprintf(the_id, sizeof the_id, "%s.%06d-%d", time,
             (int)(now.tv_nsec / 1000 % 1000000), (int)getpid());
}

void aps_run_offer(char id[APS_RUN_ID], bool *made)
{
    pthread_mutex_lock(&lock);
    *made = the_id[0] == '\0';
    if (*made)
        run_make_locked();
    memcpy(id, the_id, sizeof the_id);
    pthread_mutex_unlock(&lock);
}

void aps_run_get(char id[APS_RUN_ID])
{
    pthread_mutex_lock(&lock);
    memcpy(id, the_id, sizeof the_id);
    pthread_mutex_unlock(&lock);
}

void aps_run_adopt(const char id[APS_RUN_ID])
{
    pthread_mutex_lock(&lock);
    if (the_id[0] == '\0')
        memcpy(the_id, id, sizeof the_id);
    pthread_mutex_unlock(&lock);
}

static int run_count_nodes(const struct aps_vcomm *vcomm)
{
    int nodes = 0;

    for (int i = 0; i < vcomm->size; i++)
        nodes += vcomm->nodes[i] == i; /* the lowest rank of its node */
    return nodes;
}

/* Adds the name of the MPI, such as "MPICH 4.0.2" or "Open MPI v4.1.4": the
 * first statement of MPI's version text, which for MPICH is
 * "MPICH Version:      4.0.2". */
static void run_add_mpi(char *line, size_t size)
{
    static const char word[] = " Version:";
    char text[APS_ABI_VERSION_MAX] = "";
    char *version;
    int length;

    if (PMPI_Get_library_version(text, &length) != MPI_SUCCESS)
        return;
    text[strcspn(text, ",\r\n")] = '\0';
    for (char *at = text; *at; at++)
        if (*at == '\t' || *at == '"')
            *at = ' ';
    version = strstr(text, word);
    if (version) {
        const char *number = version + strlen(word);

        number += strspn(number, " ");
        memmove(version + 1, number, strlen(number) + 1);
    }
    aps_event_add(line, size, "mpi", text);
}

/* Adds how the job identifies its layers, so that another run can identify the
 * same layers. */
static void run_add_steps(char *line, size_t size, const struct aps_job *job)
{
    static const char *const kinds[] = {"no", "auto", "calls", "table"};
    const struct aps_policy_steps *steps = aps_policy_steps(job->policy);
    char calls[32];

    snprintf(calls, sizeof calls, "calls %ld", steps->calls);
    aps_event_add(line, size, "steps",
                  steps->kind == APS_STEPS_CALLS ? calls : kinds[steps->kind]);
    if (steps->backward || steps->any)
        aps_event_add(line, size, "order", steps->any ? "any" : "backward");
    if (steps->per_epoch > 0)
        aps_event_add_number(line, size, "per_epoch", steps->per_epoch);
    if (job->source.layers_path)
        aps_event_add(line, size, "table", job->source.layers_path);
}

/* Returns the candidates or formats that are measured on the layers of a rule,
 * or NULL. */
static const struct aps_shadow *run_candidates(const struct aps_policy *policy,
                                               int rule)
{
    const struct aps_plan *plan =
        rule < 0 ? NULL : aps_policy_rule_plan(policy, rule);

    return plan && plan->auto_format ? &plan->auto_format->formats
                                     : aps_policy_shadow(policy, rule);
}

/* Writes one line for each candidate, with its plan in the words of a policy.
 * `apsmpi suggest` makes rules of the lines. */
static void run_write_candidates(struct aps_log *log,
                                 const struct aps_policy *policy,
                                 const char id[APS_RUN_ID])
{
    const int rules = (int)aps_policy_rules(policy);
    const struct aps_plan_key anywhere = {
        .call = APS_CALL_ALLREDUCE, .layer = -1, .count = 1};

    for (int rule = -1; rule < rules; rule++) {
        const struct aps_shadow *shadow = run_candidates(policy, rule);

        for (size_t i = 0; i < shadow->count; i++) {
            char line[960] = "candidate", text[APS_PLAN_TEXT_MAX], number[16];
            const char *name = aps_policy_rule_name(policy, rule);
            struct aps_plan plan;

            aps_policy_candidate(policy, &anywhere, shadow, i, &plan);
            snprintf(number, sizeof number, rule < 0 ? "" : "%d", rule);
            aps_event_add(line, sizeof line, "run", id);
            aps_event_add(line, sizeof line, "rule", name ? name : number);
            aps_event_add_number(line, sizeof line, "shadow", (int)i + 1);
            aps_event_add(line, sizeof line, "plan",
                          aps_plan_text(&plan, text, sizeof text));
            aps_job_log_event(log, 0, line);
        }
    }
}

void aps_run_write_begin(struct aps_job *job, const struct aps_vcomm *vcomm,
                         const char id[APS_RUN_ID])
{
    struct aps_log *log = aps_job_log(job, 0);
    char line[960], host[256] = "", hash[20];

    if (!log)
        return;
    gethostname(host, sizeof host - 1);
    snprintf(hash, sizeof hash, "%016" PRIx64, job->hash);
    snprintf(line, sizeof line, "run=%s", id);
    aps_event_add(line, sizeof line, "apsmpi", PACKAGE_VERSION);
    aps_event_add(line, sizeof line, "policy_hash", hash);
    aps_event_add_number(line, sizeof line, "ranks", vcomm->size);
    if (vcomm->nodes)
        aps_event_add_number(line, sizeof line, "nodes",
                             run_count_nodes(vcomm));
    aps_event_add(line, sizeof line, "host", host);
    run_add_mpi(line, sizeof line);
    aps_event_add(line, sizeof line, "policy", job->source.path);
    run_add_steps(line, sizeof line, job);
    aps_job_log_event(log, 0, line);
    run_write_candidates(log, job->policy, id);
    pthread_mutex_lock(&lock);
    written = true;
    pthread_mutex_unlock(&lock);
}

void aps_run_write_end(struct aps_job *job)
{
    char line[APS_RUN_ID + 16] = "end", id[APS_RUN_ID];
    struct aps_log *log;
    bool due;

    pthread_mutex_lock(&lock);
    due = written;
    written = false;
    memcpy(id, the_id, sizeof id);
    pthread_mutex_unlock(&lock);
    log = due ? aps_job_log(job, 0) : NULL;
    aps_event_add(line, sizeof line, "run", id);
    if (log)
        aps_job_log_event(log, 0, line);
}

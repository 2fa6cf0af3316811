/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process knows, whatever the communicator: its options, the policy that
 * it holds, the log and the counters of the summary.
 *
 * A process reads its policy file once, on first use, and says nothing about
 * it: who speaks for the job is decided where ranks agree (context.c).
 */
#ifndef APS_PMPI_JOB_JOB_H
#define APS_PMPI_JOB_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/options.h"
#include "policy/policy.h"
#include "roundoff/log.h"

enum aps_held {
    APS_HELD_NONE, /* no policy: APSMPI_POLICY is unset, or names a file that
                      does not exist here */
    APS_HELD_GOOD, /* source and policy are there */
    APS_HELD_BAD   /* the reason is in `errors` */
};

/* Why a call was passed through. */
enum aps_reason {
    APS_PASSED_OTHER, /* no FP32 sum */
    APS_PASSED_SMALL, /* fewer than min_count elements */
    APS_PASSED_RULE,  /* no rule matches, or it says fp32 */
    APS_PASSED_AUTO,  /* `reduce: auto` tried native, or found nothing faster */
    APS_PASSED_STEP,  /* the step is not known (yet, or any more) */
    APS_PASSED_OFF,   /* MPI_Pcontrol(0) */
    APS_PASSED_COMM,  /* one rank, or ranks that do not agree, or no policy */
    APS_PASSED_REASONS,
    APS_PASSED_UNCOUNTED = APS_PASSED_REASONS /* only watched, for discovery */
};

struct aps_counters {
    atomic_ullong calls;     /* but for those in `again`: aps_counters_calls */
    atomic_ullong rewritten; /* of these */
    atomic_ullong fused;     /* of these, with others */
    atomic_ullong passed[APS_PASSED_REASONS];
    /* Passed as the one before it was: not in `calls` or `passed`, as one count
     * a call is all that a short one has time for. */
    atomic_ullong again[APS_PASSED_REASONS];
    atomic_ullong wire_bytes;
    atomic_ullong fp32_bytes;
    atomic_ullong device_bytes; /* of wire_bytes, from a GPU's memory */
};

struct aps_job {
    bool foreign;       /* the MPI in this process is not the one we know */
    bool real_is_float; /* MPI_REAL has 4 bytes, as Fortran usually has it */
    atomic_bool begun;  /* MPI_Init was seen: aps_lifecycle_begin */
    struct aps_options options;
    struct aps_errors warnings; /* unknown variables */
    struct aps_errors errors;
    bool
        policy_absent; /* APSMPI_POLICY names a file that cannot be read here */

    /* Below: written once more at most, by aps_job_adopt. */
    _Atomic enum aps_held held; /* last: the others are there when it says so */
    struct aps_policy_source source;
    uint64_t hash; /* of the source's texts */
    struct aps_policy *policy;
};

extern struct aps_counters aps_counters; /* of MPI_Allreduce */

/* Of its relatives, by enum aps_call_kind. */
extern struct aps_counters aps_other_counters[APS_CALL_KINDS];

/* All calls: those of `calls` and `again`. */
unsigned long long aps_counters_calls(const struct aps_counters *counters);

/* May several threads count at a time? */
extern bool aps_counters_shared;

/* Add to a counter. A locked addition is a per cent of a short MPI_Allreduce:
 * only where threads may meet. */
static inline void aps_count(atomic_ullong *counter, unsigned long long times)
{
    if (__builtin_expect(aps_counters_shared, false))
        atomic_fetch_add_explicit(counter, times, memory_order_relaxed);
    else
        atomic_store_explicit(
            counter,
            atomic_load_explicit(counter, memory_order_relaxed) + times,
            memory_order_relaxed);
}

/* Is MPI to be initialised with MPI_THREAD_MULTIPLE: are there to be
 * nonblocking reductions, for which a thread may have to call MPI? Before
 * MPI_Init, when the policy can be read, but nothing be said yet. */
bool aps_job_asks_for_threads(void);

/* The process's job, made on first use. Thread-safe. */
struct aps_job *aps_job_make(void);
extern struct aps_job *_Atomic aps_job_made; /* NULL: not yet */

static inline struct aps_job *aps_job(void)
{
    struct aps_job *job =
        atomic_load_explicit(&aps_job_made, memory_order_acquire);

    return job ? job : aps_job_make();
}

/*
 * Hold the policy whose source another rank has packed (policy_text.h), if this
 * process holds none yet; one that holds the same text already is content. 0, or
 * -1 with the cause. Thread-safe.
 */
int aps_job_adopt(struct aps_job *job, const char *bytes, char *cause,
                  size_t size);

/*
 * Say what is wrong with the options and the policy, once in a process: called
 * on the rank that speaks for the others, rank 0 or the one that holds a bad
 * policy.
 */
void aps_job_report(struct aps_job *job, int rank);

/* Is the policy bad, and APSMPI_ON_ERROR not `pass`? */
bool aps_job_must_stop(const struct aps_job *job);

/* Hash of the switches that every rank must have set alike. */
uint64_t aps_job_switches(const struct aps_job *job);

/*
 * The log of this process, opened on first use, or NULL when there is none or
 * it cannot be written (said once, as `rank`).
 */
struct aps_log *aps_job_log(struct aps_job *job, int rank);

/* Is this rank 0? Launchers tell a process before MPI does, and after MPI is
 * gone: a hint, for messages. */
bool aps_job_is_first_rank(void);

/* What the log holds goes to the disk, if this process has one open. */
void aps_job_flush(void);

#endif

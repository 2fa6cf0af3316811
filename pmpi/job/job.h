/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of a process that does not depend on a communicator: its options, its
 * policy, the log and the counters of the summary.
 *
 * A process reads its policy file once, on first use, and prints nothing about
 * the file. The handshake of the ranks (world/handshake.h) decides which rank
 * reports.
 */
#ifndef APS_PMPI_JOB_JOB_H
#define APS_PMPI_JOB_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/options.h"
#include "policy/policy.h"
#include "roundoff/exponents.h"

enum aps_held {
    APS_HELD_NONE, /* no policy: APSMPI_POLICY is unset, or names a file that
                      does not exist on this node */
    APS_HELD_GOOD, /* `source` and `policy` are set */
    APS_HELD_BAD   /* `errors` has the causes */
};

/* Reason why a call was passed through. */
enum aps_reason {
    /* No policy could rewrite the call (aps_reason_is_eligible). */
    APS_PASSED_INTEGER,   /* integers, bytes or characters */
    APS_PASSED_DOUBLE,    /* sums or blocks of double */
    APS_PASSED_OPERATION, /* another operation on float or double */
    APS_PASSED_TYPE,      /* another datatype */
    APS_PASSED_OTHER,     /* wrong arguments */
    APS_PASSED_SMALL,     /* fewer than min_count elements */
    APS_PASSED_SINGLE,    /* the communicator has one rank */
    APS_PASSED_INTER,     /* it is an intercommunicator */
    /* The policy decided. */
    APS_PASSED_RULE, /* no rule matches, or the rule says fp32 */
    APS_PASSED_AUTO, /* `reduce: auto` tried native, or found nothing faster */
    APS_PASSED_STEP, /* the step is not known yet, or a desync lost it */
    APS_PASSED_SHADOW,  /* candidates are measured on it in some steps */
    APS_PASSED_FORMAT,  /* `format: {auto: ...}` has found none for it */
    APS_PASSED_OUTSIDE, /* between two steps, and not the beginning of one */
    APS_PASSED_OFF,     /* MPI_Pcontrol(0) */
    /* Faults of the communicator. */
    APS_PASSED_DISAGREED, /* its ranks have no common policy */
    APS_PASSED_UNRULED,   /* its ranks have no policy */
    APS_PASSED_SWITCHED,  /* APSMPI_ENABLE is off */
    APS_PASSED_BAD,       /* the policy is bad, and APSMPI_ON_ERROR is pass */
    APS_PASSED_RESOURCES, /* MPI lacked a communicator or tags for it */
    /* Nonblocking and persistent calls. */
    APS_PASSED_EARLY,      /* its hidden communicator is not made yet */
    APS_PASSED_THREADS,    /* no thread can continue the call */
    APS_PASSED_PERSISTENT, /* the order of starts is not known */
    APS_PASSED_REASONS,
    APS_PASSED_WATCHED = APS_PASSED_REASONS /* UNRULED, and discovery must
                                               see the next such call, too */
};

/* True if a policy could have rewritten a call that passed for this reason. */
static inline bool aps_reason_is_eligible(enum aps_reason reason)
{
    return reason >= APS_PASSED_RULE;
}

struct aps_counters {
    atomic_ullong calls;       /* calls that are not in `passed_cached`;
                                  aps_counters_calls adds both */
    atomic_ullong rewritten;   /* calls of `calls` that were rewritten */
    atomic_ullong fused;       /* rewritten calls in a batch with others */
    atomic_ullong batches;     /* number of these batches */
    atomic_ullong nonblocking; /* rewritten calls that are nonblocking */
    atomic_ullong passed[APS_PASSED_REASONS];
    /* Calls that passed for the same reason as an earlier call with the same
     * arguments. They are not in `calls` or `passed`: a short call has time for
     * one count. */
    atomic_ullong passed_cached[APS_PASSED_REASONS];
    /* Elements of eligible all-reduces, and of their layers that were
     * rewritten. */
    atomic_ullong eligible_bytes;
    atomic_ullong rewritten_bytes;
    atomic_ullong wire_bytes;
    atomic_ullong fp32_bytes;
    atomic_ullong redone; /* chunks that were reduced again after a predicted
                             scale overflowed */
    /* Layers in which a predicted scale overflowed, by the result of the
     * values. */
    atomic_ullong overflowed[APS_OVERFLOW_KINDS];
    atomic_ullong device_bytes; /* part of wire_bytes: bytes sent from GPU
                                   memory */
    /* Part of wire_bytes: bytes to ranks of the node, past the caches. */
    atomic_ullong streamed_bytes;
    atomic_ullong compressed; /* layers that a compressor took */
    atomic_ullong remembered; /* greatest memory of compressors, in bytes */
    atomic_ullong shadowed;   /* layers that candidates were measured on */
    atomic_ullong shadow_ns;  /* time for shadowed, in ns on this rank */
    /* Time of the first call for candidates, in ns; 0: no such call. */
    atomic_ullong shadow_begin;
    atomic_ullong shadow_bytes;     /* greatest memory of candidates, in
                                       bytes */
    atomic_ullong shadow_copies;    /* greatest memory of copies of
                                       nonblocking inputs, in bytes */
    atomic_ullong formats_measured; /* layers measured for `format: {auto:
                                       ...}` */
    atomic_ullong formats_ns;       /* time for formats_measured, in ns on
                                       this rank */
    atomic_ullong formats_bytes;    /* greatest memory for formats_measured,
                                       in bytes */
    atomic_ullong format_changes;   /* changes of layers measured before */
    atomic_ullong formats_untold; /* first formats and changes without a line */
    /* True if calls of one size were counted as one layer, whatever they carried,
     * during the measurement of layers. */
    atomic_bool layers_merged;
    /* Equal steps that the latest calls made, while no step was known. */
    atomic_ullong repeats;
    /* A step was found whose calls come in any order. */
    atomic_bool any_order;
};

struct aps_job {
    pid_t pid;    /* process that made the job; a forked child has another */
    bool foreign; /* result of aps_foreign */
    atomic_bool begun; /* aps_lifecycle_begin has seen MPI_Init */
    struct aps_options options;
    struct aps_errors warnings; /* unknown variables */
    struct aps_errors errors;   /* errors, and warnings of the policy */
    bool policy_absent; /* this process cannot read the file APSMPI_POLICY */

    /* aps_job_adopt may write the following fields once more. */
    _Atomic enum aps_held held; /* written last, after the other fields */
    struct aps_policy_source source;
    uint64_t hash; /* hash of the texts in `source` */
    struct aps_policy *policy;
};

/* Returns the policy that this process holds, or NULL: another thread may adopt one
 * now. After the ranks of a communicator have agreed, job->policy is theirs. */
static inline const struct aps_policy *aps_job_policy(const struct aps_job *job)
{
    return job->held == APS_HELD_GOOD ? job->policy : NULL;
}

extern struct aps_counters aps_counters; /* counters of MPI_Allreduce */

/* Functions of MPI that are counted. One keyword of a policy may name several
 * of them. */
enum aps_counted {
    APS_COUNTED_ALLREDUCE,
    APS_COUNTED_REDUCE_SCATTER,
    APS_COUNTED_REDUCE_SCATTER_BLOCK,
    APS_COUNTED_ALLGATHER,
    APS_COUNTED_REDUCE,
    APS_COUNTED_BCAST,
    APS_COUNTED_FUNCTIONS
};

struct aps_counted_function {
    const char *name; /* MPI's */
    enum aps_call_kind kind;
    bool offered; /* the summary suggests a rule for such calls */
};

extern const struct aps_counted_function
    aps_counted_functions[APS_COUNTED_FUNCTIONS];

/* True if calls of the function have an operation. */
static inline bool aps_counted_sums(enum aps_counted function)
{
    return function != APS_COUNTED_ALLGATHER && function != APS_COUNTED_BCAST;
}

/* Counters of all functions except MPI_Allreduce. */
extern struct aps_counters aps_other_counters[APS_COUNTED_FUNCTIONS];

static inline struct aps_counters *aps_counters_of(enum aps_counted function)
{
    return function == APS_COUNTED_ALLREDUCE ? &aps_counters
                                             : &aps_other_counters[function];
}

/* Returns the number of all calls: `calls` and the sum of `passed_cached`. */
unsigned long long aps_counters_calls(const struct aps_counters *counters);

/* Returns the number of calls that passed through for this reason. */
unsigned long long aps_counters_passed(const struct aps_counters *counters,
                                       enum aps_reason reason);

/* Returns the number of calls that a policy could rewrite. */
unsigned long long aps_counters_eligible(const struct aps_counters *counters);

/* Number of deletions of contexts, after which MPI may give a handle to another
 * communicator, and of policies that this rank has adopted. After each of them what
 * any thread has cached is invalid. */
extern atomic_uint aps_job_changes;

/* True if several threads may count at the same time. */
extern bool aps_counters_shared;

/* Adds to a counter. A locked addition takes a per cent of a short
 * MPI_Allreduce, and is used only if several threads may count. */
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

/* Raises a counter that holds a maximum. */
static inline void aps_count_max(atomic_ullong *counter,
                                 unsigned long long value)
{
    unsigned long long most = atomic_load(counter);

    while (value > most && !atomic_compare_exchange_weak(counter, &most, value))
        ;
}

/* True if MPI must be initialised with MPI_THREAD_MULTIPLE: the policy or the
 * program asks for nonblocking reductions, for which a progress thread may call
 * MPI. Called before MPI_Init; reads the policy and prints nothing. */
bool aps_job_asks_for_threads(void);

/* True once this process has rewritten a call on a communicator whose rank 0 it
 * is. Such a process has the log's rows and the chosen formats. */
extern atomic_bool aps_job_leads;

/* Returns the job of this process; the first call makes it. Thread-safe. */
struct aps_job *aps_job_make(void);
extern struct aps_job *_Atomic aps_job_made; /* NULL: not yet */

static inline struct aps_job *aps_job(void)
{
    struct aps_job *job =
        atomic_load_explicit(&aps_job_made, memory_order_acquire);

    return job ? job : aps_job_make();
}

/*
 * Takes the policy whose source another rank has packed (policy_text.h), in
 * `length` bytes, if this process holds none yet. Nothing changes if the process
 * holds the same text already. Returns 0, or -1 with `cause`. Thread-safe.
 */
int aps_job_adopt(struct aps_job *job, const char *bytes, size_t length,
                  char *cause, size_t size);

/*
 * Prints the errors of the options and of the policy, once in a process, and
 * whether the job stops because of them. The caller is rank 0, or the rank that
 * holds a bad policy.
 */
void aps_job_report(struct aps_job *job, int rank, bool stops);

/* Prints the warnings of the policy, once in a process. The caller is the rank
 * whose policy the others take. */
void aps_job_warn(struct aps_job *job, int rank);

/* True if the only error is that this process cannot read the policy's file.
 * Another rank may send the policy. */
bool aps_job_is_absent(const struct aps_job *job);

/* True if the policy is bad, not only absent, and neither APSMPI_ON_ERROR is
 * `pass` nor APSMPI_ENABLE is `off`. */
bool aps_job_must_stop(const struct aps_job *job);

/* Switches that must be equal on all ranks, as bytes that ranks compare. The
 * bytes are whole values, because two values with the same hash could lead to a
 * deadlock. Ranks of different versions exchange them, so the number of bytes
 * never changes. aps_job_other_switch returns the variable of the first byte
 * that differs, or NULL. */
#define APS_SWITCHES 8
void aps_job_switches(const struct aps_job *job,
                      uint8_t switches[APS_SWITCHES]);
const char *aps_job_other_switch(const uint8_t mine[APS_SWITCHES],
                                 const uint8_t first[APS_SWITCHES]);

/*
 * Returns the log of this process, opened on first use, or NULL if the process
 * has none or the file cannot be opened. `rank` prints the cause once.
 */
struct aps_log *aps_job_log(struct aps_job *job, int rank);

/* Returns the file of histograms of exponents next to the log, like
 * aps_job_log. */
struct aps_log *aps_job_exponents(struct aps_job *job, int rank);

/* True if this is rank 0 by the launcher's environment variables, which exist
 * before MPI_Init and after MPI_Finalize. A hint, for messages only. */
bool aps_job_is_first_rank(void);

/* Returns the rank in MPI_COMM_WORLD, or, in the sessions model, the rank that
 * the launcher names; 0 if neither is known. For names and messages only. */
int aps_job_rank(void);

/* Flushes the log to the disk, if this process has opened it. */
void aps_job_flush(void);

#endif

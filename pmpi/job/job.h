/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process knows independently of any communicator: its options, the
 * policy that it holds, the log and the counters of the summary.
 *
 * A process reads its policy file once, on first use, and prints nothing about
 * the file: the handshake of the ranks (handshake.h) decides which rank
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
    APS_HELD_BAD   /* `errors` says why */
};

/* Why a call was passed through. */
enum aps_reason {
    APS_PASSED_OTHER, /* not an FP32 sum, or wrong arguments */
    APS_PASSED_SMALL, /* fewer than min_count elements */
    APS_PASSED_RULE,  /* no rule matches, or the rule says fp32 */
    APS_PASSED_AUTO,  /* `reduce: auto` tried native, or found nothing faster */
    APS_PASSED_STEP,  /* the step is not known yet, or a desync lost it */
    APS_PASSED_SHADOW,  /* candidates are measured on it in some steps */
    APS_PASSED_FORMAT,  /* `format: {auto: ...}` has found none for it */
    APS_PASSED_OUTSIDE, /* between two steps, and not the beginning of one */
    APS_PASSED_OFF,     /* MPI_Pcontrol(0) */
    /* What is wrong with the communicator. */
    APS_PASSED_SINGLE,    /* it has one rank */
    APS_PASSED_INTER,     /* it is an intercommunicator */
    APS_PASSED_DISAGREED, /* its ranks have no common policy */
    APS_PASSED_UNRULED,   /* its ranks have no policy */
    APS_PASSED_SWITCHED,  /* APSMPI_ENABLE is off */
    APS_PASSED_BAD,       /* the policy is bad, and APSMPI_ON_ERROR is pass */
    APS_PASSED_RESOURCES, /* MPI lacked a communicator or tags for it */
    /* Nonblocking and persistent calls. */
    APS_PASSED_EARLY,      /* no blocking call has made its world yet */
    APS_PASSED_THREADS,    /* nothing can carry it on */
    APS_PASSED_PERSISTENT, /* the order of starts is not known */
    APS_PASSED_REASONS,
    APS_PASSED_WATCHED = APS_PASSED_REASONS /* UNRULED, and discovery must see
                                               the next such call, too */
};

struct aps_counters {
    atomic_ullong calls;     /* without those in `again`: aps_counters_calls */
    atomic_ullong rewritten; /* of `calls` */
    atomic_ullong fused;     /* of `rewritten`: in a batch with others */
    atomic_ullong batches;   /* of these */
    atomic_ullong nonblocking; /* of `rewritten` */
    atomic_ullong passed[APS_PASSED_REASONS];
    /* Calls that passed for the same reason as an earlier one like them. They are
     * not counted in `calls` or `passed`: a short call has time for one count. */
    atomic_ullong passed_cached[APS_PASSED_REASONS];
    atomic_ullong wire_bytes;
    atomic_ullong fp32_bytes;
    atomic_ullong redone; /* chunks, after a predicted scale overflowed */
    /* Layers in which it did, by what became of the values. */
    atomic_ullong overflowed[APS_OVERFLOW_KINDS];
    atomic_ullong device_bytes; /* of wire_bytes: sent from GPU memory */
    /* Of wire_bytes: to ranks of the node, past the caches. */
    atomic_ullong streamed_bytes;
    atomic_ullong compressed; /* layers that a compressor took */
    atomic_ullong remembered; /* bytes of what compressors keep, at most */
    atomic_ullong shadowed;   /* layers that candidates were measured on */
    atomic_ullong shadow_ns;  /* that took so long on this rank */
    atomic_ullong
        shadow_begin; /* when the first call came that they are for; 0:
                                   none has */
    atomic_ullong shadow_bytes;     /* that they needed, at most */
    atomic_ullong shadow_copies;    /* beside copies of so many bytes, at most,
                                       of nonblocking calls' inputs */
    atomic_ullong formats_measured; /* layers, for `format: {auto: ...}` */
    atomic_ullong formats_ns;       /* that took so long on this rank */
    atomic_ullong formats_bytes;    /* that they needed, at most */
    atomic_ullong format_changes; /* of layers that had been measured before */
    atomic_ullong
        formats_untold; /* first formats and changes, without a line */
    atomic_bool
        layers_merged; /* calls of one size counted as one layer, whatever
                                  they carried, where layers were measured */
};

struct aps_job {
    pid_t pid;    /* of the process that made it; a forked child has another */
    bool foreign; /* aps_foreign */
    bool real_is_float; /* MPI_REAL has 4 bytes, as is usual in Fortran */
    atomic_bool begun;  /* MPI_Init was seen: aps_lifecycle_begin */
    struct aps_options options;
    struct aps_errors warnings; /* unknown variables */
    struct aps_errors errors;   /* warnings of the policy, too */
    bool policy_absent; /* this process cannot read the file APSMPI_POLICY */

    /* aps_job_adopt may write the following once more. */
    _Atomic enum aps_held held; /* written last: the rest is set before it */
    struct aps_policy_source source;
    uint64_t hash; /* of the texts in `source` */
    struct aps_policy *policy;
};

extern struct aps_counters aps_counters; /* of MPI_Allreduce */

/* The functions of MPI that are counted. A policy knows some of them by one
 * word. */
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
    bool offered; /* the summary tells of a rule for such calls */
};

extern const struct aps_counted_function
    aps_counted_functions[APS_COUNTED_FUNCTIONS];

/* Of all but MPI_Allreduce. */
extern struct aps_counters aps_other_counters[APS_COUNTED_FUNCTIONS];

static inline struct aps_counters *aps_counters_of(enum aps_counted function)
{
    return function == APS_COUNTED_ALLREDUCE ? &aps_counters
                                             : &aps_other_counters[function];
}

/* The number of all calls: `calls` and the sum of `again`. */
unsigned long long aps_counters_calls(const struct aps_counters *counters);

/* Whether several threads may count at the same time. */
extern bool aps_counters_shared;

/* Add to a counter. A locked addition takes a per cent of a short
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

/* Whether to initialise MPI with MPI_THREAD_MULTIPLE: the policy or the program
 * asks for nonblocking reductions, for which a progress thread may call MPI.
 * Called before MPI_Init; reads the policy and prints nothing. */
bool aps_job_asks_for_threads(void);

/* The job of this process; the first call makes it. Thread-safe. */
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
 * process holds none yet. Nothing changes if the process holds the same text
 * already. 0, or -1 with the cause. Thread-safe.
 */
int aps_job_adopt(struct aps_job *job, const char *bytes, char *cause,
                  size_t size);

/*
 * Print what is wrong with the options and the policy, once in a process, and
 * whether the job stops for it. The caller is rank 0, or the rank that holds a bad
 * policy.
 */
void aps_job_report(struct aps_job *job, int rank, bool stops);

/* Print the warnings of the policy, once in a process. The caller is the rank
 * whose policy the others take. */
void aps_job_warn(struct aps_job *job, int rank);

/* Is nothing wrong but that this process cannot read the policy's file? Another rank
 * may hand the policy out. */
bool aps_job_is_absent(const struct aps_job *job);

/* Whether the policy is bad, not only absent, and neither APSMPI_ON_ERROR is `pass`
 * nor APSMPI_ENABLE is `off`. */
bool aps_job_must_stop(const struct aps_job *job);

/* The switches that must be the same on all ranks, as bytes that ranks compare:
 * whole values, no hashes, since two values that pass for one are a deadlock.
 * Ranks of different versions exchange them, so the number of bytes stays.
 * aps_job_other_switch: the variable of the first byte that is not the same, or
 * NULL. */
#define APS_SWITCHES 8
void aps_job_switches(const struct aps_job *job,
                      uint8_t switches[APS_SWITCHES]);
const char *aps_job_other_switch(const uint8_t mine[APS_SWITCHES],
                                 const uint8_t first[APS_SWITCHES]);

/*
 * The log of this process, opened on first use. NULL if the process has none,
 * or if the file cannot be opened: `rank` then prints the cause once.
 */
struct aps_log *aps_job_log(struct aps_job *job, int rank);

/* The same of the file of histograms of exponents beside it. */
struct aps_log *aps_job_exponents(struct aps_job *job, int rank);

/* Whether this is rank 0, by the launcher's environment variables, which exist
 * before MPI_Init and after MPI_Finalize. A hint, for messages only. */
bool aps_job_is_first_rank(void);

/* The rank in MPI_COMM_WORLD, or, under the sessions model, that of the launcher;
 * 0 if neither is known. For names and messages only. */
int aps_job_rank(void);

/* Flush the log to the disk, if this process has opened it. */
void aps_job_flush(void);

#endif

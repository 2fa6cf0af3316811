/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "world/handshake.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "world/build.h"
#include "summary/final_policy.h"
#include "job/policy_text.h"
#include "message/agree.h"
#include "queue/progress_thread.h"

/* Settings that must be equal on all ranks. They are the first message: ranks
 * of different versions exchange them and the FIRST values that follow. */
struct setting {
    struct aps_build build;
    uint8_t switches[APS_SWITCHES];
};

/* Offer of the rank that holds the policy. */
struct offer {
    uint64_t hash;
    uint64_t size; /* size of the packed policy, in bytes */
};

/* Message of rank 0 after all ranks hold the policy. */
struct beginning {
    int64_t every; /* interval of the samples in its log, in steps; 0: never */
    char run[APS_RUN_ID];
};

/* Most bytes of a packed policy: its texts, and the candidates of the
 * environment. */
#define PACKED_MAX ((uint64_t)64 << 20)

/* Size of a buffer for the path of a policy in a message, in bytes. */
#define PATH_SHOWN 100

/* Values that the ranks agree on by MAX: size - rank for yes, or 0 for no
 * (handshake_yes). The maximum gives the lowest rank that says yes. */
enum {
    DIFFERS_BUILD,
    DIFFERS_SWITCHES,
    HOLDS_GOOD,
    HOLDS_BAD,
    ABSENT,
    LACKS_THREADS,
    CAME_IN_INIT, /* this rank made the agreement in MPI_Init */
    CAME_BY_CALL,
    NAMES_LOG, /* APSMPI_LOG is set */
    FIRST = 16 /* number of values in all versions */
};
enum { HOLDS_ANOTHER, HOLDS_NONE, SECOND };

/* State of one handshake on this rank. */
struct shake {
    struct aps_job *job;
    const struct aps_vcomm *vcomm;
    struct aps_handshake *agreed;
    enum aps_held held; /* value at the beginning, since another thread may
                           adopt a policy during the handshake */
    bool absent;        /* `held` is BAD only because the file is missing */
    int names_log;      /* lowest rank with APSMPI_LOG; number of ranks: none */
    bool whole_job;     /* argument of aps_handshake */
    char differs[240];  /* difference between the libraries of this rank and
                           rank 0 */
};

static int handshake_yes(const struct shake *shake, bool yes)
{
    return yes ? shake->vcomm->size - shake->vcomm->rank : 0;
}

/* Returns the lowest rank that said yes, or the size of vcomm if none did. */
static int handshake_lowest(const struct shake *shake, int value)
{
    return shake->vcomm->size - value;
}

/* COLLECTIVE. Agrees on `count` values of handshake_yes. Returns an MPI error
 * code. */
static int handshake_agree(const struct shake *shake, int count, int values[])
{
    const int rc = aps_agree_max(shake->vcomm, count, values);

    for (int i = 0; i < count; i++)
        if (values[i] < 0 || values[i] > shake->vcomm->size)
            return MPI_ERR_OTHER; /* not a rank */
    return rc;
}

/* COLLECTIVE. Compares the setting of each rank with that of rank 0, and agrees
 * on `values`. Returns an MPI error code. */
static int handshake_compare(struct shake *shake, int values[FIRST])
{
    struct setting mine = {0};
    struct setting first;
    const char *other;
    int rc;

    aps_build_fill(&mine.build);
    aps_job_switches(shake->job, mine.switches);
    first = mine;
    rc = aps_agree_bytes(shake->vcomm, 0, &first, sizeof first);
    if (rc != MPI_SUCCESS)
        return rc;
    values[DIFFERS_BUILD] = handshake_yes(
        shake, aps_build_compare(&mine.build, &first.build, shake->differs,
                                 sizeof shake->differs) < 0);
    values[LACKS_THREADS] =
        handshake_yes(shake, !aps_progress_thread_is_possible());
    other = aps_job_other_switch(mine.switches, first.switches);
    values[DIFFERS_SWITCHES] = handshake_yes(shake, other != NULL);
    if (other && !values[DIFFERS_BUILD])
        snprintf(shake->differs, sizeof shake->differs,
                 "and rank 0 differ in %s", other);
    values[NAMES_LOG] = handshake_yes(shake, shake->job->options.log != NULL);
    values[HOLDS_GOOD] = handshake_yes(shake, shake->held == APS_HELD_GOOD);
    values[HOLDS_BAD] =
        handshake_yes(shake, shake->held == APS_HELD_BAD && !shake->absent);
    values[ABSENT] = handshake_yes(shake, shake->absent);
    values[CAME_IN_INIT] = handshake_yes(shake, shake->whole_job);
    values[CAME_BY_CALL] = handshake_yes(shake, !shake->whole_job);
    return handshake_agree(shake, FIRST, values);
}

/* COLLECTIVE. Stores the difference between the libraries of `rank` and rank 0
 * as the cause. Returns an MPI error code. */
static int handshake_differ(struct shake *shake, int rank)
{
    int rc = aps_agree_bytes(shake->vcomm, rank, shake->differs,
                             sizeof shake->differs);

    snprintf(shake->agreed->cause, sizeof shake->agreed->cause,
             "rank %d %.239s", rank, shake->differs);
    return rc;
}

/* Local. Refuses the bad policy of `rank`, which prints the errors. */
static void handshake_refuse(struct shake *shake, int rank)
{
    shake->agreed->reason = APS_PASSED_BAD;
    shake->agreed->stop = !shake->job->options.pass_on_error;
    snprintf(shake->agreed->cause, sizeof shake->agreed->cause,
             "the policy or a variable of rank %d is bad", rank);
    if (shake->vcomm->rank == rank)
        aps_job_report(shake->job, rank, shake->agreed->stop);
}

/* COLLECTIVE. Sends the policy of `holder` to the ranks that hold none.
 * `packed`: the policy on `holder`, or NULL. Returns an MPI error code. */
static int handshake_hand_out(struct shake *shake, int holder, size_t size,
                              char *packed)
{
    char cause[sizeof shake->agreed->cause - 64] = "";
    char *bytes = packed ? packed : malloc(size);
    int rank, rc;

    if (!bytes)
        return MPI_ERR_NO_MEM;
    rc = aps_agree_bytes(shake->vcomm, holder, bytes, size);
    if (rc == MPI_SUCCESS && shake->held != APS_HELD_GOOD)
        (void)aps_job_adopt(shake->job, bytes, size, cause, sizeof cause);
    if (!packed)
        free(bytes);
    rank = handshake_yes(shake, cause[0] != '\0');
    if (rc == MPI_SUCCESS)
        rc = handshake_agree(shake, 1, &rank);
    if (rc != MPI_SUCCESS || rank == 0)
        return rc;
    rank = handshake_lowest(shake, rank);
    rc = aps_agree_bytes(shake->vcomm, rank, cause, sizeof cause);
    cause[sizeof cause - 1] = '\0';
    snprintf(shake->agreed->cause, sizeof shake->agreed->cause, "rank %d %s",
             rank, cause);
    return rc;
}

/* COLLECTIVE. Stores the end of the path of the policy of `rank`. Returns an
 * MPI error code. */
static int handshake_name(struct shake *shake, int rank, char name[PATH_SHOWN])
{
    const char *path = shake->job->source.path;
    const size_t length = path ? strlen(path) : 0;
    int rc;

    memset(name, 0, PATH_SHOWN);
    if (shake->vcomm->rank == rank && length < PATH_SHOWN)
        snprintf(name, PATH_SHOWN, "%s", path ? path : "");
    else if (shake->vcomm->rank == rank)
        snprintf(name, PATH_SHOWN, "...%s", path + length - PATH_SHOWN + 4);
    rc = aps_agree_bytes(shake->vcomm, rank, name, PATH_SHOWN);
    name[PATH_SHOWN - 1] = '\0';
    return rc;
}

/* COLLECTIVE. Stores as the cause that `other` holds another policy than
 * `holder`. Returns an MPI error code. */
static int handshake_tell_another(struct shake *shake, int holder, int other)
{
    char its[PATH_SHOWN], ours[PATH_SHOWN];
    int rc = handshake_name(shake, other, its);
    const int now = handshake_name(shake, holder, ours);

    rc = rc == MPI_SUCCESS ? now : rc;
    snprintf(shake->agreed->cause, sizeof shake->agreed->cause,
             "rank %d holds another policy (%s) than rank %d (%s)", other, its,
             holder, ours);
    return rc;
}

/* COLLECTIVE. Offers the policy of `holder` to the other ranks. If a rank holds
 * another policy, all calls pass through. Returns an MPI error code. */
static int handshake_offer(struct shake *shake, int holder)
{
    const bool ours = shake->vcomm->rank == holder;
    struct offer offer = {0};
    char *packed = NULL;
    int values[SECOND];
    bool another;
    int rc;

    if (ours) { /* on other ranks another thread may adopt a policy */
        if (aps_policy_text_pack(&shake->job->source, &packed, &offer.size) < 0)
            return MPI_ERR_NO_MEM;
        offer.hash = shake->job->hash;
    }
    rc = aps_agree_bytes(shake->vcomm, holder, &offer, sizeof offer);
    if (rc != MPI_SUCCESS)
        goto free_packed;
    another = shake->held == APS_HELD_GOOD && shake->job->hash != offer.hash;
    values[HOLDS_ANOTHER] = handshake_yes(shake, another);
    values[HOLDS_NONE] =
        handshake_yes(shake, !another && shake->held != APS_HELD_GOOD);
    rc = handshake_agree(shake, SECOND, values);
    if (rc == MPI_SUCCESS && offer.size > PACKED_MAX)
        rc = MPI_ERR_OTHER;
    if (rc != MPI_SUCCESS)
        goto free_packed;
    if (values[HOLDS_ANOTHER])
        rc = handshake_tell_another(
            shake, holder, handshake_lowest(shake, values[HOLDS_ANOTHER]));
    else if (values[HOLDS_NONE])
        rc = handshake_hand_out(shake, holder, offer.size, packed);

free_packed:
    free(packed);
    return rc;
}

/* Local. Rank 0 reports once that APSMPI_LOG is set on other ranks only, where
 * it has no effect, because only rank 0 writes the log. */
static void handshake_tell_log(const struct shake *shake)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    const int size = shake->vcomm->size;

    if (shake->vcomm->rank == 0 && shake->names_log > 0 &&
        shake->names_log < size && !atomic_flag_test_and_set(&told))
        aps_message(-1,
                    "APSMPI_LOG is set on rank %d, but not on rank 0, which "
                    "alone writes the log: set it on rank 0",
                    shake->names_log);
}

/* COLLECTIVE. Begins the job after all ranks hold the policy of `holder`, which
 * prints its warnings. Rank 0 sends the interval of its samples and its id of
 * the run. Returns an MPI error code. */
static int handshake_begin(struct shake *shake, int holder)
{
    struct beginning begin = {0};
    bool made = false;
    int rc;

    if (shake->vcomm->rank == holder)
        aps_job_warn(shake->job, holder);
    if (shake->vcomm->rank == 0) {
        aps_run_offer(begin.run, &made);
        if (aps_job_log(shake->job, 0))
            begin.every = aps_policy_log(shake->job->policy)->every;
    }
    aps_final_policy_begin(shake->job);
    handshake_tell_log(shake);
    rc = aps_agree_bytes(shake->vcomm, 0, &begin, sizeof begin);
    begin.run[sizeof begin.run - 1] = '\0';
    if (begin.every < 0)
        begin.every = 0;
    if (rc == MPI_SUCCESS)
        aps_run_adopt(begin.run);
    if (made)
        aps_run_write_begin(shake->job, shake->vcomm, begin.run);
    memcpy(shake->agreed->run, begin.run, sizeof begin.run);
    shake->agreed->sample_every = (long)begin.every;
    shake->agreed->outcome = APS_AGREED_POLICY;
    return rc;
}

/* COLLECTIVE. Decides the outcome. A bad policy on any rank counts, whatever
 * the other ranks hold. Returns an MPI error code. */
static int handshake_decide(struct shake *shake, const int values[FIRST],
                            bool whole_job)
{
    const int none = shake->vcomm->size;
    const int good = handshake_lowest(shake, values[HOLDS_GOOD]);
    const int bad = handshake_lowest(shake, values[HOLDS_BAD]);
    const int absent = handshake_lowest(shake, values[ABSENT]);
    int rc;

    if (bad < none) {
        handshake_refuse(shake, bad);
        return MPI_SUCCESS;
    }
    if (good < none) {
        rc = handshake_offer(shake, good);
        return rc == MPI_SUCCESS && shake->agreed->cause[0] == '\0'
                   ? handshake_begin(shake, good)
                   : rc;
    }
    if (absent == none) {
        shake->agreed->outcome = APS_AGREED_DISCOVER;
        return MPI_SUCCESS;
    }
    if (whole_job)
        handshake_refuse(shake, absent);
    else {
        shake->agreed->reason = APS_PASSED_BAD;
        snprintf(shake->agreed->cause, sizeof shake->agreed->cause,
                 "no rank of this communicator can read the policy file");
    }
    return MPI_SUCCESS;
}

/* Local. Stores as the cause that some ranks agree at their first reduction and
 * others in MPI_Init. */
static void handshake_tell_mixed(struct shake *shake, const int values[FIRST])
{
    snprintf(
        shake->agreed->cause, sizeof shake->agreed->cause,
        "rank %d agrees with the others at its first reduction, but rank "
        "%d in MPI_Init; set the same APSMPI_WORLD on all ranks, and preload "
        "the library before MPI_Init",
        handshake_lowest(shake, values[CAME_BY_CALL]),
        handshake_lowest(shake, values[CAME_IN_INIT]));
}

int aps_handshake(struct aps_job *job, const struct aps_vcomm *vcomm,
                  bool whole_job, struct aps_handshake *agreed)
{
    struct shake shake = {.job = job,
                          .vcomm = vcomm,
                          .agreed = agreed,
                          .held = job->held,
                          .whole_job = whole_job};
    int values[FIRST] = {0};
    int rc;

    *agreed = (struct aps_handshake){.outcome = APS_AGREED_PASS,
                                     .reason = APS_PASSED_DISAGREED};
    shake.absent = aps_job_is_absent(job);
    rc = handshake_compare(&shake, values);
    if (rc != MPI_SUCCESS)
        return rc;
    shake.names_log = handshake_lowest(&shake, values[NAMES_LOG]);
    agreed->threads = !values[LACKS_THREADS];
    agreed->mixed = values[CAME_IN_INIT] && values[CAME_BY_CALL];
    if (values[DIFFERS_BUILD])
        return handshake_differ(
            &shake, handshake_lowest(&shake, values[DIFFERS_BUILD]));
    if (agreed->mixed)
        handshake_tell_mixed(&shake, values);
    else if (values[DIFFERS_SWITCHES])
        return handshake_differ(
            &shake, handshake_lowest(&shake, values[DIFFERS_SWITCHES]));
    else if (job->options.enabled)
        return handshake_decide(&shake, values, whole_job);
    else
        agreed->reason = APS_PASSED_SWITCHED;
    return MPI_SUCCESS;
}

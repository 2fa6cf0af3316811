/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "world/pcontrol.h"

#include <mpi.h>
#include <pthread.h>

#include "base/clock.h"
#include "base/message.h"
#include "job/job.h"
#include "job/log_event.h"
#include "world/hidden_comm.h"
#include "native/error_text.h"
#include "message/agree.h"
#include "queue/queue.h"
#include "message/wait.h"

enum level {
    LEVEL_OFF = 0,
    LEVEL_ON = 1,
    LEVEL_FLUSH = 2,
    LEVEL_MARK = 3,
    LEVEL_DROP = 4
};

/* Values that the ranks agree on by MAX. */
enum {
    OBJECTION, /* size - rank if this rank called another level than rank 0,
                  or 0 */
    TRAINED,   /* the program has reduced a gradient */
    VALUES
};

atomic_long aps_pcontrol_word;
atomic_long aps_pcontrol_drops;
atomic_bool aps_pcontrol_trained;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* State of one call of the program. */
struct control {
    int level;
    int rank;
    int size;
    bool said; /* the line about the wait was printed */
    int first; /* rank 0's level */
    int values[VALUES];
};

static void pcontrol_tell_wait(struct control *control)
{
    control->said = true;
    aps_message(control->rank,
                "waits in MPI_Pcontrol(%d), which every rank of MPI_COMM_WORLD "
                "has to call; set `pcontrol: off` in the policy if only some "
                "ranks call it",
                control->level);
}

/* Waits for `request` and drives the queues, as a blocking call of the program
 * does. `silent`: another rank prints the line about a long wait. Returns an
 * MPI error code. */
static int pcontrol_wait_for(struct control *control, MPI_Request *request,
                             bool silent)
{
    const long end = aps_clock_ns(CLOCK_MONOTONIC) + aps_wait_patience_ns();
    long begin = 0;

    for (int done = 0;;) {
        const int rc = PMPI_Test(request, &done, MPI_STATUS_IGNORE);

        if (rc != MPI_SUCCESS || done)
            return rc;
        if (!silent && !control->said && aps_clock_ns(CLOCK_MONOTONIC) > end)
            pcontrol_tell_wait(control);
        aps_queue_drive_blocked();
        aps_wait_back_off(&begin);
    }
}

/*
 * COLLECTIVE over the job. Agrees on the values. Rank 0 broadcasts its level
 * first: a rank that has received the level knows that rank 0 is here, and
 * leaves the line about missing ranks to rank 0. Returns an MPI error code.
 */
static int pcontrol_agree(struct control *control, MPI_Comm comm)
{
    MPI_Request request;
    int rc;

    control->first = control->level;
    rc = PMPI_Ibcast(&control->first, 1, MPI_INT, 0, comm, &request);
    if (rc == MPI_SUCCESS)
        rc = pcontrol_wait_for(control, &request, false);
    if (rc != MPI_SUCCESS)
        return rc;
    if (control->first != control->level)
        control->values[OBJECTION] = control->size - control->rank;
    rc = aps_agree_comm_begin(comm, VALUES, control->values, MPI_INT, MPI_MAX,
                              &request);
    return rc == MPI_SUCCESS
               ? pcontrol_wait_for(control, &request, control->rank != 0)
               : rc;
}

static void pcontrol_write_event(struct aps_job *job, const char *text)
{
    struct aps_log *log = aps_job_log(job, 0);

    if (log)
        aps_job_log_event(log, 0, text);
}

/* Local. Carries out the level that all ranks called. */
static void pcontrol_change(const struct control *control, struct aps_job *job,
                            bool trained)
{
    const struct aps_pcontrol now = aps_pcontrol_now();
    bool off = now.off;
    long epoch = now.epoch;

    if (control->level == LEVEL_DROP) {
        atomic_fetch_add(&aps_pcontrol_drops, 1);
        if (control->rank == 0)
            pcontrol_write_event(job, "MPI_Pcontrol(4): what compressors keep "
                                      "of earlier calls is dropped");
        return;
    }
    if (control->level == LEVEL_MARK)
        epoch = epoch < 0 && trained ? 1 : epoch + 1;
    else
        off = control->level == LEVEL_OFF;
    if (off != now.off && control->rank == 0)
        pcontrol_write_event(job,
                             off ? "MPI_Pcontrol(0): every call passes through"
                                 : "MPI_Pcontrol(1): the policy applies again");
    atomic_store(&aps_pcontrol_word, 2 * (epoch + 1) + off);
}

static void pcontrol_tell_difference(const struct control *control)
{
    static unsigned long long times;

    times++;
    if (control->size - control->values[OBJECTION] == control->rank &&
        aps_message_is_due(times))
        aps_message(
            control->rank,
            "calls MPI_Pcontrol(%d), but rank 0 calls MPI_Pcontrol(%d): "
            "nothing changes",
            control->level, control->first);
}

/* COLLECTIVE over the job. */
static void pcontrol_control_all(int level, struct aps_job *job,
                                 const struct aps_hidden_comm *world)
{
    static struct control control; /* MPI may write to it after an error */
    char text[MPI_MAX_ERROR_STRING];
    int rc;

    control = (struct control){
        .level = level,
        .rank = world->vcomm.rank,
        .size = world->vcomm.size,
        .values[TRAINED] = atomic_load(&aps_pcontrol_trained),
    };
    rc = pcontrol_agree(&control, world->comm);
    if (rc != MPI_SUCCESS) {
        aps_message(control.rank,
                    "MPI failed in MPI_Pcontrol(%d), which changes nothing on "
                    "this rank: %s",
                    level, aps_error_text(rc, text));
        PMPI_Comm_call_errhandler(MPI_COMM_WORLD, rc);
    } else if (control.values[OBJECTION]) {
        pcontrol_tell_difference(&control);
    } else {
        pcontrol_change(&control, job, control.values[TRAINED]);
    }
}

/* Local. Rank 0 reports once that MPI_Pcontrol changes nothing, because the job
 * has no world although this process holds a policy. */
static void pcontrol_tell_nothing_changes(const struct aps_job *job, int level)
{
    static bool told;
    int rank;

    if (told || job->held != APS_HELD_GOOD ||
        !aps_policy_pcontrol(job->policy) ||
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS || rank != 0)
        return;
    told = true;
    aps_message(-1,
                "MPI_Pcontrol(%d) changes nothing, because the job has no "
                "hidden communicator of all its ranks, on which they could "
                "agree (APSMPI_WORLD=off, or an MPI_Init that the library did "
                "not see)",
                level);
}

/* True if the ranks agreed in MPI_Init on a policy that MPI_Pcontrol
 * controls. */
static bool pcontrol_is_collective(const struct aps_job *job,
                                   const struct aps_hidden_comm *world)
{
    return world && world->agreed.outcome == APS_AGREED_POLICY &&
           aps_policy_pcontrol(job->policy);
}

void aps_pcontrol(int level)
{
    const struct aps_hidden_comm *world = aps_hidden_comm_of_job();
    struct aps_job *job = aps_job();

    if (level == LEVEL_FLUSH)
        aps_job_flush();
    if (level != LEVEL_OFF && level != LEVEL_ON && level != LEVEL_MARK &&
        level != LEVEL_DROP)
        return;
    pthread_mutex_lock(&lock);
    if (pcontrol_is_collective(job, world))
        pcontrol_control_all(level, job, world);
    else if (!world)
        pcontrol_tell_nothing_changes(job, level);
    pthread_mutex_unlock(&lock);
}

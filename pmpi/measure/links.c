/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "measure/links.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "measure/batches.h"
#include "message/agree.h"
#include "message/messages.h"
#include "message/wait.h"
#include "group/shm_group.h"
#include "wire/buffer_depth.h"

/* Lengths of messages, in bytes: those of a pipeline, and short ones. */
#define LONG ((size_t)16 * 1024)
#define SHORT ((size_t)1024)
#define TINY ((size_t)4)

/* Number of rounds under way, as in a pipeline. In each round a rank sends a
 * contribution and a result to some peers. */
#define ROUNDS APS_PIPELINE_WIRE_LAG
#define KINDS 2
#define PEERS_MAX 4
#define MESSAGES_MAX (KINDS * PEERS_MAX)

#define BATCHES 5
/* A batch is much longer than a scheduler's tick, and sends much more than a
 * link passes at once after a pause. */
#define BATCH_SECONDS 0.2
#define TIMES_MIN 3
#define TIMES_MAX 100000

/* A pattern of messages, which is repeated. rc: an error of MPI. */
struct pattern {
    struct aps_rank_layout *site;
    bool between;
    int peers;
    size_t bytes;
    struct aps_spread *spread;
    bool naps; /* waits sleep, so that they use almost no core time */
    long work; /* loops of computation between two rounds */
    unsigned char *out;
    unsigned char *in;
    int rc;
};
typedef void run_fn(struct pattern *pattern, int times);

static int peer_of(const struct pattern *pattern, int distance)
{
    return pattern->between ? aps_rank_layout_host_on(pattern->site, distance)
                            : aps_rank_layout_place_on(pattern->site, distance);
}

/* --- time ------------------------------------------------------------------- */

static double now(void)
{
    return 1e-9 * (double)aps_clock_ns(CLOCK_MONOTONIC);
}

/* A pattern and the function that runs it. */
struct timed {
    struct pattern *pattern;
    run_fn *run;
};

static void run_timed(void *state, int times)
{
    const struct timed *timed = state;

    timed->run(timed->pattern, times);
}

static double seconds(struct pattern *pattern, run_fn *run, const char *what)
{
    struct timed timed = {pattern, run};

    return aps_batches_median(&(struct aps_batches){.site = pattern->site,
                                                    .what = what,
                                                    .spread = pattern->spread,
                                                    .seconds = BATCH_SECONDS,
                                                    .least = TIMES_MIN,
                                                    .most = TIMES_MAX,
                                                    .run = run_timed,
                                                    .state = &timed});
}

/* --- patterns --------------------------------------------------------------- */

/* Sends one message each way, one after the other. */
static void run_turns(struct pattern *pattern, int times)
{
    const struct aps_vcomm *vcomm = &pattern->site->vcomm;

    for (int i = 0; i < times; i++) {
        MPI_Request requests[2];

        pattern->rc |= aps_message_receive(vcomm, pattern->in, pattern->bytes,
                                           peer_of(pattern, -1), APS_TAG_RESULT,
                                           &requests[0]);
        pattern->rc |=
            aps_message_send(vcomm, pattern->out, pattern->bytes,
                             peer_of(pattern, 1), APS_TAG_RESULT, &requests[1]);
        pattern->rc |= aps_wait_requests(2, requests);
    }
}

#define NAP_NS 200000

static int await(const struct pattern *pattern, int count,
                 MPI_Request requests[])
{
    MPI_Status statuses[2 * MESSAGES_MAX];
    int done = 0, rc = MPI_SUCCESS;

    if (!pattern->naps)
        return aps_wait_requests(count, requests);
    while (rc == MPI_SUCCESS && !done) {
        rc = PMPI_Testall(count, requests, &done, statuses);
        if (rc == MPI_SUCCESS && !done)
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
    /* After an error some requests may be under way. */
    if (rc != MPI_SUCCESS)
        (void)aps_wait_requests(count, requests);
    return rc;
}

/* Stands for the computation of a rank. */
static void compute(long loops)
{
    volatile uint32_t state = 1;

    for (long i = 0; i < loops; i++)
        state = state * 1664525u + 1013904223u;
}

static void run_compute(struct pattern *pattern, int times)
{
    for (int i = 0; i < times; i++)
        compute(pattern->work);
}

/* Runs rounds of a pipeline, with computation if the pattern has work. */
static void run_stream(struct pattern *pattern, int times)
{
    const struct aps_vcomm *vcomm = &pattern->site->vcomm;
    const int peers = pattern->peers, count = KINDS * peers;
    MPI_Request requests[ROUNDS][2 * MESSAGES_MAX];

    for (int i = 0; i < times + ROUNDS; i++) {
        MPI_Request *const round = requests[i % ROUNDS];
        const size_t place = (size_t)(i % ROUNDS * count) * pattern->bytes;

        if (i >= ROUNDS && i - ROUNDS < times)
            pattern->rc |= await(pattern, 2 * count, round);
        if (i < times)
            compute(pattern->work);
        for (int k = 0; i < times && k < count; k++)
            pattern->rc |= aps_message_receive(
                vcomm, pattern->in + place + (size_t)k * pattern->bytes,
                pattern->bytes, peer_of(pattern, -1 - k % peers),
                APS_TAG_RESULT, &round[k]);
        for (int k = 0; i < times && k < count; k++)
            pattern->rc |= aps_message_send(
                vcomm, pattern->out + place + (size_t)k * pattern->bytes,
                pattern->bytes, peer_of(pattern, 1 + k % peers), APS_TAG_RESULT,
                &round[count + k]);
    }
}

/* --- one link --------------------------------------------------------------- */

#define CORE_ROUNDS 256

/* Returns the CPU time of the process for one round while waits sleep, with the
 * kernel's work for it. */
static double used_seconds(struct pattern *pattern, double crowd)
{
    double batches[BATCHES];

    pattern->naps = true;
    for (int i = 0; i < BATCHES; i++) {
        int64_t used;

        (void)aps_rank_layout_max(pattern->site, 0);
        used = aps_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        run_stream(pattern, CORE_ROUNDS);
        used = aps_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - used;
        batches[i] = aps_rank_layout_max(pattern->site,
                                         1e-9 * (double)used / CORE_ROUNDS);
    }
    pattern->naps = false;
    return crowd * aps_batches_middle(batches, BATCHES);
}

#define LOOPS 4096

/* A pipeline whose computation takes this multiple of its messages' time is
 * limited by the core and not by the link. */
#define BOUND_BY_CORE 1.5

/* Returns the additional seconds of a round with messages for ranks that
 * compute. */
static double added_seconds(struct pattern *pattern, double round)
{
    struct pattern work = *pattern;
    double loops, alone, together;

    work.work = LOOPS;
    loops = BOUND_BY_CORE * round / seconds(&work, run_compute, "");
    work.work = (long)(LOOPS * loops) + 1;
    alone = seconds(&work, run_compute, "");
    together = seconds(&work, run_stream, "");
    pattern->rc |= work.rc;
    return together > alone ? together - alone : round;
}

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

/* Returns the core time of one message, in seconds. It is the least of three
 * times, each of which has an additional part, so that the least is the
 * nearest. The time of a round includes waits for the link. The CPU time of the
 * process includes its sleeps. The time that messages add to computation
 * includes waits for messages that come late if other processes use the cores. */
static double core_seconds(struct pattern *pattern, size_t bytes, double crowd)
{
    /* unused, as only the least of three times counts */
    struct aps_spread unused = {0};
    struct pattern one = *pattern;
    double round, used, added;

    one.bytes = bytes;
    one.spread = &unused;
    round = seconds(&one, run_stream, "");
    used = used_seconds(&one, crowd);
    added = added_seconds(&one, round);
    pattern->rc |= one.rc;
    return lesser(round, lesser(used, added)) / (KINDS * pattern->peers);
}

/* --- what a link passes at once ------------------------------------------------ */

#define REST_NS 100000000L
#define BURST_ROUNDS 32

/* A bucket of tokens may limit a link, as is common with virtual machines:
 * after a pause the link passes a number of bytes at once, ahead of its rate.
 * Returns that number. */
static double burst_bytes(struct pattern *pattern, const struct aps_link *link)
{
    const double bytes = pattern->site->per_host * KINDS * pattern->peers *
                         (double)pattern->bytes * BURST_ROUNDS;
    double batches[BATCHES], ahead;

    for (int i = 0; i < BATCHES; i++) {
        double begin;

        nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
        (void)aps_rank_layout_max(pattern->site, 0);
        begin = now();
        run_stream(pattern, BURST_ROUNDS);
        batches[i] = aps_rank_layout_max(pattern->site, now() - begin);
    }
    ahead = bytes -
            (aps_batches_middle(batches, BATCHES) - link->latency) * link->rate;
    /* A few messages are within the error of these times. */
    return ahead > 2 * LONG ? ahead : 0;
}

int aps_links_measure(struct aps_rank_layout *site, bool between, double crowd,
                      struct aps_link *link, struct aps_spread *spread)
{
    const size_t room = ROUNDS * MESSAGES_MAX * LONG;
    const int others = (between ? site->hosts : site->per_host) - 1;
    struct pattern pattern = {
        .site = site,
        .between = between,
        .peers = others < PEERS_MAX ? others : PEERS_MAX,
        .out = malloc(room),
        .in = malloc(room),
        .spread = spread,
        .rc = MPI_SUCCESS,
    };
    const bool good =
        aps_rank_layout_agree(site, pattern.out && pattern.in) == 0;
    double few, many;

    if (good) {
        memset(pattern.out, 0, room);
        memset(pattern.in, 0, room);
        pattern.bytes = TINY;
        link->latency =
            seconds(&pattern, run_turns,
                    between ? "latency between hosts" : "latency inside hosts");
        pattern.bytes = LONG;
        link->rate =
            site->per_host * KINDS * pattern.peers * (double)LONG /
            seconds(&pattern, run_stream,
                    between ? "rate between hosts" : "rate inside hosts");
        link->burst = between ? burst_bytes(&pattern, link) : 0;
        few = core_seconds(&pattern, SHORT, crowd);
        many = core_seconds(&pattern, LONG, crowd);
        link->byte = many > few ? (many - few) / (double)(LONG - SHORT) : 0;
        link->message = few - link->byte * (double)SHORT;
        if (link->message < 0)
            link->message = 0;
    }
    if (pattern.rc == MPI_SUCCESS) { /* otherwise MPI may still use them */
        free(pattern.out);
        free(pattern.in);
    }
    return aps_rank_layout_agree(site, good && pattern.rc == MPI_SUCCESS);
}

/* --- marks ----------------------------------------------------------------- */

#define MARKS 200

int aps_links_mark(struct aps_rank_layout *site, double *mark, char *cause,
                   size_t size)
{
    struct aps_shm_group *group;
    double batches[BATCHES];
    uint32_t times = 0;
    const bool made =
        aps_shm_group_create(&site->local, 64, 64, &group, cause, size) == 0;

    /* perhaps the failure is on another host */
    if (aps_rank_layout_agree(site, made) < 0) {
        if (made)
            aps_shm_group_destroy(group);
        (void)aps_agree_cause(&site->vcomm, cause, size);
        return -1;
    }
    for (int i = 0; i < BATCHES; i++) {
        double begin;

        (void)aps_rank_layout_max(site, 0);
        begin = now();
        for (int k = 0; k < MARKS; k++) {
            aps_shm_group_signal(group, APS_SHM_GROUP_CONTRIBUTED);
            aps_shm_group_await(group, APS_SHM_GROUP_CONTRIBUTED,
                                site->per_host, ++times, false);
        }
        batches[i] = aps_rank_layout_max(site, (now() - begin) / MARKS);
    }
    *mark = aps_batches_middle(batches, BATCHES);
    aps_shm_group_destroy(group);
    return aps_rank_layout_agree(site, true);
}

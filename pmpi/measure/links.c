/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "measure/links.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "measure/batches.h"
#include "progress/messages.h"
#include "progress/wait.h"
#include "topo/shm_group.h"
#include "wire/turns.h"

/* The lengths of messages: those of a pipeline, and short ones. */
#define LONG ((size_t)16 * 1024)
#define SHORT ((size_t)1024)
#define TINY ((size_t)4)

/* Rounds under way, as in a pipeline: contributions and results. In each round a
 * rank sends to some peers. */
#define ROUNDS (2 * APS_PIPELINE_WIRE_LAG)
#define PEERS_MOST 4

#define BATCHES 5
#define BATCH_SECONDS 0.03
#define TIMES_LEAST 3
#define TIMES_MOST 2000

/* A pattern of messages, `times` times; a wrong outcome is MPI's. */
struct pattern {
    const struct aps_site *site;
    bool between;
    int peers;
    size_t bytes;
    struct aps_spread *spread;
    bool naps; /* waits sleep, so that they take next to nothing of a core */
    unsigned char *out;
    unsigned char *in;
    int rc;
};
typedef void run_fn(struct pattern *pattern, int times);

static int peer_of(const struct pattern *pattern, int distance)
{
    return pattern->between ? aps_site_host_on(pattern->site, distance)
                            : aps_site_place_on(pattern->site, distance);
}

/* --- time ------------------------------------------------------------------- */

static double now(void)
{
    return 1e-9 * (double)aps_clock_ns(CLOCK_MONOTONIC);
}

/* A pattern, and what runs it. */
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
                                                    .least = TIMES_LEAST,
                                                    .most = TIMES_MOST,
                                                    .run = run_timed,
                                                    .state = &timed});
}

/* --- patterns --------------------------------------------------------------- */

/* One message each way, one after the other. */
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
    MPI_Status statuses[2 * PEERS_MOST];
    int done = 0, rc = MPI_SUCCESS;

    if (!pattern->naps)
        return aps_wait_requests(count, requests);
    while (rc == MPI_SUCCESS && !done) {
        rc = PMPI_Testall(count, requests, &done, statuses);
        if (!done)
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
    return rc;
}

/* Rounds of a pipeline. */
static void run_stream(struct pattern *pattern, int times)
{
    const struct aps_vcomm *vcomm = &pattern->site->vcomm;
    const int peers = pattern->peers;
    MPI_Request requests[ROUNDS][2 * PEERS_MOST];

    for (int i = 0; i < times + ROUNDS; i++) {
        MPI_Request *const round = requests[i % ROUNDS];
        const size_t place = (size_t)(i % ROUNDS * peers) * pattern->bytes;

        if (i >= ROUNDS && i - ROUNDS < times)
            pattern->rc |= await(pattern, 2 * peers, round);
        for (int k = 0; i < times && k < peers; k++)
            pattern->rc |= aps_message_receive(
                vcomm, pattern->in + place + (size_t)k * pattern->bytes,
                pattern->bytes, peer_of(pattern, -1 - k), APS_TAG_RESULT,
                &round[k]);
        for (int k = 0; i < times && k < peers; k++)
            pattern->rc |= aps_message_send(
                vcomm, pattern->out + place + (size_t)k * pattern->bytes,
                pattern->bytes, peer_of(pattern, 1 + k), APS_TAG_RESULT,
                &round[peers + k]);
    }
}

/* --- one link --------------------------------------------------------------- */

#define CORE_ROUNDS 48

/* What a message takes of a core: the time that the process has used, the kernel's
 * work for it included, and not more than a message takes in a stream. */
static double core_seconds(struct pattern *pattern, size_t bytes, double crowd)
{
    double batches[BATCHES], stream, used_by_message;

    pattern->bytes = bytes;
    stream = seconds(pattern, run_stream, "time of messages") / pattern->peers;
    pattern->naps = true;
    for (int i = 0; i < BATCHES; i++) {
        int64_t used;

        (void)aps_site_max(pattern->site, 0);
        used = aps_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        run_stream(pattern, CORE_ROUNDS);
        used = aps_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - used;
        batches[i] =
            aps_site_max(pattern->site,
                         1e-9 * (double)used / (CORE_ROUNDS * pattern->peers));
    }
    pattern->naps = false;
    used_by_message = crowd * aps_batches_middle(batches, BATCHES);
    return used_by_message < stream ? used_by_message : stream;
}

int aps_links_measure(const struct aps_site *site, bool between, double crowd,
                      struct aps_link *link, struct aps_spread *spread)
{
    const size_t room = ROUNDS * PEERS_MOST * LONG;
    const int others = (between ? site->hosts : site->per_host) - 1;
    struct pattern pattern = {
        .site = site,
        .between = between,
        .peers = others < PEERS_MOST ? others : PEERS_MOST,
        .out = malloc(room),
        .in = malloc(room),
        .spread = spread,
        .rc = MPI_SUCCESS,
    };
    const bool good =
        aps_site_max(site, pattern.out && pattern.in ? 0 : 1) == 0;
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
            site->per_host * pattern.peers * (double)LONG /
            seconds(&pattern, run_stream,
                    between ? "rate between hosts" : "rate inside hosts");
        few = core_seconds(&pattern, SHORT, crowd);
        many = core_seconds(&pattern, LONG, crowd);
        link->byte = many > few ? (many - few) / (double)(LONG - SHORT) : 0;
        link->message = few - link->byte * (double)SHORT;
        if (link->message < 0)
            link->message = 0;
    }
    free(pattern.out);
    free(pattern.in);
    return good && pattern.rc == MPI_SUCCESS ? 0 : -1;
}

/* --- marks ----------------------------------------------------------------- */

#define MARKS 200

int aps_links_mark(const struct aps_site *site, double *mark, char *cause,
                   size_t size)
{
    struct aps_shm_group *group;
    double batches[BATCHES];
    uint32_t times = 0;

    if (aps_shm_group_create(&site->local, 64, 64, &group, cause, size) < 0)
        return -1;
    for (int i = 0; i < BATCHES; i++) {
        double begin;

        (void)aps_site_max(site, 0);
        begin = now();
        for (int k = 0; k < MARKS; k++) {
            aps_shm_group_mark(group, APS_SHM_GROUP_CONTRIBUTED);
            aps_shm_group_await(group, APS_SHM_GROUP_CONTRIBUTED,
                                site->per_host, ++times, false);
        }
        batches[i] = aps_site_max(site, (now() - begin) / MARKS);
    }
    *mark = aps_batches_middle(batches, BATCHES);
    aps_shm_group_destroy(group);
    return 0;
}

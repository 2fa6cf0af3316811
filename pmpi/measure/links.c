/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "measure/links.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "progress/messages.h"
#include "progress/wait.h"
#include "topo/shm_group.h"
#include "wire/turns.h"

/* The lengths of messages: those of a pipeline, and short ones. */
#define LONG ((size_t)16 * 1024)
#define SHORT ((size_t)1024)
#define TINY ((size_t)4)
#define BULK_MOST ((size_t)1024 * 1024)

#define BATCHES 5
#define BATCH_SECONDS 0.05
#define TIMES_LEAST 3
#define TIMES_MOST 2000

/* A pattern of messages, `times` times; a wrong outcome is MPI's. */
struct pattern {
    const struct aps_site *site;
    int to;
    int from;
    size_t bytes;
    double work; /* seconds of computing for each message */
    unsigned char *out;
    unsigned char *in;
    int rc;
};
typedef void run_fn(struct pattern *pattern, int times);

/* --- time ------------------------------------------------------------------ */

static double now(void)
{
    return 1e-9 * (double)aps_clock_ns(CLOCK_MONOTONIC);
}

static double batch(struct pattern *pattern, run_fn *run, int times)
{
    double begin;

    (void)aps_site_max(pattern->site, 0); /* all begin together */
    begin = now();
    run(pattern, times);
    return aps_site_max(pattern->site, (now() - begin) / times);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Seconds of one time, the slowest rank's, the median of some batches. */
static double seconds(struct pattern *pattern, run_fn *run)
{
    double batches[BATCHES];
    int times;

    (void)batch(pattern, run, TIMES_LEAST); /* connects, for one */
    batches[0] = batch(pattern, run, TIMES_LEAST);
    times = batches[0] > 0 ? (int)(BATCH_SECONDS / batches[0]) : TIMES_MOST;
    if (times < TIMES_LEAST)
        times = TIMES_LEAST;
    if (times > TIMES_MOST)
        times = TIMES_MOST;
    for (int i = 0; i < BATCHES; i++)
        batches[i] = batch(pattern, run, times);
    qsort(batches, BATCHES, sizeof *batches, compare);
    return batches[BATCHES / 2];
}

/* --- patterns -------------------------------------------------------------- */

/* One message each way, one after the other. */
static void run_turns(struct pattern *pattern, int times)
{
    const struct aps_vcomm *vcomm = &pattern->site->vcomm;

    for (int i = 0; i < times; i++) {
        MPI_Request requests[2];

        pattern->rc |=
            aps_message_receive(vcomm, pattern->in, pattern->bytes,
                                pattern->from, APS_TAG_RESULT, &requests[0]);
        pattern->rc |=
            aps_message_send(vcomm, pattern->out, pattern->bytes, pattern->to,
                             APS_TAG_RESULT, &requests[1]);
        pattern->rc |= aps_wait_requests(2, requests);
    }
}

static void compute(double length)
{
    const double end = now() + length;

    while (now() < end)
        ;
}

/* So many under way as in a pipeline, and computing for each: by the clock, since
 * a rank that shares its core computes while others do. */
static void run_stream(struct pattern *pattern, int times)
{
    const struct aps_vcomm *vcomm = &pattern->site->vcomm;
    MPI_Request requests[APS_PIPELINE_WIRE_LAG][2];

    for (int i = 0; i < times + APS_PIPELINE_WIRE_LAG; i++) {
        const int turn = i % APS_PIPELINE_WIRE_LAG;
        const size_t place = (size_t)turn * pattern->bytes;

        if (i >= APS_PIPELINE_WIRE_LAG)
            pattern->rc |= aps_wait_requests(2, requests[turn]);
        if (i >= times)
            continue;
        pattern->rc |= aps_message_receive(vcomm, pattern->in + place,
                                           pattern->bytes, pattern->from,
                                           APS_TAG_RESULT, &requests[turn][0]);
        if (pattern->work > 0)
            compute(pattern->work);
        pattern->rc |=
            aps_message_send(vcomm, pattern->out + place, pattern->bytes,
                             pattern->to, APS_TAG_RESULT, &requests[turn][1]);
    }
}

/* As native collectives do. */
static void run_native(struct pattern *pattern, int times)
{
    const struct aps_vcomm *vcomm = &pattern->site->vcomm;

    for (int i = 0; i < times; i++)
        pattern->rc |= PMPI_Sendrecv(
            pattern->out, (int)pattern->bytes, MPI_BYTE,
            aps_vcomm_rank(vcomm, pattern->to), 0, pattern->in,
            (int)pattern->bytes, MPI_BYTE, aps_vcomm_rank(vcomm, pattern->from),
            0, vcomm->comm, MPI_STATUS_IGNORE);
}

/* --- one link -------------------------------------------------------------- */

/* What a message takes of a core: what it adds to computing that takes longer than
 * its transfer. */
static double core_seconds(struct pattern *pattern, size_t bytes)
{
    double transfer;

    pattern->bytes = bytes;
    pattern->work = 0;
    transfer = seconds(pattern, run_stream);
    pattern->work = 1.5 * transfer + 2e-6;
    transfer = seconds(pattern, run_stream) - pattern->work;
    pattern->work = 0;
    return transfer > 0 ? transfer : 0;
}

/* Lines through the medians: the least sum of squares of relative errors, so that
 * short messages count as much as long ones. */
static void fit_native(struct pattern *pattern, struct aps_link *link)
{
    double w = 0, x = 0, y = 0, xx = 0, xy = 0, slope;

    for (size_t bytes = TINY; bytes <= BULK_MOST;
         bytes = bytes == TINY ? LONG : 8 * bytes) {
        double time, weight;

        pattern->bytes = bytes;
        time = seconds(pattern, run_native);
        if (bytes == TINY)
            link->wait = time;
        weight = 1 / (time * time);
        w += weight;
        x += weight * (double)bytes;
        y += weight * time;
        xx += weight * (double)bytes * (double)bytes;
        xy += weight * (double)bytes * time;
    }
    slope = (w * xy - x * y) / (w * xx - x * x);
    link->bulk = pattern->site->per_host / slope;
}

int aps_links_measure(const struct aps_site *site, bool between,
                      struct aps_link *link)
{
    struct pattern pattern = {
        .site = site,
        .to = between ? aps_site_host_on(site, 1) : aps_site_place_on(site, 1),
        .from =
            between ? aps_site_host_on(site, -1) : aps_site_place_on(site, -1),
        .out = malloc(BULK_MOST),
        .in = malloc(BULK_MOST),
        .rc = MPI_SUCCESS,
    };
    const bool good =
        aps_site_max(site, pattern.out && pattern.in ? 0 : 1) == 0;
    double few, many;

    if (good) {
        memset(pattern.out, 0, BULK_MOST);
        memset(pattern.in, 0, BULK_MOST);
        pattern.bytes = TINY;
        link->latency = seconds(&pattern, run_turns);
        pattern.bytes = LONG;
        link->rate =
            site->per_host * (double)LONG / seconds(&pattern, run_stream);
        few = core_seconds(&pattern, SHORT);
        many = core_seconds(&pattern, LONG);
        link->byte = many > few ? (many - few) / (double)(LONG - SHORT) : 0;
        link->message = few - link->byte * (double)SHORT;
        if (link->message < 0)
            link->message = 0;
        fit_native(&pattern, link);
    }
    free(pattern.out);
    free(pattern.in);
    return good && pattern.rc == MPI_SUCCESS ? 0 : -1;
}

/* --- marks ----------------------------------------------------------------- */

#define MARKS 2000

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
    qsort(batches, BATCHES, sizeof *batches, compare);
    *mark = batches[BATCHES / 2];
    aps_shm_group_destroy(group);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "measure/natives.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "measure/batches.h"
#include "predict/native.h"

static const size_t counts[] = {1, 16 * 1024, 128 * 1024, 1024 * 1024};
#define COUNTS (sizeof counts / sizeof *counts)
#define COUNT_MAX (counts[COUNTS - 1])

#define BATCH_SECONDS 0.2
#define TIMES_MIN 2
#define TIMES_MAX 10000
#define LEAST 1e-9 /* in seconds */

/* Measured time of one length, and the model's line a * wait + b / bulk + rest. */
struct point {
    double seconds;
    double a;
    double b;
    double rest;
};

/* All-reduces of one length. *rc: an error of MPI. */
struct reduced {
    MPI_Comm comm;
    float *const *x; /* [2] */
    size_t count;
    int *rc;
};

static void run_reduced(void *state, int times)
{
    const struct reduced *reduced = state;

    for (int i = 0; i < times; i++)
        *reduced->rc |=
            PMPI_Allreduce(reduced->x[0], reduced->x[1], (int)reduced->count,
                           MPI_FLOAT, MPI_SUM, reduced->comm);
}

static double median(struct aps_rank_layout *site, MPI_Comm comm,
                     float *const x[2], size_t count, struct aps_spread *spread,
                     int *rc)
{
    struct reduced reduced = {comm, x, count, rc};

    return aps_batches_median(
        &(struct aps_batches){.site = site,
                              .what = "native all-reduces",
                              .spread = spread,
                              .seconds = BATCH_SECONDS,
                              .least = TIMES_MIN,
                              .most = TIMES_MAX,
                              .run = run_reduced,
                              .state = &reduced});
}

/* Sets the model's line, which is linear in `wait` and in 1 / bulk. `sharing`
 * ranks share a link. */
static void set_line(const struct aps_machine *machine, int ranks, int sharing,
                     size_t count, struct point *point)
{
    struct aps_machine one = {.hosts = ranks, .ranks_per_host = 1};
    const enum aps_native_kind kind = aps_predict_native_kind(&one, count);

    one.between = (struct aps_link){.wait = 1, .bulk = 1e300};
    point->a = aps_predict_native(&one, kind, count);
    one.between = (struct aps_link){.bulk = 1};
    point->b = sharing * aps_predict_native(&one, kind, count);
    one.between = (struct aps_link){.bulk = 1e300};
    one.copy = machine->copy;
    one.add = machine->add;
    point->rest = aps_predict_native(&one, kind, count);
}

/* Fits by the least sum of squares of relative errors, so that short calls
 * count as much as long ones. */
static void fit(const struct point points[COUNTS], struct aps_link *link)
{
    double aa = 0, ab = 0, bb = 0, at = 0, bt = 0, wait, slow;

    for (size_t i = 0; i < COUNTS; i++) {
        const double weight = 1 / points[i].seconds;
        const double a = points[i].a * weight, b = points[i].b * weight;
        const double t = 1 - points[i].rest * weight;

        aa += a * a;
        ab += a * b;
        bb += b * b;
        at += a * t;
        bt += b * t;
    }
    wait = (at * bb - bt * ab) / (aa * bb - ab * ab);
    slow = (bt * aa - at * ab) / (aa * bb - ab * ab);
    if (!(wait > LEAST)) {
        wait = LEAST;
        slow = bt / bb;
    }
    if (!(slow > 0)) {
        slow = 1e-15;
        wait = at / aa;
    }
    link->wait = wait > LEAST ? wait : LEAST;
    link->bulk = 1 / slow;
}

int aps_natives_measure(struct aps_rank_layout *site, bool between,
                        const struct aps_machine *machine,
                        struct aps_link *link, struct aps_spread *spread)
{
    const int place = site->local_of[site->vcomm.rank];
    float *x[2] = {calloc(COUNT_MAX, sizeof **x),
                   calloc(COUNT_MAX, sizeof **x)};
    struct point points[COUNTS];
    MPI_Comm comm = MPI_COMM_NULL;
    int rc = MPI_ERR_OTHER;

    if (aps_rank_layout_agree(site, x[0] && x[1]) == 0)
        rc = PMPI_Comm_split(site->vcomm.comm, between ? place : site->host,
                             site->vcomm.rank, &comm);
    if (aps_rank_layout_agree(site, rc == MPI_SUCCESS) == 0) {
        for (size_t i = 0; i < COUNTS; i++) {
            set_line(machine, between ? site->hosts : site->per_host,
                     site->per_host, counts[i], &points[i]);
            points[i].seconds = median(site, comm, x, counts[i], spread, &rc);
        }
        fit(points, link);
    }
    if (comm != MPI_COMM_NULL)
        PMPI_Comm_free(&comm);
    free(x[0]);
    free(x[1]);
    return aps_rank_layout_agree(site, rc == MPI_SUCCESS);
}

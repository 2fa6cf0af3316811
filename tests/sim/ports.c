/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "ports.h"

#include <math.h>
#include <simgrid/cond.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/mutex.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "message/wait.h"

#define LATENCY 2e-6 /* latency of two links, as in simulate.sh */
#define INSIDE_LATENCY 0.2e-6
#define INSIDE 10e9 /* bytes a second inside a host */

/* Times at which a port is busy: spans that do not touch, in order. */
struct port {
    struct span {
        double begin, end;
    } * taken;
    size_t count, room;
};
#define TOUCH 1e-12 /* seconds */

struct message {
    struct message *next;
    double arrival;
    size_t size, kept;
    unsigned char bytes[]; /* [kept] */
};
/* If nothing is computed, only these bytes of a message are kept: they hold at
 * most a status. Otherwise 256 ranks' messages would not fit this machine. */
#define KEPT ((size_t)4096)

/* Messages from one rank to another, with one tag, in order. */
struct line {
    int tag;
    struct line *next;
    struct message *first, **end;
};

/* Rank that waits for a message. */
struct sleeper {
    sg_mutex_t mutex;
    sg_cond_t woken;
    bool asleep;
};

/* State of all ranks. */
struct ports {
    int ranks;
    double rate; /* bytes a second */
    /* [ranks] each; out and in are those of the host's first rank */
    sg_host_t *host;
    int *first;
    struct port *out, *in, *inside;
    struct sleeper *sleepers;
    /* [from][to]; each row is a separate array, because SimGrid may give large
     * allocations the same memory */
    struct line ***lines;
};
static struct ports *ports;

/* A receive; a send has none. */
struct receive {
    struct line *line;
    int from;
    void *bytes;
    size_t room;
};
static struct receive sent;

static void *zeros(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (!memory)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

static int ports_rank(void)
{
    int rank;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

void ports_begin(double gbit)
{
    const int rank = ports_rank();
    int size;

    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        const size_t n = (size_t)size;

        ports = zeros(1, sizeof *ports);
        ports->ranks = size;
        ports->rate = gbit * 1e9 / 8;
        ports->host = zeros(n, sizeof(sg_host_t));
        ports->out = zeros(n, sizeof *ports->out);
        ports->in = zeros(n, sizeof *ports->in);
        ports->inside = zeros(n, sizeof *ports->inside);
        ports->first = zeros(n, sizeof(int));
        ports->sleepers = zeros(n, sizeof *ports->sleepers);
        ports->lines = zeros(n, sizeof(struct line **));
    }
    PMPI_Bcast(&ports, sizeof ports, MPI_BYTE, 0, MPI_COMM_WORLD);
    ports->lines[rank] = zeros((size_t)size, sizeof(struct line *));
    ports->host[rank] = sg_host_self();
    ports->sleepers[rank].mutex = sg_mutex_init();
    ports->sleepers[rank].woken = sg_cond_init();
    PMPI_Barrier(MPI_COMM_WORLD);
    while (ports->host[ports->first[rank]] != ports->host[rank])
        ports->first[rank]++;
    PMPI_Barrier(MPI_COMM_WORLD);
}

bool ports_used(void)
{
    return ports != NULL;
}

static struct line *line_of(int from, int to, int tag)
{
    struct line **at = &ports->lines[from][to];

    while (*at && (*at)->tag != tag)
        at = &(*at)->next;
    if (!*at) {
        *at = zeros(1, sizeof **at);
        (*at)->tag = tag;
        (*at)->end = &(*at)->first;
    }
    return *at;
}

/* Forgets the spans before `now`; makes space for one more. */
static void port_tidy(struct port *port, double now)
{
    size_t old = 0;

    while (old < port->count && port->taken[old].end < now)
        old++;
    port->count -= old;
    if (old > 0)
        memmove(port->taken, port->taken + old,
                port->count * sizeof *port->taken);
    if (port->count < port->room)
        return;
    port->room = port->room > 0 ? 2 * port->room : 8;
    port->taken = realloc(port->taken, port->room * sizeof *port->taken);
    if (!port->taken)
        PMPI_Abort(MPI_COMM_WORLD, 1);
}

/* Passes a message, from `ready` for `seconds`. Returns its end. */
static double port_pass(struct port *port, double ready, double seconds)
{
    struct span span = {ready, 0};
    size_t i = 0;

    port_tidy(port, simgrid_get_clock());
    for (; i < port->count; i++) {
        if (span.begin + seconds <= port->taken[i].begin + TOUCH)
            break;
        span.begin = fmax(span.begin, port->taken[i].end);
    }
    span.end = span.begin + seconds;
    if (i < port->count && port->taken[i].begin <= span.end + TOUCH) {
        port->taken[i].begin = span.begin;
    } else {
        memmove(port->taken + i + 1, port->taken + i,
                (port->count++ - i) * sizeof *port->taken);
        port->taken[i] = span;
    }
    if (i > 0 && port->taken[i - 1].end >= span.begin - TOUCH) {
        port->taken[i - 1].end = port->taken[i].end;
        memmove(port->taken + i, port->taken + i + 1,
                (--port->count - i) * sizeof *port->taken);
    }
    return span.end;
}

/* Returns the time at which a message that leaves at `now` has arrived. */
static double ports_pass(int from, int to, size_t size, double now)
{
    const int here = ports->first[from], there = ports->first[to];
    const double seconds = (double)size / ports->rate;
    double left;

    if (here == there)
        return port_pass(&ports->inside[from], now, (double)size / INSIDE) +
               INSIDE_LATENCY;
    left = port_pass(&ports->out[here], now, seconds) - seconds;
    return port_pass(&ports->in[there], left + LATENCY, seconds);
}

void ports_send(const void *bytes, size_t size, int to, int tag, double now,
                MPI_Request *request)
{
    const int rank = ports_rank();
    struct line *line = line_of(rank, to, tag);
    const size_t kept =
        model_computes ? size : (size_t)fmin((double)size, KEPT);
    struct message *message = zeros(1, sizeof *message + kept);
    struct sleeper *sleeper = &ports->sleepers[to];

    message->arrival = ports_pass(rank, to, size, now);
    message->size = size;
    message->kept = kept;
    memcpy(message->bytes, bytes, kept);
    *line->end = message;
    line->end = &message->next;
    *request = (MPI_Request)&sent;
    if (sleeper->asleep)
        sg_cond_notify_all(sleeper->woken);
}

void ports_receive(void *bytes, size_t room, int from, int tag,
                   MPI_Request *request)
{
    struct receive *receive = zeros(1, sizeof *receive);

    *receive =
        (struct receive){line_of(from, ports_rank(), tag), from, bytes, room};
    *request = (MPI_Request)receive;
}

static struct message *line_next(struct line *line)
{
    struct sleeper *sleeper = &ports->sleepers[ports_rank()];
    struct message *message;

    if (!line->first) {
        sg_mutex_lock(sleeper->mutex);
        sleeper->asleep = true;
        while (!line->first)
            sg_cond_wait(sleeper->woken, sleeper->mutex);
        sleeper->asleep = false;
        sg_mutex_unlock(sleeper->mutex);
    }
    message = line->first;
    line->first = message->next;
    if (!line->first)
        line->end = &line->first;
    return message;
}

double ports_wait(MPI_Request *request, MPI_Status *status)
{
    struct receive *receive = (struct receive *)*request;
    struct message *message;
    double arrival;

    *request = MPI_REQUEST_NULL;
    if (!receive || receive == &sent)
        return 0;
    message = line_next(receive->line);
    if (message->size > receive->room)
        PMPI_Abort(MPI_COMM_WORLD, MPI_ERR_TRUNCATE);
    memcpy(receive->bytes, message->bytes, message->kept);
    *status = (MPI_Status){.MPI_SOURCE = receive->from,
                           .MPI_TAG = receive->line->tag,
                           .count = (int)message->size};
    arrival = message->arrival;
    free(message);
    free(receive);
    return arrival;
}

void ports_ring(const float *in, float *out, size_t n)
{
    const int size = ports->ranks, rank = ports_rank();
    const int part = (int)(n / (size_t)size);

    for (int i = 0; i < 2 * (size - 1); i++) {
        MPI_Request requests[2];

        PMPI_Irecv(out, part, MPI_FLOAT, (rank + size - 1) % size, 0,
                   MPI_COMM_WORLD, &requests[0]);
        PMPI_Isend(in, part, MPI_FLOAT, (rank + 1) % size, 0, MPI_COMM_WORLD,
                   &requests[1]);
        aps_wait_requests(2, requests);
    }
    model_settle();
}

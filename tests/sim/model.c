/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "model.h"

#include <mpi.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/size_min.h"
#include "codec/codec.h"
#include "codec/workers.h"
#include "ports.h"

/* The linker's names of the wrapped functions. */
void __wrap_aps_codec_init(const struct aps_format *format,
                           struct aps_codec *codec);
void __real_aps_codec_init(const struct aps_format *format,
                           struct aps_codec *codec);
void __wrap_aps_workers_pass(size_t n, int arrays, size_t unit,
                             aps_pass_fn pass, void *state);
void __wrap_aps_workers_list(size_t count, size_t n, aps_pass_fn items,
                             void *state);
struct aps_magnitude __wrap_aps_magnitude_of(const float *x, size_t n);
struct aps_magnitude __real_aps_magnitude_of(const float *x, size_t n);
int __wrap_PMPI_Isend(const void *bytes, int count, MPI_Datatype type, int to,
                      int tag, MPI_Comm comm, MPI_Request *request);
int __real_PMPI_Isend(const void *bytes, int count, MPI_Datatype type, int to,
                      int tag, MPI_Comm comm, MPI_Request *request);
int __wrap_PMPI_Irecv(void *bytes, int count, MPI_Datatype type, int from,
                      int tag, MPI_Comm comm, MPI_Request *request);
int __real_PMPI_Irecv(void *bytes, int count, MPI_Datatype type, int from,
                      int tag, MPI_Comm comm, MPI_Request *request);
int __wrap_PMPI_Iallreduce(const void *send, void *receive, int count,
                           MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                           MPI_Request *request);
int __wrap_PMPI_Ibcast(void *buffer, int count, MPI_Datatype type, int root,
                       MPI_Comm comm, MPI_Request *request);
int __wrap_PMPI_Test(MPI_Request *request, int *done, MPI_Status *status);
int __real_PMPI_Test(MPI_Request *request, int *done, MPI_Status *status);
int __wrap_smpi_clock_gettime(clockid_t clock, struct timespec *now);
pid_t __wrap_smpi_getpid(void);

static double local; /* this rank's clock, if it is ahead of the simulator's */

double model_clock(void)
{
    const double now = simgrid_get_clock();

    return local > now ? local : now;
}

void model_settle(void)
{
    const double ahead = local - simgrid_get_clock();

    if (ahead <= 0)
        return;
    if (ports_used())
        sg_actor_sleep_until(local);
    else
        smpi_execute_flops(ahead * sg_host_get_speed(sg_host_self()));
}

static void settle_if_far(void)
{
    if (local - simgrid_get_clock() >= MODEL_AHEAD)
        model_settle();
}

void model_wait_until(double time)
{
    if (time > model_clock())
        local = time;
    settle_if_far();
}

bool model_computes = true;

static void take(double seconds)
{
    local = model_clock() + seconds;
}

static bool shared;     /* threads share the pass under way */
static double together; /* core time of that pass on all threads */

void model_spend(size_t n, double rate)
{
    const double seconds = (double)(n * sizeof(float)) / rate;

    if (shared) {
        together += seconds;
    } else {
        take(seconds);
        settle_if_far();
    }
}

/* The threads of a pass take equal times, in at most `parts` parts. */
static void pass_together(size_t n, size_t parts, size_t unit, aps_pass_fn pass,
                          void *state)
{
    const size_t threads = aps_size_min(parts, (size_t)aps_workers_threads());

    if (shared || threads <= 1 || n <= unit) {
        pass(state, 0, n);
        return;
    }
    shared = true;
    together = 0;
    pass(state, 0, n);
    shared = false;
    take(together / (double)threads + MODEL_PASS);
    settle_if_far();
}

void __wrap_aps_workers_pass(size_t n, int arrays, size_t unit,
                             aps_pass_fn pass, void *state)
{
    pass_together(n, n * (size_t)arrays / APS_WORKERS_PART_MIN, unit, pass,
                  state);
}

void __wrap_aps_workers_list(size_t count, size_t n, aps_pass_fn items,
                             void *state)
{
    pass_together(count, aps_size_min(count, n / APS_WORKERS_PART_MIN), 1,
                  items, state);
}

/* Returns the codec without the model, of the format that was requested last. */
static const struct aps_codec *real_codec(const struct aps_format *format)
{
    static struct aps_codec codec;

    if (!codec.cpu || memcmp(&codec.format, format, sizeof *format) != 0)
        __real_aps_codec_init(format, &codec);
    return &codec;
}

static unsigned encode(const struct aps_codec *codec, const float *x, size_t n,
                       struct aps_scaling scaling,
                       const struct aps_cast_options *options, void *wire)
{
    const struct aps_codec *real = real_codec(&codec->format);

    model_spend(n, MODEL_ENCODE);
    return model_computes ? real->encode(real, x, n, scaling, options, wire)
                          : 0;
}

static void decode(const struct aps_codec *codec, const void *wire, size_t n,
                   struct aps_scaling scaling, unsigned flags, float *x)
{
    const struct aps_codec *real = real_codec(&codec->format);

    model_spend(n, MODEL_DECODE);
    if (model_computes)
        real->decode(real, wire, n, scaling, flags, x);
}

static void decode_add(const struct aps_codec *codec, const void *wire,
                       size_t n, struct aps_scaling scaling, unsigned flags,
                       float *sum)
{
    const struct aps_codec *real = real_codec(&codec->format);

    model_spend(n, MODEL_DECODE_ADD);
    if (model_computes)
        real->decode_add(real, wire, n, scaling, flags, sum);
}

static void round_sums(const struct aps_codec *codec, size_t n,
                       struct aps_scaling scaling, float *sum)
{
    const struct aps_codec *real = real_codec(&codec->format);

    model_spend(n, MODEL_ROUND);
    if (model_computes)
        real->round(real, n, scaling, sum);
}

void __wrap_aps_codec_init(const struct aps_format *format,
                           struct aps_codec *codec)
{
    *codec = *real_codec(format);
    codec->encode = encode;
    codec->decode = decode;
    codec->decode_add = decode_add;
    codec->round = round_sums;
    /* The model counts one pass of a codec as the several passes that it
     * replaces: times do not depend on the machine that simulates. */
    codec->sum = NULL;
    codec->sum_encode = NULL;
    codec->stream = NULL;
}

struct aps_magnitude __wrap_aps_magnitude_of(const float *x, size_t n)
{
    model_spend(n, MODEL_MAX);
    return __real_aps_magnitude_of(x, model_computes ? n : 0);
}

static size_t type_size(MPI_Datatype type)
{
    int size;

    PMPI_Type_size(type, &size);
    return (size_t)size;
}

int __wrap_PMPI_Isend(const void *bytes, int count, MPI_Datatype type, int to,
                      int tag, MPI_Comm comm, MPI_Request *request)
{
    take(MODEL_MESSAGE);
    if (!ports_used())
        return __real_PMPI_Isend(bytes, count, type, to, tag, comm, request);
    ports_send(bytes, (size_t)count * type_size(type), to, tag, model_clock(),
               request);
    return MPI_SUCCESS;
}

int __wrap_PMPI_Irecv(void *bytes, int count, MPI_Datatype type, int from,
                      int tag, MPI_Comm comm, MPI_Request *request)
{
    take(MODEL_MESSAGE);
    if (!ports_used())
        return __real_PMPI_Irecv(bytes, count, type, from, tag, comm, request);
    ports_receive(bytes, (size_t)count * type_size(type), from, tag, request);
    return MPI_SUCCESS;
}

/*
 * SimGrid's nonblocking collectives send from every rank to every other, which
 * no MPI does; its blocking ones work like MPICH's (smpi/coll-selector).
 */
int __wrap_PMPI_Iallreduce(const void *send, void *receive, int count,
                           MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                           MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    model_settle();
    return PMPI_Allreduce(send, receive, count, type, op, comm);
}

int __wrap_PMPI_Ibcast(void *buffer, int count, MPI_Datatype type, int root,
                       MPI_Comm comm, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    model_settle();
    return PMPI_Bcast(buffer, count, type, root, comm);
}

/* SimGrid does not count a null request as done; MPI does. */
int __wrap_PMPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    if (*request != MPI_REQUEST_NULL)
        return __real_PMPI_Test(request, done, status);
    *done = 1;
    return MPI_SUCCESS;
}

/*
 * The clock and the process give shared memory its name. In simulations both
 * are the same for two of them on one machine.
 */
int __wrap_smpi_clock_gettime(clockid_t clock, struct timespec *now)
{
    return (int)syscall(SYS_clock_gettime, clock, now);
}

pid_t __wrap_smpi_getpid(void)
{
    return (pid_t)syscall(SYS_getpid);
}

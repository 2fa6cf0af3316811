/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "group/gpu_ipc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "device/device.h"
#include "number/parse.h"

/* Calls with some buffer outside GPU memory after which the group stops trying
 * to use GPU memory. */
#define IN_VAIN_MAX 1000

struct aps_gpu_ipc {
    struct aps_shm_group *node;
    size_t bytes;
    const struct aps_device_memory *verbs; /* NULL: there are no regions */
    int device;                            /* device of this rank */
    unsigned char **regions;               /* [size]; this rank's own is not
                                            * opened */
    int in_vain; /* calls since the last one in GPU memory, or since the
                  * first */
    bool refused;
    struct aps_gpu_ipc *next; /* next in the list of unclosed regions */
};

/* List of peers whose own region other ranks may still have open. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct aps_gpu_ipc *left;

struct aps_gpu_ipc *aps_gpu_ipc_create(struct aps_shm_group *node, size_t bytes)
{
    struct aps_gpu_ipc *peers = calloc(1, sizeof *peers);

    if (!peers)
        return NULL;
    peers->regions =
        calloc((size_t)aps_shm_group_size(node), sizeof *peers->regions);
    if (!peers->regions) {
        free(peers);
        return NULL;
    }
    peers->node = node;
    peers->bytes = bytes;
    return peers;
}

/* --- destruction --------------------------------------------------------- */

static void gpu_ipc_close_others(struct aps_gpu_ipc *peers)
{
    const int rank = aps_shm_group_rank(peers->node);

    for (int i = 0; i < aps_shm_group_size(peers->node); i++)
        if (i != rank && peers->regions[i]) {
            peers->verbs->close(peers->regions[i]);
            peers->regions[i] = NULL;
        }
}

/* Frees this rank's region. All ranks have closed the regions that they had
 * open. */
static void gpu_ipc_destroy(struct aps_gpu_ipc *peers)
{
    if (peers->verbs)
        peers->verbs->release(peers->regions[aps_shm_group_rank(peers->node)]);
    aps_shm_group_destroy(peers->node);
    free(peers->regions);
    free(peers);
}

/* Frees the regions in the list that no rank has open any more. */
void aps_gpu_ipc_destroy_closed(void)
{
    struct aps_gpu_ipc *closed = NULL;

    pthread_mutex_lock(&lock);
    for (struct aps_gpu_ipc **link = &left; *link;) {
        struct aps_gpu_ipc *peers = *link;

        if (aps_shm_group_leavers(peers->node) <
            aps_shm_group_size(peers->node)) {
            link = &peers->next;
            continue;
        }
        *link = peers->next;
        peers->next = closed;
        closed = peers;
    }
    pthread_mutex_unlock(&lock);
    while (closed) {
        struct aps_gpu_ipc *next = closed->next;

        gpu_ipc_destroy(closed);
        closed = next;
    }
}

void aps_gpu_ipc_destroy(struct aps_gpu_ipc *peers)
{
    if (!peers)
        return;
    if (!peers->verbs) { /* no rank has regions */
        gpu_ipc_destroy(peers);
        return;
    }
    gpu_ipc_close_others(peers);
    aps_shm_group_leave(peers->node);
    pthread_mutex_lock(&lock);
    peers->next = left;
    left = peers;
    pthread_mutex_unlock(&lock);
    aps_gpu_ipc_destroy_closed();
}

/* --- regions ------------------------------------------------------------- */

/* COLLECTIVE. True if all ranks are `well`. Otherwise the first rank that is
 * not prints its cause. */
static bool gpu_ipc_all_well(const struct aps_gpu_ipc *peers, bool well,
                             const char *cause)
{
    const int rank = aps_shm_group_rank(peers->node);
    const int size = aps_shm_group_size(peers->node);
    static atomic_ullong times;
    const int first =
        size - aps_shm_group_max(peers->node, well ? 0 : size - rank);

    if (first == rank && aps_message_is_due(atomic_fetch_add(&times, 1) + 1))
        aps_message(-1,
                    "GPUs cannot share memory: %s: the host makes the sums "
                    "inside the node",
                    cause);
    return first == size;
}

/* Pattern that a rank writes in its region. Other ranks read it with a kernel,
 * as they will read blocks: FP32 values that no memory holds by chance. */
#define PATTERN 64

static void gpu_ipc_pattern(int rank, float values[PATTERN])
{
    for (int i = 0; i < PATTERN; i++)
        values[i] = 0.5f + (float)(rank * PATTERN + i);
}

static bool gpu_ipc_leave_pattern(const struct aps_gpu_ipc *peers, char *cause,
                                  size_t size)
{
    const int rank = aps_shm_group_rank(peers->node);
    float values[PATTERN];

    gpu_ipc_pattern(rank, values);
    if (peers->verbs->put(peers->regions[rank], values, sizeof values) == 0)
        return true;
    snprintf(cause, size, "GPU memory cannot be written");
    return false;
}

/* Local. True if the region of rank `of` holds its pattern. This rank's own
 * region has room for the copy after its own pattern. */
static bool gpu_ipc_find_pattern(const struct aps_gpu_ipc *peers, int of,
                                 char *cause, size_t size)
{
    float *own =
        (float *)(void *)peers->regions[aps_shm_group_rank(peers->node)] +
        PATTERN;
    float values[PATTERN], found[PATTERN];
    struct aps_format format;
    struct aps_codec codec;

    gpu_ipc_pattern(of, values);
    if (aps_format_parse("e8m23", &format, NULL) < 0)
        return false;
    aps_codec_init(&format, &codec);
    if (peers->verbs->decode(&codec, peers->regions[of], PATTERN,
                             (struct aps_scaling){.exponent = 0, .factor = 1},
                             0, false, own) == 0 &&
        peers->verbs->get(found, own, sizeof found) == 0 &&
        memcmp(found, values, sizeof values) == 0)
        return true;
    snprintf(cause, size,
             "memory of another rank's GPU opens, but does not have what that "
             "rank has written");
    return false;
}

static bool gpu_ipc_open_others(struct aps_gpu_ipc *peers, const float *near,
                                char *cause, size_t size)
{
    const int rank = aps_shm_group_rank(peers->node);

    for (int i = 0; i < aps_shm_group_size(peers->node); i++) {
        if (i == rank)
            continue;
        peers->regions[i] = peers->verbs->open(
            aps_shm_group_token(peers->node, i), near, cause, size);
        if (!peers->regions[i] || !gpu_ipc_find_pattern(peers, i, cause, size))
            return false;
    }
    return true;
}

/* Local. Allocates this rank's own region, for the other ranks to open. */
static bool gpu_ipc_make_own(struct aps_gpu_ipc *peers, const float *near,
                             char *cause, size_t size)
{
    const int rank = aps_shm_group_rank(peers->node);
    unsigned char *own =
        peers->verbs->allocate(near, peers->bytes, cause, size);

    peers->regions[rank] = own;
    return own && peers->verbs->probe(own, cause, size) == 0 &&
           gpu_ipc_leave_pattern(peers, cause, size) &&
           peers->verbs->offer(own, aps_shm_group_token(peers->node, rank),
                               cause, size) == 0;
}

/* COLLECTIVE. Makes the regions on all ranks or on none. Returns false if it
 * fails; the group then never tries again. */
static bool gpu_ipc_make(struct aps_gpu_ipc *peers,
                         const struct aps_memory *memory, const float *near)
{
    const int rank = aps_shm_group_rank(peers->node);
    char cause[256] = "";
    bool well;

    peers->verbs = memory->device;
    well = gpu_ipc_make_own(peers, near, cause, sizeof cause);
    if (gpu_ipc_all_well(peers, well, cause)) {
        well = gpu_ipc_open_others(peers, near, cause, sizeof cause);
        if (gpu_ipc_all_well(peers, well, cause)) {
            peers->device = aps_device_of(near, near);
            return true;
        }
        gpu_ipc_close_others(peers);
        (void)aps_shm_group_max(peers->node, 0); /* all ranks have closed the
                                                  * regions */
    }
    peers->verbs->release(peers->regions[rank]);
    peers->regions[rank] = NULL;
    peers->verbs = NULL;
    peers->refused = true;
    return false;
}

/* True if all regions still exist. A region disappears after cudaDeviceReset or
 * when its context is destroyed; the program may then have other memory at its
 * address. */
static bool gpu_ipc_holds(const struct aps_gpu_ipc *peers)
{
    for (int i = 0; i < aps_shm_group_size(peers->node); i++) {
        if (!peers->verbs->holds(peers->regions[i]))
            return false;
    }
    return true;
}

/* Votes in ascending order: the greatest vote on the node decides. */
enum vote { READY, TO_MAKE, NOT_NOW, NEVER };

static enum vote gpu_ipc_vote(const struct aps_gpu_ipc *peers,
                              const struct aps_memory *memory, const void *in,
                              const void *out)
{
    int device;

    if (!aps_device_is_shared() || aps_shm_group_device_failed(peers->node) ||
        (memory != &aps_memory_host && memory->element == sizeof(float) &&
         !memory->device))
        return NEVER;
    if (!memory->device)
        return NOT_NOW;
    device = aps_device_of(in, out);
    if (device < 0)
        return NOT_NOW;
    if (!peers->verbs)
        return TO_MAKE;
    if (!gpu_ipc_holds(peers))
        return NEVER;
    return device == peers->device ? READY : NOT_NOW;
}

bool aps_gpu_ipc_meet(struct aps_gpu_ipc *peers,
                      const struct aps_memory *memory, const void *in,
                      const void *out)
{
    if (peers->refused)
        return false;
    switch (aps_shm_group_max(peers->node,
                              (int)gpu_ipc_vote(peers, memory, in, out))) {
    case READY:
        peers->in_vain = 0;
        return true;
    case TO_MAKE:
        return gpu_ipc_make(peers, memory, in);
    case NOT_NOW:
        /* All ranks have the same count. Each vote costs the ranks an
         * exchange. */
        peers->refused = ++peers->in_vain == IN_VAIN_MAX;
        return false;
    default:
        peers->refused = true;
        return false;
    }
}

unsigned char *aps_gpu_ipc_region(const struct aps_gpu_ipc *peers, int rank)
{
    return peers->regions[rank];
}

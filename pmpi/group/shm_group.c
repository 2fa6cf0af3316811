/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "group/shm_group.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cache.h"
#include "base/quiet_write.h"
#include "message/agree.h"
#include "message/wait.h"

/* Number of values that aps_shm_group_max_all exchanges at a time. */
#define VALUES 32

/* Progress of one rank. Only this rank writes its counts. */
struct counts {
    struct aps_wait_count marks[APS_SHM_GROUP_MARKS];
    struct aps_wait_count values; /* number of times it wrote `value` */
    int32_t value[2][VALUES];     /* used alternately */
    uint64_t shapes[2];           /* shapes of its even and its odd calls */
    struct aps_memory_token token;
};

/* Start of the segment. A new segment is zero, and counts begin at 0. */
struct shared {
    /* The last failed call of even and of odd number, or 0: a rank is at most
     * one call ahead of another. Numbers that wrap would meet the 0, or an old
     * failure, again. */
    _Alignas(APS_CACHE_LINE) _Atomic uint64_t failed[2];
    _Atomic int device_failed;
    _Atomic int leavers;
    struct counts counts[]; /* [group size] */
};

struct aps_shm_group {
    struct shared *shared;
    size_t bytes; /* size of the mapping */
    unsigned char *slots;
    size_t slot_bytes;
    int rank;
    int size;
    MPI_Comm progress; /* for MPI's progress during waits */
    uint32_t turns;    /* number of exchanges by MAX */
};

static size_t shm_group_round_up(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return (bytes + page - 1) / page * page;
}

/*
 * The segment of rank 0. It has no name: the kernel frees it when its last process has
 * ended, however that ends. The other ranks open the descriptor of rank 0, and compare
 * the file, since the process may have another number in their PID namespace.
 */
struct segment {
    pid_t process;
    int fd; /* -1: none */
    dev_t device;
    ino_t inode;
};

/* Returns a segment, or none with a cause. */
static struct segment shm_group_make_segment(size_t bytes, char *cause,
                                             size_t size)
{
    struct segment segment = {
        .process = getpid(),
        .fd = memfd_create("apsmpi", MFD_CLOEXEC),
    };
    struct stat made;
    int error;

    if (segment.fd < 0) {
        snprintf(cause, size, "memfd_create: %s", strerror(errno));
        return segment;
    }
    /* Allocate the pages now: if memory is short later, a sparse segment would
     * kill the program with SIGBUS in a reduction. */
    error = aps_quiet_allocate(segment.fd, bytes);
    if (error == 0 && fstat(segment.fd, &made) < 0)
        error = errno;
    if (error == 0) {
        segment.device = made.st_dev;
        segment.inode = made.st_ino;
        return segment;
    }
    snprintf(cause, size, "%zu bytes of shared memory: %s", bytes,
             strerror(error));
    close(segment.fd);
    segment.fd = -1;
    return segment;
}

/* Returns a descriptor of rank 0's segment, or -1 with a cause. */
static int shm_group_open_segment(const struct segment *segment, char *cause,
                                  size_t size)
{
    char path[64];
    struct stat found;
    int fd;

    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)segment->process,
             segment->fd);
    fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        snprintf(cause, size, "%s, the shared memory of another rank: %s", path,
                 strerror(errno));
        return -1;
    }
    if (fstat(fd, &found) == 0 && found.st_dev == segment->device &&
        found.st_ino == segment->inode)
        return fd;
    snprintf(cause, size, "%s is not the shared memory of another rank", path);
    close(fd);
    return -1;
}

/* Returns the mapping, or NULL with a cause. */
static void *shm_group_map(int fd, size_t bytes, char *cause, size_t size)
{
    /* Map the pages now: page faults would double the time of a rank's first
     * tens of short calls, and so distort the measurements of `reduce:
     * auto`. */
    void *mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_POPULATE, fd, 0);

    if (mapping != MAP_FAILED)
        return mapping;
    snprintf(cause, size, "mmap of %zu bytes of shared memory: %s", bytes,
             strerror(errno));
    return NULL;
}

/* Rank 0 of the group makes the segment, and keeps its descriptor until the others
 * have opened it. */
static int shm_group_share(const struct aps_vcomm *group, int rank,
                           size_t bytes, void **shared, char *cause,
                           size_t size)
{
    struct segment segment = {.fd = -1};
    void *mapping = NULL;
    bool created;
    int rc, fd;

    if (rank == 0)
        segment = shm_group_make_segment(bytes, cause, size);
    fd = segment.fd;
    created = rank != 0 || fd >= 0;
    rc = aps_agree_all(group, &created);
    if (created)
        rc = aps_agree_bytes(group, 0, &segment, sizeof segment);
    if (created && rc == MPI_SUCCESS) {
        if (rank != 0)
            fd = shm_group_open_segment(&segment, cause, size);
        if (fd >= 0)
            mapping = shm_group_map(fd, bytes, cause, size);
        created = mapping != NULL;
        rc = aps_agree_all(group, &created);
    }
    if (fd >= 0)
        close(fd);
    if (rc == MPI_SUCCESS && created) {
        *shared = mapping;
        return rc;
    }
    if (mapping)
        munmap(mapping, bytes);
    return rc == MPI_SUCCESS ? -1 : rc;
}

int aps_shm_group_create(const struct aps_vcomm *group, size_t slot_bytes,
                         size_t result_bytes, struct aps_shm_group **node,
                         char *cause, size_t size)
{
    struct aps_shm_group *new = calloc(1, sizeof *new);
    void *shared;
    size_t head;
    int rc;

    cause[0] = '\0';
    if (!new)
        return MPI_ERR_NO_MEM;
    new->rank = group->rank;
    new->size = group->size;
    head =
        shm_group_round_up(sizeof *new->shared +
                           (size_t) new->size * sizeof new->shared->counts[0]);
    new->slot_bytes = shm_group_round_up(slot_bytes);
    new->bytes = head + (size_t) new->size *new->slot_bytes +
                 shm_group_round_up(result_bytes);
    new->progress = group->comm;
    rc = shm_group_share(group, new->rank, new->bytes, &shared, cause, size);
    if (rc != MPI_SUCCESS) {
        free(new);
        return rc;
    }
    new->shared = shared;
    new->slots = (unsigned char *)new->shared + head;
    *node = new;
    return 0;
}

void aps_shm_group_destroy(struct aps_shm_group *node)
{
    if (!node)
        return;
    munmap(node->shared, node->bytes);
    free(node);
}

int aps_shm_group_rank(const struct aps_shm_group *node)
{
    return node->rank;
}

int aps_shm_group_size(const struct aps_shm_group *node)
{
    return node->size;
}

unsigned char *aps_shm_group_slot(const struct aps_shm_group *node, int rank)
{
    return node->slots + (size_t)rank * node->slot_bytes;
}

size_t aps_shm_group_slot_stride(const struct aps_shm_group *node)
{
    return node->slot_bytes;
}

unsigned char *aps_shm_group_result(const struct aps_shm_group *node)
{
    return node->slots + (size_t)node->size * node->slot_bytes;
}

void aps_shm_group_signal(struct aps_shm_group *node,
                          enum aps_shm_group_mark mark)
{
    aps_wait_advance(&node->shared->counts[node->rank].marks[mark]);
}

void aps_shm_group_await(struct aps_shm_group *node,
                         enum aps_shm_group_mark mark, int ranks,
                         uint32_t times, bool messages)
{
    for (int i = 0; i < ranks; i++)
        aps_wait_reach(&node->shared->counts[i].marks[mark], times,
                       node->progress, messages);
}

/* The two places of `value` are enough: a rank writes a place again two turns
 * later, and in between it has awaited the values that every rank wrote after
 * it had read the place. */
static void shm_group_max_some(struct aps_shm_group *node, int count,
                               int values[])
{
    struct counts *counts = node->shared->counts;
    const uint32_t turn = node->turns++;

    memcpy(counts[node->rank].value[turn % 2], values,
           (size_t)count * sizeof *values);
    aps_wait_advance(&counts[node->rank].values);
    for (int i = 0; i < node->size; i++) {
        aps_wait_reach(&counts[i].values, turn + 1, node->progress, false);
        for (int k = 0; k < count; k++)
            if (counts[i].value[turn % 2][k] > values[k])
                values[k] = counts[i].value[turn % 2][k];
    }
}

void aps_shm_group_max_all(struct aps_shm_group *node, int count, int values[])
{
    for (int i = 0; i < count; i += VALUES)
        shm_group_max_some(node, count - i < VALUES ? count - i : VALUES,
                           values + i);
}

int aps_shm_group_max(struct aps_shm_group *node, int value)
{
    shm_group_max_some(node, 1, &value);
    return value;
}

void aps_shm_group_fail(struct aps_shm_group *node, uint64_t call)
{
    atomic_store(&node->shared->failed[call % 2], call);
}

bool aps_shm_group_failed(const struct aps_shm_group *node, uint64_t call)
{
    return atomic_load_explicit(&node->shared->failed[call % 2],
                                memory_order_relaxed) == call;
}

void aps_shm_group_tell_shape(struct aps_shm_group *node, uint64_t call,
                              uint64_t shape)
{
    node->shared->counts[node->rank].shapes[call % 2] = shape;
}

int aps_shm_group_find_other_shape(const struct aps_shm_group *node,
                                   uint64_t call, uint64_t *shape)
{
    const struct counts *counts = node->shared->counts;
    const uint64_t mine = counts[node->rank].shapes[call % 2];

    for (int i = 0; i < node->size; i++) {
        if (counts[i].shapes[call % 2] == mine)
            continue;
        *shape = counts[i].shapes[call % 2];
        return i;
    }
    return -1;
}

void aps_shm_group_fail_device(struct aps_shm_group *node)
{
    atomic_store_explicit(&node->shared->device_failed, 1,
                          memory_order_relaxed);
}

bool aps_shm_group_device_failed(const struct aps_shm_group *node)
{
    return atomic_load_explicit(&node->shared->device_failed,
                                memory_order_relaxed);
}

struct aps_memory_token *aps_shm_group_token(const struct aps_shm_group *node,
                                             int rank)
{
    return &node->shared->counts[rank].token;
}

void aps_shm_group_leave(struct aps_shm_group *node)
{
    atomic_fetch_add(&node->shared->leavers, 1);
}

int aps_shm_group_leavers(const struct aps_shm_group *node)
{
    return atomic_load(&node->shared->leavers);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A shared-memory group by itself: either all its ranks have it or none, the
 * rank that cannot make it reports why, no descriptor stays open, and the numbers
 * of calls are unique.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/quiet_write.h"
#include "mpitap.h"

/* Calls of which the group is made, with names of this test. */
static int test_memfd_create(const char *name, unsigned flags);
static int test_open(const char *path, int flags);
static int test_quiet_allocate(int fd, size_t bytes);

#define memfd_create test_memfd_create
#define open test_open
#define aps_quiet_allocate test_quiet_allocate
#include "group/shm_group.c"
#undef memfd_create
#undef open
#undef aps_quiet_allocate

enum step { NOTHING, CREATE, FILL, OPEN, OTHER };

static enum step failing; /* on this rank */

static int test_memfd_create(const char *name, unsigned flags)
{
    if (failing != CREATE)
        return memfd_create(name, flags);
    errno = ENFILE;
    return -1;
}

/* OTHER: a process of another PID namespace. */
static int test_open(const char *path, int flags)
{
    if (failing != OPEN)
        return open(failing == OTHER ? "/dev/null" : path, flags);
    errno = EACCES;
    return -1;
}

static int test_quiet_allocate(int fd, size_t bytes)
{
    return failing == FILL ? ENOSPC : aps_quiet_allocate(fd, bytes);
}

/* Returns the group, or NULL if `step` fails on rank `who`. */
static struct aps_shm_group *make(const struct aps_vcomm *all, enum step step,
                                  int who, char *cause, size_t size)
{
    struct aps_shm_group *group = NULL;
    int rc;

    failing = all->rank == who ? step : NOTHING;
    rc = aps_shm_group_create(all, 64, 64, &group, cause, size);
    failing = NOTHING;
    return rc == 0 ? group : NULL;
}

/* Returns the lowest descriptor that is free. */
static int free_descriptor(void)
{
    const int fd = dup(STDERR_FILENO);

    close(fd);
    return fd;
}

static void test_failure(const struct aps_vcomm *all, enum step step, int who,
                         const char *why)
{
    char cause[256];
    const int before = free_descriptor();
    struct aps_shm_group *group = make(all, step, who, cause, sizeof cause);

    ok_all(!group, "%s on rank %d: no rank has the group", why, who);
    ok_all(all->rank == who ? strstr(cause, why) != NULL : cause[0] == '\0',
           "%s on rank %d: only that rank reports it", why, who);
    ok_all(free_descriptor() == before, "%s on rank %d: no descriptor is left",
           why, who);
    aps_shm_group_destroy(group);
}

/* COLLECTIVE over the group. True if the call has failed, as this rank sees it. */
static bool has_failed(struct aps_shm_group *group, uint64_t call)
{
    bool failed;

    (void)aps_shm_group_max(group, 0);
    failed = aps_shm_group_failed(group, call);
    (void)aps_shm_group_max(group, 0);
    return failed;
}

static void test_numbers(struct aps_shm_group *group)
{
    const uint64_t wrap = UINT64_C(1) << 32;
    bool good = true;

    for (uint64_t call = wrap - 2; call < wrap + 3; call++)
        good &= !has_failed(group, call);
    ok_all(good, "no call has failed, of the 2^32nd and those around it");
    if (aps_shm_group_rank(group) == 0)
        aps_shm_group_fail(group, 5);
    ok_all(has_failed(group, 5), "call 5 has failed");
    ok_all(!has_failed(group, wrap + 5), "call 2^32 + 5 has not failed");
}

int main(int argc, char **argv)
{
    struct aps_shm_group *group;
    struct aps_vcomm all;
    char cause[256];
    MPI_Comm comm;
    int status, before;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    all = aps_vcomm_all(comm, 0);
    before = free_descriptor();
    group = make(&all, NOTHING, 0, cause, sizeof cause);
    ok_all(group && cause[0] == '\0', "a group");
    ok_all(free_descriptor() == before, "its descriptors are closed");
    if (good_on_all(group != NULL))
        test_numbers(group);
    aps_shm_group_destroy(group);
    test_failure(&all, CREATE, 0, "Too many open files");
    test_failure(&all, FILL, 0, "No space left");
    test_failure(&all, OPEN, 1, "Permission denied");
    test_failure(&all, OTHER, 1, "is not the shared memory");
    PMPI_Comm_free(&comm);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

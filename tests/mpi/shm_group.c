/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A shared-memory group by itself: either all its ranks have it or none, the
 * rank that cannot make it reports why, names of other groups stay, and the
 * numbers of calls are unique.
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
static int test_shm_open(const char *name, int flags, mode_t mode);
static int test_shm_unlink(const char *name);
static int test_quiet_allocate(int fd, size_t bytes);

#define shm_open test_shm_open
#define shm_unlink test_shm_unlink
#define aps_quiet_allocate test_quiet_allocate
#include "group/shm_group.c"
#undef shm_open
#undef shm_unlink
#undef aps_quiet_allocate

enum step { NOTHING, OPEN, FILL };

static enum step failing; /* on this rank */
static int unlinked;

static int test_shm_open(const char *name, int flags, mode_t mode)
{
    if (failing != OPEN)
        return shm_open(name, flags, mode);
    errno = EEXIST;
    return -1;
}

static int test_shm_unlink(const char *name)
{
    unlinked++;
    return shm_unlink(name);
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

    unlinked = 0;
    failing = all->rank == who ? step : NOTHING;
    rc = aps_shm_group_create(all, 64, 64, &group, cause, size);
    failing = NOTHING;
    return rc == 0 ? group : NULL;
}

static void test_failure(const struct aps_vcomm *all, enum step step, int who,
                         const char *why, int names)
{
    char cause[256];
    struct aps_shm_group *group = make(all, step, who, cause, sizeof cause);

    ok_all(!group, "%s on rank %d: no rank has the group", why, who);
    ok_all(all->rank == who ? strstr(cause, why) != NULL : cause[0] == '\0',
           "%s on rank %d: only that rank reports it", why, who);
    ok_all(unlinked == (all->rank == 0 ? names : 0),
           "%s on rank %d: %d names are removed", why, who, names);
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
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    all = aps_vcomm_all(comm, 0);
    group = make(&all, NOTHING, 0, cause, sizeof cause);
    ok_all(group && cause[0] == '\0', "a group");
    ok_all(unlinked == (all.rank == 0), "its name is gone");
    if (good_on_all(group != NULL))
        test_numbers(group);
    aps_shm_group_destroy(group);
    test_failure(&all, OPEN, 0, "File exists", 0);
    test_failure(&all, OPEN, 1, "File exists", 1);
    test_failure(&all, FILL, 0, "No space left", 1);
    PMPI_Comm_free(&comm);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

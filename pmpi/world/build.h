/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Identity of the build that a rank runs. Ranks exchange messages only among
 * libraries of the same sources, because the bytes of blocks and policies and
 * the order of messages may change with any of them.
 */
#ifndef APS_PMPI_WORLD_BUILD_H
#define APS_PMPI_WORLD_BUILD_H

#include <stddef.h>
#include <stdint.h>

/* Structs and types whose sizes may differ between two builds of the same
 * sources, because the compilers differ. */
enum {
    APS_BUILD_POINTER,
    APS_BUILD_LONG,
    APS_BUILD_ALIGNED, /* a char and an int64_t */
    APS_BUILD_SIZES
};

/*
 * First message of a rank. Ranks of different versions exchange it, so its
 * layout and its size, 128 bytes, never change.
 */
struct aps_build {
    char version[32];       /* PACKAGE_VERSION */
    uint64_t identity;      /* hash of the sources (config/identity.sh) */
    uint32_t byte_order;    /* 0x01020304 */
    uint32_t sizes[8];      /* APS_BUILD_SIZES of them, then 0 */
    unsigned char rest[52]; /* 0 */
};

/* Local. Describes this library. */
void aps_build_fill(struct aps_build *build);

/*
 * Local. Compares `mine` with `first`, the build of rank 0. Returns 0 if they
 * are equal, or -1 with `cause` (`size` bytes): the predicate of a message
 * about this rank, such as "runs apsmpi 0.2.0, rank 0 runs 0.1.0; ...".
 */
int aps_build_compare(const struct aps_build *mine,
                      const struct aps_build *first, char *cause, size_t size);

#endif

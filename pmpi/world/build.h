/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which build of the library a rank runs. Ranks exchange messages only among
 * libraries of the same sources, since the bytes of blocks and policies and the
 * order of messages may change with any of them.
 */
#ifndef APS_PMPI_WORLD_BUILD_H
#define APS_PMPI_WORLD_BUILD_H

#include <stddef.h>
#include <stdint.h>

/* Structs and types whose sizes two builds of the same sources may not agree
 * on, because their compilers do not. */
enum {
    APS_BUILD_POINTER,
    APS_BUILD_LONG,
    APS_BUILD_ALIGNED, /* a char and an int64_t */
    APS_BUILD_SIZES
};

/*
 * What a rank tells first of all. Ranks of different versions exchange it: its
 * layout and its 128 bytes stay as they are for ever.
 */
struct aps_build {
    char version[32];       /* PACKAGE_VERSION */
    uint64_t identity;      /* of the sources, config/identity.sh */
    uint32_t byte_order;    /* 0x01020304 */
    uint32_t sizes[8];      /* APS_BUILD_SIZES of them, then 0 */
    unsigned char rest[52]; /* 0 */
};

/* This library. */
void aps_build_fill(struct aps_build *build);

/*
 * Does `mine` differ from `first`, that of rank 0? 0, or -1 with what is to be
 * said of this rank, after its number: "runs apsmpi 0.2.0, rank 0 runs 0.1.0;
 * ...".
 */
int aps_build_compare(const struct aps_build *mine,
                      const struct aps_build *first, char *cause, size_t size);

#endif

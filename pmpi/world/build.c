/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "world/build.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pmpi/job/build_identity.h"

#define BUILD_BYTE_ORDER 0x01020304u
#define BUILD_ADVICE "start the same libapsmpi.so on all ranks"

/* Text that `apsmpi info` finds in the file of the library. */
#define BUILD_TEXT_OF(number) #number
#define BUILD_TEXT(number) BUILD_TEXT_OF(number)
static const char build_what[] __attribute__((used)) =
    "@(#)sources of apsmpi " BUILD_TEXT(APS_BUILD_IDENTITY);

_Static_assert(sizeof(struct aps_build) == 128,
               "ranks of other versions expect 128 bytes");

struct build_aligned {
    char c;
    int64_t i;
};

void aps_build_fill(struct aps_build *build)
{
    *build = (struct aps_build){
        .identity = APS_BUILD_IDENTITY,
        .byte_order = BUILD_BYTE_ORDER,
        .sizes =
            {
                [APS_BUILD_POINTER] = sizeof(void *),
                [APS_BUILD_LONG] = sizeof(long),
                [APS_BUILD_ALIGNED] = sizeof(struct build_aligned),
            },
    };
    snprintf(build->version, sizeof build->version, "%s", PACKAGE_VERSION);
}

int aps_build_compare(const struct aps_build *mine,
                      const struct aps_build *first, char *cause, size_t size)
{
    static const char *const names[APS_BUILD_SIZES] = {
        [APS_BUILD_POINTER] = "pointers",
        [APS_BUILD_LONG] = "longs",
        [APS_BUILD_ALIGNED] = "structs of a char and an int64_t",
    };

    if (memcmp(mine, first, sizeof *mine) == 0)
        return 0;
    if (mine->byte_order != first->byte_order) {
        snprintf(cause, size,
                 "has another byte order than rank 0; apsmpi needs machines of "
                 "one byte order");
        return -1;
    }
    if (strncmp(mine->version, first->version, sizeof mine->version) != 0) {
        snprintf(cause, size,
                 "runs apsmpi %.32s, rank 0 runs apsmpi %.32s; " BUILD_ADVICE,
                 mine->version, first->version);
        return -1;
    }
    if (mine->identity != first->identity) {
        snprintf(cause, size,
                 "runs an apsmpi %.32s of other sources (%016" PRIx64
                 ") than rank 0 (%016" PRIx64 "); " BUILD_ADVICE,
                 mine->version, mine->identity, first->identity);
        return -1;
    }
    for (int i = 0; i < APS_BUILD_SIZES; i++) {
        if (mine->sizes[i] != first->sizes[i]) {
            snprintf(cause, size,
                     "has %s of %" PRIu32 " bytes, rank 0 has %s of %" PRIu32
                     " bytes; apsmpi needs machines of one kind",
                     names[i], mine->sizes[i], names[i], first->sizes[i]);
            return -1;
        }
    }
    snprintf(cause, size, "runs another apsmpi than rank 0; " BUILD_ADVICE);
    return -1;
}

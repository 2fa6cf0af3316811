/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/launch.h"

#include <stdlib.h>

int aps_launch_rank(void)
{
    static const char *const names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK",
                                        "SLURM_PROCID", "PMIX_RANK"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);

        if (value)
            return atoi(value);
    }
    return -1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "predict/machine.h"

#include <math.h>

const double aps_memory_floats[APS_MEMORY_SIZES] = {1 << 22, 1 << 24};

double aps_machine_memory(const struct aps_machine *machine, double count)
{
    double below = APS_MEMORY_CACHED, before = 0;

    for (int i = 0; i < APS_MEMORY_SIZES; i++) {
        const double part =
            log2(count / below) / log2(aps_memory_floats[i] / below);

        if (part <= 0)
            return before;
        if (part < 1)
            return before + part * (machine->memory[i] - before);
        below = aps_memory_floats[i];
        before = machine->memory[i];
    }
    return before;
}

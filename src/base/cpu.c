/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <strings.h>

static const char *const names[APS_CPUS] = {
    [APS_CPU_PLAIN] = "plain",
    [APS_CPU_AVX2] = "avx2",
    [APS_CPU_AVX512] = "avx512",
};

const char *aps_cpu_name(enum aps_cpu cpu)
{
    return names[cpu];
}

int aps_cpu_parse(const char *name, enum aps_cpu *cpu)
{
    for (enum aps_cpu i = APS_CPU_PLAIN; i < APS_CPUS; i++) {
        if (strcasecmp(name, names[i]) == 0) {
            *cpu = i;
            return 0;
        }
    }
    return -1;
}

bool aps_cpu_supported(enum aps_cpu cpu)
{
#if APS_CPU_X86
    if (cpu == APS_CPU_AVX2)
        return __builtin_cpu_supports("avx2");
    if (cpu == APS_CPU_AVX512)
        return __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512dq");
#endif
    return cpu == APS_CPU_PLAIN;
}

static enum aps_cpu choose(void)
{
    const char *name = getenv("APSMPI_CPU");
    enum aps_cpu wanted, best = APS_CPU_PLAIN;

    if (name && aps_cpu_parse(name, &wanted) == 0 && aps_cpu_supported(wanted))
        return wanted;

    for (enum aps_cpu cpu = APS_CPU_PLAIN; cpu < APS_CPUS; cpu++) {
        if (aps_cpu_supported(cpu))
            best = cpu;
    }
    return best;
}

enum aps_cpu aps_cpu_chosen(void)
{
    static atomic_int chosen = -1;
    int cpu = atomic_load_explicit(&chosen, memory_order_relaxed);

    /* Threads that meet here choose the same. */
    if (cpu < 0) {
        cpu = (int)choose();
        atomic_store_explicit(&chosen, cpu, memory_order_relaxed);
    }
    return (enum aps_cpu)cpu;
}

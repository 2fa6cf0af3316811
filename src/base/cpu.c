/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <strings.h>

#if APS_CPU_X86
#include <cpuid.h>
#endif

static const char *const names[APS_CPUS] = APS_CPU_NAMES;

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

#if APS_CPU_X86
/* Compilers have no name for F16C. The CPU is asked once, because a hypervisor
 * takes tens of microseconds to answer. */
static bool supports_f16c(void)
{
    static _Atomic int known; /* 0: not yet, 1: no, 2: yes */
    int found = atomic_load_explicit(&known, memory_order_relaxed);
    unsigned a, b, c = 0, d;

    if (found == 0) {
        found = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) ? 2 : 1;
        atomic_store_explicit(&known, found, memory_order_relaxed);
    }
    return found == 2;
}
#endif

bool aps_cpu_supported(enum aps_cpu cpu)
{
#if APS_CPU_X86
    if (cpu == APS_CPU_AVX2)
        return __builtin_cpu_supports("avx2") &&
               __builtin_cpu_supports("bmi2") &&
               __builtin_cpu_supports("fma") && supports_f16c();
    if (cpu == APS_CPU_AVX512)
        return __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512dq");
#elif APS_CPU_ARM
    if (cpu == APS_CPU_NEON)
        return true;
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

    /* Threads that come here at the same time choose the same. */
    if (cpu < 0) {
        cpu = (int)choose();
        atomic_store_explicit(&chosen, cpu, memory_order_relaxed);
    }
    return (enum aps_cpu)cpu;
}

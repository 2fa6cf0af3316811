/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "world/binding.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>

#include "codec/workers.h"

/* Returns the lowest CPU on the core of `cpu`; `cpu` if the system does not
 * tell. */
static int binding_first_of_core(int cpu)
{
    char path[96];
    FILE *file;
    int first;

    snprintf(path, sizeof path,
             "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
             cpu);
    file = fopen(path, "re");
    if (!file)
        return cpu;
    if (fscanf(file, "%d", &first) != 1 || first < 0 || first > cpu)
        first = cpu;
    fclose(file);
    return first;
}

static int binding_count_cores(const cpu_set_t *cpus)
{
    cpu_set_t cores;

    CPU_ZERO(&cores);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, cpus))
            CPU_SET(binding_first_of_core(cpu), &cores);
    return CPU_COUNT(&cores);
}

/* Returns a colour that ranks of one node with one binding share (FNV-1a). */
static int binding_colour(const cpu_set_t *cpus, int node)
{
    const unsigned char *bytes = (const unsigned char *)cpus;
    uint32_t hash = 2166136261u ^ (uint32_t)node;

    hash *= 16777619u;
    for (size_t i = 0; i < sizeof *cpus; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return (int)(hash >> 1);
}

int aps_binding_threads(MPI_Comm comm, int node)
{
    MPI_Comm alike = MPI_COMM_NULL;
    cpu_set_t cpus;
    int ranks, threads = 1;

    CPU_ZERO(&cpus);
    (void)sched_getaffinity(0, sizeof cpus, &cpus);
    if (PMPI_Comm_split(comm, binding_colour(&cpus, node), 0, &alike) !=
        MPI_SUCCESS)
        return 1;
    if (PMPI_Comm_size(alike, &ranks) == MPI_SUCCESS)
        threads = binding_count_cores(&cpus) / ranks;
    PMPI_Comm_free(&alike);
    if (threads > APS_WORKERS_MAX)
        threads = APS_WORKERS_MAX;
    return threads > 1 ? threads : 1;
}

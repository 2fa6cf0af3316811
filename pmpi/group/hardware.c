/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "group/hardware.h"

#include <dlfcn.h>
#include <hwloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Name of hwloc 2, whose header the library is compiled with. */
#define LIBRARY "libhwloc.so.15"

/* --- loading hwloc -------------------------------------------------------- */

#define FUNCTIONS(F)                                                           \
    F(topology_init)                                                           \
    F(topology_load)                                                           \
    F(topology_destroy)                                                        \
    F(topology_is_thissystem)                                                  \
    F(get_cpubind)                                                             \
    F(get_type_depth)                                                          \
    F(get_nbobjs_by_depth)                                                     \
    F(get_obj_by_depth)                                                        \
    F(bitmap_alloc)                                                            \
    F(bitmap_free)                                                             \
    F(bitmap_copy)                                                             \
    F(bitmap_isincluded)

#define FIELD(name) __typeof__(hwloc_##name) *name;
static struct {
    FUNCTIONS(FIELD)
} hwloc;

/* Topology of this node, loaded once: loading takes milliseconds. */
static hwloc_topology_t loaded;
static const char *failure; /* why there is no topology, or NULL */
static pthread_once_t load_once = PTHREAD_ONCE_INIT;

/* Returns false if the host has no hwloc, or another version of it. */
static bool hardware_open(void)
{
#define ROW(name) {"hwloc_" #name, &hwloc.name},
    static const struct {
        const char *name;
        void *function;
    } rows[] = {FUNCTIONS(ROW)};
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *symbol = dlsym(library, rows[i].name);

        if (!symbol)
            return false;
        /* C cannot convert a pointer to data to a pointer to a function. */
        memcpy(rows[i].function, &symbol, sizeof symbol);
    }
    return true;
}

static void hardware_load(void)
{
    if (!hardware_open()) {
        (void)dlerror(); /* the program may look for errors of its own */
        failure = "this host lacks " LIBRARY ": install hwloc 2 or use "
                  "group: node";
        return;
    }
    failure = "hwloc cannot load the topology";
    if (hwloc.topology_init(&loaded) != 0)
        return;
    if (hwloc.topology_load(loaded) != 0)
        hwloc.topology_destroy(loaded);
    else
        failure = NULL;
}

/* --- objects -------------------------------------------------------------- */

static hwloc_obj_type_t hardware_object_type(enum aps_group_kind kind)
{
    switch (kind) {
    case APS_GROUP_PACKAGE:
        return HWLOC_OBJ_PACKAGE;
    case APS_GROUP_NUMA:
        return HWLOC_OBJ_NUMANODE;
    default:
        return HWLOC_OBJ_L3CACHE;
    }
}

/* Returns the number of objects of the type; `depth` is for hardware_object. */
static int hardware_count(hwloc_obj_type_t type, int *depth)
{
    *depth = hwloc.get_type_depth(loaded, type);
    return *depth == HWLOC_TYPE_DEPTH_UNKNOWN
               ? 0
               : (int)hwloc.get_nbobjs_by_depth(loaded, *depth);
}

static hwloc_obj_t hardware_object(int depth, int i)
{
    return hwloc.get_obj_by_depth(loaded, depth, (unsigned)i);
}

/*
 * Stores the cores to which this rank is bound. On a described topology
 * (HWLOC_SYNTHETIC, HWLOC_XMLFILE) rank i of the node has core i.
 */
static int hardware_rank_cpuset(int node_rank, hwloc_cpuset_t set, char *cause,
                                size_t size)
{
    int cores, depth;

    if (hwloc.topology_is_thissystem(loaded)) {
        if (hwloc.get_cpubind(loaded, set, HWLOC_CPUBIND_PROCESS) == 0)
            return 0;
        snprintf(cause, size, "hwloc cannot tell this rank's binding");
        return -1;
    }
    cores = hardware_count(HWLOC_OBJ_CORE, &depth);
    if (cores <= 0) {
        snprintf(cause, size, "the described topology has no cores");
        return -1;
    }
    hwloc.bitmap_copy(set, hardware_object(depth, node_rank % cores)->cpuset);
    return 0;
}

int aps_hardware_colour(enum aps_group_kind kind, int node_rank, char *cause,
                        size_t size)
{
    hwloc_cpuset_t set = NULL;
    int count, depth, colour = -1;

    pthread_once(&load_once, hardware_load);
    if (failure || !(set = hwloc.bitmap_alloc())) {
        snprintf(cause, size, "%s", failure ? failure : "no memory for hwloc");
        return -1;
    }
    count = hardware_count(hardware_object_type(kind), &depth);
    if (count <= 0) {
        snprintf(cause, size, "hwloc finds no %s on this node",
                 aps_group_name(kind));
        goto free_set;
    }
    if (hardware_rank_cpuset(node_rank, set, cause, size) < 0)
        goto free_set;
    for (int i = 0; i < count && colour < 0; i++) {
        hwloc_obj_t object = hardware_object(depth, i);

        if (object->cpuset && hwloc.bitmap_isincluded(set, object->cpuset))
            colour = i;
    }
    if (colour < 0)
        snprintf(cause, size,
                 "this rank is not bound inside one %s: bind the ranks "
                 "(mpiexec -bind-to core) or use group: node",
                 aps_group_name(kind));

free_set:
    hwloc.bitmap_free(set);
    return colour;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/cache.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/digits.h"
#include "base/switch.h"

#define LAST_CACHE "/sys/devices/system/cpu/cpu0/cache/index3/"
#define MIB ((size_t)1 << 20)

/*
 * An array that fits into one CPU's share of the last-level cache stays there;
 * of a longer array the beginning is evicted before another rank reads it.
 * Measured with 2 ranks, streaming stores against ordinary ones: with a share
 * of 16 MiB, streaming stores take 1.1 times as long for arrays of 4 and 8 MiB,
 * 1.0 for 16 MiB, 0.92 to 0.99 for 102 MiB. The caches of a core hold up to
 * LEAST, whatever the last level has. A virtual machine that reports more than
 * MOST shares it with others: with a share of 130 MiB, streaming stores take
 * 0.74 of the time for 102 MiB.
 */
#define LEAST (4 * MIB)
#define MOST (32 * MIB)

int aps_cache_passing_parse(const char *text, size_t *bytes)
{
    uintmax_t number;
    bool on;

    if (aps_switch_parse(text, &on) == 0)
        *bytes = on ? 0 : SIZE_MAX;
    else if (aps_whole_parse(text, SIZE_MAX, &number) == 0)
        *bytes = (size_t)number;
    else
        return -1;
    return 0;
}

int aps_cache_handoff_parse(const char *text, enum aps_cache_handoff *handoff)
{
    static const char *const names[] = {"auto", "store", "stream"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcasecmp(text, names[i]) == 0) {
            *handoff = (enum aps_cache_handoff)i;
            return 0;
        }
    }
    return -1;
}

#if defined(__x86_64__)
enum aps_cache_handoff aps_cache_handoff(void)
{
    const char *text = getenv("APSMPI_HANDOFF");
    enum aps_cache_handoff handoff;

    return text && aps_cache_handoff_parse(text, &handoff) == 0
               ? handoff
               : APS_CACHE_HANDOFF_AUTO;
}

/* Counts the CPUs of a list in the kernel's format: 0-7,64-71. Returns 0 if the
 * text is not a list. */
static size_t cache_cpus(const char *list)
{
    size_t cpus = 0;

    while (*list >= '0' && *list <= '9') {
        char *end;
        const unsigned long first = strtoul(list, &end, 10);
        const unsigned long last =
            *end == '-' ? strtoul(end + 1, &end, 10) : first;

        if (last < first)
            return 0;
        cpus += last - first + 1;
        list = *end == ',' ? end + 1 : end;
    }
    return cpus;
}

static bool cache_line(const char *file, char *line, int size)
{
    FILE *stream = fopen(file, "re");
    bool found;

    if (!stream)
        return false;
    found = fgets(line, size, stream) != NULL;
    fclose(stream);
    return found;
}

/* Returns one CPU's share of the last-level cache, in bytes. */
static size_t cache_part(void)
{
    char size[32], list[1024];
    size_t cpus, bytes;

    if (!cache_line(LAST_CACHE "size", size, sizeof size) ||
        !cache_line(LAST_CACHE "shared_cpu_list", list, sizeof list))
        return MOST;
    bytes = strtoul(size, NULL, 10) * 1024; /* "266240K" */
    cpus = cache_cpus(list);
    if (bytes == 0 || cpus == 0)
        return MOST;
    bytes /= cpus;
    if (bytes < LEAST)
        return LEAST;
    return bytes < MOST ? bytes : MOST;
}

/* Returns the bytes that APSMPI_STREAM gives, or else the smallest size that
 * does not fit into one CPU's share. */
static size_t cache_passing(void)
{
    const char *text = getenv("APSMPI_STREAM");
    size_t bytes;

    return text && aps_cache_passing_parse(text, &bytes) == 0 && bytes > 0
               ? bytes
               : cache_part() + 1;
}
#else
/* This build has no streaming stores. */
enum aps_cache_handoff aps_cache_handoff(void)
{
    return APS_CACHE_HANDOFF_STORE;
}

static size_t cache_passing(void)
{
    return SIZE_MAX;
}
#endif

bool aps_cache_passed(size_t bytes)
{
    static _Atomic size_t known; /* 0: not yet */
    size_t from = atomic_load_explicit(&known, memory_order_relaxed);

    /* Threads that come here at the same time find the same value. */
    if (from == 0) {
        from = cache_passing();
        atomic_store_explicit(&known, from, memory_order_relaxed);
    }
    return bytes >= from;
}

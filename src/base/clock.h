/* SPDX-License-Identifier: BSD-3-Clause */
/* The time in integers, because a program may trap inexact operations. */
#ifndef APS_BASE_CLOCK_H
#define APS_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of CLOCK_MONOTONIC, CLOCK_REALTIME, ... */
static inline int64_t aps_clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a call reads that passes at once lies side by side: a short MPI_Allreduce
 * takes 3 us, in caches that are full of the program's data, and each cache line
 * of ours that it has to fetch takes a per cent of that.
 */
#ifndef APS_BASE_HOT_H
#define APS_BASE_HOT_H

/* Of a variable's definition. All of them together are one cache line or two. */
#define APS_HOT __attribute__((section("aps_hot")))

#endif

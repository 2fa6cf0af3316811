/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many instructions a piece of work takes, counted by single steps of a child
 * process: the same on every run, and on virtual machines without counters.
 */
#ifndef APS_BENCH_INSTRUCTIONS_H
#define APS_BENCH_INSTRUCTIONS_H

/* Of run(state) in a child, its memory a copy of the caller's; all that comes with
 * it is counted, too, so that a difference of two counts is what says something. -1:
 * this system does not let one process step another. */
long bench_instructions(void (*run)(void *state), void *state);

#endif

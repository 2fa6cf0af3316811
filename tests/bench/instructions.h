/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the instructions of a piece of work by single steps of a child
 * process: the same in every run, and on virtual machines without counters.
 */
#ifndef APS_BENCH_INSTRUCTIONS_H
#define APS_BENCH_INSTRUCTIONS_H

/* Returns the instructions of run(state) in a child, whose memory is a copy of the
 * caller's, or -1 if this system does not let one process step another. The count
 * includes the child's other work, so only the difference of two counts is useful. */
long bench_instructions(void (*run)(void *state), void *state);

#endif

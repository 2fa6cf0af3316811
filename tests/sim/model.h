/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model of what a rank does between its messages. The linker puts it
 * between the reductions and what they call (--wrap, see local.mk), so that the
 * simulated clock goes on by a constant time a value, and not by what this
 * machine happens to take: a simulation gives the same times everywhere.
 */
#ifndef APS_SIM_MODEL_H
#define APS_SIM_MODEL_H

/*
 * Rates in bytes of FP32 values a second and rank: one core that runs
 * tests/bench/codec on the machine of the README's table, rounded. Ranks of a
 * host do not disturb each other.
 */
#define MODEL_ENCODE 24e9
#define MODEL_DECODE 27e9
#define MODEL_DECODE_ADD 24e9
#define MODEL_ROUND 24e9 /* not in the bench: taken as an encode */
#define MODEL_MAX 36e9

/* Seconds of a rank's own time for every message that it sends or receives. */
#define MODEL_MESSAGE 0.5e-6

/*
 * Work is owed until it comes to this many seconds or the rank waits for
 * something: an event of the simulator for every small block would take hours
 * and change little.
 */
#define MODEL_OWED 5e-6

/* Let this rank's clock go on by what is still owed. */
void model_settle(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model of a rank's work between its messages. The linker puts it between
 * the reductions and the functions that they call (--wrap, see local.mk), so
 * that the simulated clock advances by a constant time a value, and not by this
 * machine's time: a simulation gives the same times everywhere.
 */
#ifndef APS_SIM_MODEL_H
#define APS_SIM_MODEL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Rates in bytes of FP32 values a second and rank: one core that runs
 * tests/bench/codec on the machine of the README's table, rounded. Ranks of a
 * host do not disturb each other.
 */
#define MODEL_ENCODE 24e9
#define MODEL_DECODE 27e9
#define MODEL_DECODE_ADD 24e9
#define MODEL_ROUND 24e9 /* not in the bench: the rate of an encode */
#define MODEL_MAX 36e9

/*
 * Rates of compressors, most of them by tests/bench/compress; the others (products with
 * feedback, orthogonalisation) are estimated from these. They are of one core of an
 * Intel Xeon with AVX-512, whose memory memcpy copies at 7 GB/s: 25.6 Mi values, or a
 * matrix of 4096 x 4096. Products have a rate for factors of one column and one for
 * four. Passes over some of the elements (gathers, sums, indices) have a rate of these
 * elements. An orthogonalisation is of columns by columns, in FP64.
 */
#define MODEL_LEFT_1 12.9e9
#define MODEL_LEFT_4 10.9e9
#define MODEL_LEFT_FEEDBACK_1 4.5e9
#define MODEL_LEFT_FEEDBACK_4 4.4e9
#define MODEL_RIGHT_1 13.0e9
#define MODEL_RIGHT_4 9.7e9
#define MODEL_RESTORE_1 11.2e9
#define MODEL_RESTORE_4 10.3e9
#define MODEL_RESTORE_FEEDBACK_1 4.5e9
#define MODEL_RESTORE_FEEDBACK_4 4.4e9
#define MODEL_ORTHOGONAL 8e9
#define MODEL_SELECT 7.5e9
#define MODEL_SELECT_FEEDBACK 3.9e9
#define MODEL_GATHER 0.43e9
#define MODEL_TAKE 0.24e9
#define MODEL_ZEROS 13e9
#define MODEL_SPARSE_ADD 2e9
#define MODEL_INDICES_ENCODE 6e9
#define MODEL_INDICES_DECODE 3.3e9
#define MODEL_TERNARY_MEASURE 4.7e9
#define MODEL_TERNARY_TAKE 4.2e9
#define MODEL_TERNARY_ADD 19e9
#define MODEL_TERNARY_PACK 19e9
#define MODEL_TERNARY_DECODE 8.1e9

/* Seconds in which the threads of a rank begin a pass together and end it. */
#define MODEL_PASS 2e-6

/* Seconds of a rank's own time for every message that it sends or receives. */
#define MODEL_MESSAGE 0.5e-6

/*
 * Seconds by which a rank's clock may be ahead of the simulator's, unless the
 * rank synchronises with others by other means than messages: an event of the
 * simulator for every small block would take hours and change little.
 */
#define MODEL_AHEAD 5e-6

/* Spends the time of n values at a rate. Later messages leave after that. */
void model_spend(size_t n, double rate);

/* True if wrapped functions compute; false if they only take their time. */
extern bool model_computes;

double model_clock(void);

/* Lets the simulator's clock reach this rank's. */
void model_settle(void);

/* Advances this rank's clock to that time, if it is earlier. */
void model_wait_until(double time);

#endif

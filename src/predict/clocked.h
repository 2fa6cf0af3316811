/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What this machine's cores need: measured, in some milliseconds each.
 */
#ifndef APS_PREDICT_CLOCKED_H
#define APS_PREDICT_CLOCKED_H

#include "number/format.h"
#include "predict/machine.h"

/* Memory to measure with: arrays of floats, as a program's gradients are, and a
 * message's bytes. */
struct aps_clocked;
struct aps_clocked *aps_clocked_create(void); /* NULL: out of memory */
void aps_clocked_destroy(struct aps_clocked *clocked);

/* What a codec's kernels take of a core for a value, medians. */
void aps_clocked_codec(struct aps_clocked *clocked,
                       const struct aps_format *format,
                       struct aps_codec_rates *rates);

/* Seconds to copy a byte, and to add an FP32 value to a sum. */
double aps_clocked_copy(struct aps_clocked *clocked);
double aps_clocked_add(struct aps_clocked *clocked);

/* Seconds for a byte of vectors of so many floats, read or written, beyond those in
 * caches (struct aps_machine, `memory`). */
void aps_clocked_memory(struct aps_clocked *clocked,
                        double memory[APS_MEMORY_SIZES]);

/* How many times longer computing takes than it needs of a core, as others use it
 * too: of so many ranks a core, if all call this at the same time. */
double aps_clocked_oversubscription(void);

/* From host to host, where nobody says. */
#define APS_ASSUMED_LATENCY 2e-6

/* All that a machine is assumed to be where nobody has measured it; `copy` and
 * `add` are measured. */
void aps_machine_assume(struct aps_clocked *clocked,
                        struct aps_machine *machine);

/* Ranks that share cores: all that a core does takes `factor` times as long. */
void aps_machine_oversubscribe(struct aps_machine *machine, double factor);
void aps_codec_rates_oversubscribe(struct aps_codec_rates *rates,
                                   double factor);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the speed of this machine's cores, in some milliseconds for each
 * rate.
 */
#ifndef APS_PREDICT_CLOCKED_H
#define APS_PREDICT_CLOCKED_H

#include "number/format.h"
#include "predict/machine.h"

/* Memory for measurements: arrays of floats, such as a program's gradients, and
 * a message's bytes. */
struct aps_clocked;
struct aps_clocked *aps_clocked_create(void); /* NULL if memory is missing */
void aps_clocked_destroy(struct aps_clocked *clocked);

/* Sets the seconds of core time that a codec's kernels take for a value,
 * medians. */
void aps_clocked_codec(struct aps_clocked *clocked,
                       const struct aps_format *format,
                       struct aps_codec_rates *rates);

/* Return the seconds to copy a byte, and to add an FP32 value to a sum. */
double aps_clocked_copy(struct aps_clocked *clocked);
double aps_clocked_add(struct aps_clocked *clocked);

/* Sets the seconds for reading or writing a byte of vectors with
 * aps_memory_floats[], beyond those in caches (struct aps_machine,
 * `memory`). */
void aps_clocked_memory(struct aps_clocked *clocked,
                        double memory[APS_MEMORY_SIZES]);

/* Returns the time of a computation divided by its core time, while other
 * processes use the core too; if all ranks call it at once, the ranks per
 * core. */
double aps_clocked_oversubscription(void);

/* Between hosts, unless an option or a file states it. */
#define APS_ASSUMED_LATENCY 2e-6

/* Sets the assumptions about a machine that was not measured; `copy` and `add`
 * are measured. */
void aps_machine_assume(struct aps_clocked *clocked,
                        struct aps_machine *machine);

/* Multiplies all core times by `factor`, for ranks that share cores. */
void aps_machine_oversubscribe(struct aps_machine *machine, double factor);
void aps_codec_rates_oversubscribe(struct aps_codec_rates *rates,
                                   double factor);

#endif

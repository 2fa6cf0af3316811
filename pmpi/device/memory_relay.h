/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory backends that relay values through a piece of FP32 in host memory, where the
 * host's backend encodes and decodes them: for elements of other types than FP32, in
 * the host's or a GPU's memory, and for FP32 in GPU memory without the plugin's
 * kernels. A codec that takes elements of 16 bits (kernel/ops.h) does without that
 * piece. The wire bytes are those of the FP32 values.
 *
 * Elements of other types in GPU memory are encoded, decoded and measured there by the
 * plugin once it is open; what the plugin refuses is relayed.
 */
#ifndef APS_PMPI_DEVICE_MEMORY_RELAY_H
#define APS_PMPI_DEVICE_MEMORY_RELAY_H

#include "base/element.h"
#include "codec/memory.h"
#include "cuda/plugin.h"

/* Returns the backend for elements of that type. Results are rounded to nearest
 * even; those beyond fp16 become INF. Thread-safe. */
const struct aps_memory *aps_memory_relay(enum aps_element element);

/* The backend for elements of double in a wide format: copies are doubles, too. (The
 * codec of such a format takes doubles in any backend for them.) */
extern const struct aps_memory aps_memory_doubles;

/* Sets the plugin's function for elements in GPU memory. */
void aps_memory_relay_use(aps_cuda_elements_fn elements);

/* Returns the number of failed verbs of all these backends, and the cause of the
 * last, as struct aps_memory does. */
unsigned long aps_memory_relay_failures(char *cause, size_t size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory backend for buffers in a GPU's memory: the plugin's (cuda/plugin.h),
 * or, where the plugin cannot work, the driver's copies to the host
 * (memory_bounce.h). Both give the same wire bytes as the host's backend, so that
 * each rank chooses by itself.
 */
#ifndef APS_PMPI_DEVICE_DEVICE_H
#define APS_PMPI_DEVICE_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "codec/memory.h"
#include "device/gpu_driver.h"

/* The backend for GPUs, once it has been asked for, or NULL. */
extern const struct aps_memory *_Atomic aps_device_backend;

/* The backend for a call that has a buffer in a GPU's memory; another may be in
 * the host's. Opens the plugin at the first call. Thread-safe. */
const struct aps_memory *aps_device_open(void);

/* Why the plugin is not used; "" where it is, or nobody has asked for it. */
const char *aps_device_complaint(void);

/* The number of the device in whose memory both lie; -1: they do not. */
int aps_device_of(const void *in, const void *out);

/* May an MPI that takes GPUs' memory be given that device's here? It needs a
 * context of the device, which threads of ours have not; and a fiber goes on in
 * any thread. */
bool aps_device_is_current(int device);

/* May ranks of a node open each other's memory? The environment says. */
bool aps_device_is_shared(void);

/* Will there be buffers in a GPU's memory? As far as one can tell before the
 * first: the program has a driver at work. */
bool aps_device_is_expected(void);

/* What holds on all ranks of a communicator, as far as one can tell. */
enum aps_devices {
    APS_DEVICES_NONE,
    APS_DEVICES_EXPECTED, /* buffers in GPUs' memory */
    APS_DEVICES_AWARE     /* which MPI takes itself */
};

/* Does MPI take pointers to a GPU's memory itself? Thread-safe. */
bool aps_device_mpi_is_aware(void);

/* Those that were noted. */
unsigned long aps_device_losses(char *cause, size_t size);

/* How many verbs of the backend have failed so far; if any, and where cause has
 * room, why the last did. */
static inline unsigned long aps_device_failures(char *cause, size_t size)
{
    const struct aps_memory *backend =
        atomic_load_explicit(&aps_device_backend, memory_order_acquire);

    return backend && backend->failures
               ? backend->failures(cause, size) + aps_device_losses(cause, size)
               : 0;
}

/* Another rank's device has lost values of a call of ours: counts as a
 * failure. */
void aps_device_note_loss(void);

#endif

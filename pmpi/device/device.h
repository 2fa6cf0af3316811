/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory backend for buffers in a GPU's memory: the plugin's (cuda/plugin.h),
 * or, if the plugin cannot work, the driver's copies to the host
 * (memory_relay.h). They give the same wire bytes as the host's backend, so
 * each rank chooses by itself.
 */
#ifndef APS_PMPI_DEVICE_DEVICE_H
#define APS_PMPI_DEVICE_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "codec/memory.h"
#include "device/gpu_driver.h"

/* Backend for GPU memory; NULL before aps_device_open was called. */
extern const struct aps_memory *_Atomic aps_device_backend;

/* Returns the backend for a call that has a buffer in a GPU's memory; another
 * buffer may be in host memory. Opens the plugin at the first call.
 * Thread-safe. */
const struct aps_memory *aps_device_open(void);

/* Returns why the plugin is not used, or "" if it is used or was not needed
 * yet. */
const char *aps_device_complaint(void);

/* Returns the number of the device whose memory holds both buffers, or -1. */
int aps_device_of(const void *in, const void *out);

/* True if a CUDA-aware MPI may be called with memory of that device in this
 * thread. MPI needs a current context of the device. Progress threads have
 * none, and a fiber may continue in any thread. */
bool aps_device_is_current(int device);

/* True if the ranks of a node may open each other's GPU memory:
 * APSMPI_CUDA_IPC. */
bool aps_device_is_shared(void);

/* True if the program may use buffers in GPU memory: it has initialised the
 * CUDA driver. */
bool aps_device_is_expected(void);

/* Devices that all ranks of a communicator have agreed to expect. */
enum aps_devices {
    APS_DEVICES_NONE,
    APS_DEVICES_EXPECTED, /* buffers in GPU memory */
    APS_DEVICES_AWARE     /* buffers in GPU memory, and MPI is CUDA-aware */
};

/* True if MPI is CUDA-aware: it accepts pointers to GPU memory. Thread-safe. */
bool aps_device_mpi_is_aware(void);

/* Returns the number of calls of aps_device_note_loss. `cause` is as below. */
unsigned long aps_device_losses(char *cause, size_t size);

/* Returns the number of verbs of the backends that have failed so far. If it is
 * not 0, `cause` (`size` bytes) says why the last one failed. */
unsigned long aps_device_failures(char *cause, size_t size);

/* Notes that the device of another rank has lost values of a call of this rank.
 * Counts as a failure. */
void aps_device_note_loss(void);

#endif

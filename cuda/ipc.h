/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Device memory for other processes of this machine, by CUDA's handles. See
 * struct aps_device_memory.
 */
#ifndef APS_CUDA_IPC_H
#define APS_CUDA_IPC_H

#include <stdint.h>

#include <cuda_runtime_api.h>

#include "codec/memory.h"

/* Bytes of a token. A handle names a whole allocation, and cannot be opened in
 * the process that made it. */
struct aps_cuda_token {
    char magic[8];
    uint64_t process; /* a number for the owner: process ids are not unique
                         across containers */
    uint64_t pid;
    uint64_t offset; /* offset of the memory in the allocation, ... */
    uint64_t bytes;  /* ... and length of the allocation */
    cudaIpcMemHandle_t handle;
};

int aps_cuda_offer(void *memory, struct aps_memory_token *token, char *cause,
                   size_t size);
void *aps_cuda_open(const struct aps_memory_token *token, const void *near,
                    char *cause, size_t size);
void aps_cuda_close(void *opened);

#endif

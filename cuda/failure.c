/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cuda/failure.h"

#include <stdatomic.h>

#include "base/failures.h"
#include "base/message.h"

static struct aps_failures failures = APS_FAILURES_NONE;
static atomic_ullong detours;
aps_cuda_tell_fn aps_cuda_tell;

void aps_cuda_failure_note(const char *verb, const char *cause)
{
    aps_failures_note(&failures, "%s: %s", verb, cause);
}

void aps_cuda_failure_check(const char *verb, cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorCudartUnloading &&
        error != cudaErrorContextIsDestroyed)
        aps_cuda_failure_note(verb, cudaGetErrorString(error));
}

unsigned long aps_cuda_failure_count(char *cause, size_t size)
{
    return aps_failures_count(&failures, cause, size);
}

void aps_cuda_detour_note(const char *verb, const char *cause)
{
    unsigned long long times = atomic_fetch_add(&detours, 1) + 1;

    if (aps_cuda_tell && aps_message_is_due(times))
        aps_cuda_tell(-1,
                      "cuda: %s on the device: %s: it goes through the host, "
                      "slowly (%llu so far)",
                      verb, cause, times);
}

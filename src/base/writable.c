/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/writable.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The kernel atomically adds no bits to the aligned word that holds the byte:
 * this changes nothing, and fails with EFAULT if the word cannot be written. An
 * aligned word does not cross a page. No thread waits on this futex, so none is
 * woken.
 */
static bool writable_at(uintptr_t address)
{
    const int operation = FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0);
    const uintptr_t word = address & ~(uintptr_t)(sizeof(uint32_t) - 1);
    const int saved = errno;
    uint32_t mine = 0;
    bool writable = true;

    if (syscall(SYS_futex, &mine, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 1, NULL,
                (void *)word, operation) < 0)
        writable = errno != EFAULT;
    errno = saved;
    return writable;
}

bool aps_memory_is_writable(const void *bytes, size_t size)
{
    const uintptr_t first = (uintptr_t)bytes;

    return writable_at(first) && writable_at(first + size - 1);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * aps_memory_is_writable: its result for memory of each kind; it changes nothing.
 */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/writable.h"
#include "tests/tap/tap.h"

static const float constant[4] = {1, 2, 3, 4};

int main(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    float values[5] = {1.5F, -2, 0, 3, -0.0F}, copy[5];
    float *heap = malloc(100 * sizeof *heap);

    if (pages == MAP_FAILED || !heap)
        bail_out("out of memory");
    memcpy(copy, values, sizeof copy);
    errno = 7;
    ok(aps_memory_is_writable(values, sizeof values), "the stack");
    ok(memcmp(copy, values, sizeof copy) == 0, "... and nothing is changed");
    ok(aps_memory_is_writable((char *)values + 1, 3), "at any address");
    ok(aps_memory_is_writable(heap, 100 * sizeof *heap),
       "the heap, before it was written");
    ok(!aps_memory_is_writable(constant, sizeof constant), "a constant: no");
    ok(errno == 7, "errno stays");
    ok(aps_memory_is_writable(pages, 3 * page), "pages not touched yet");
    mprotect(pages + 2 * page, page, PROT_READ);
    ok(aps_memory_is_writable(pages, 2 * page), "up to a page that is not");
    ok(!aps_memory_is_writable(pages, 2 * page + 1), "into it: no");
    ok(!aps_memory_is_writable(pages + 2 * page, page), "that page alone: no");
    mprotect(pages, page, PROT_NONE);
    ok(!aps_memory_is_writable(pages + page - 1, page),
       "from no memory on: no");
    ok(pages[page] == 0 && pages[2 * page] == 0, "... and nothing is changed");
    munmap(pages, 3 * page);
    free(heap);
    return done_testing();
}

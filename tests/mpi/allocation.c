/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * After the first step the library allocates nothing: the program defines
 * malloc, calloc and the like, and counts the calls from libapsmpi.so. An
 * argument is a number of calls, after which the heap must have its old size.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

#define EXPORT __attribute__((visibility("default")))
#define LONGEST 700000

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static uintptr_t library_begin, library_end;
static unsigned long allocations;
static uintptr_t last_caller;

#define NOTE_CALLER()                                                          \
    do {                                                                       \
        uintptr_t caller_ = (uintptr_t)__builtin_return_address(0);            \
        if (caller_ >= library_begin && caller_ < library_end) {               \
            allocations++;                                                     \
            last_caller = caller_;                                             \
        }                                                                      \
    } while (0)

EXPORT void *malloc(size_t size)
{
    NOTE_CALLER();
    return __libc_malloc(size);
}

EXPORT void *calloc(size_t count, size_t size)
{
    NOTE_CALLER();
    return __libc_calloc(count, size);
}

EXPORT void *realloc(void *old, size_t size)
{
    NOTE_CALLER();
    return __libc_realloc(old, size);
}

EXPORT void *memalign(size_t alignment, size_t size)
{
    NOTE_CALLER();
    return __libc_memalign(alignment, size);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    NOTE_CALLER();
    return __libc_memalign(alignment, size);
}

EXPORT int posix_memalign(void **memory, size_t alignment, size_t size)
{
    NOTE_CALLER();
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

static int find_library(struct dl_phdr_info *info, size_t size, void *data)
{
    const char *slash = strrchr(info->dlpi_name, '/');

    (void)size, (void)data;
    if (!slash || strcmp(slash, "/libapsmpi.so") != 0)
        return 0;
    library_begin = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + header->p_vaddr;

        if (header->p_type != PT_LOAD)
            continue;
        if (begin < library_begin)
            library_begin = begin;
        if (begin + header->p_memsz > library_end)
            library_end = begin + header->p_memsz;
    }
    return 1;
}

static const int counts[] = {1, 64, 1025, LONGEST, 64};
#define CALLS ((int)(sizeof counts / sizeof *counts))

static float *in, *out;

static void run_step(void)
{
    for (int i = 0; i < CALLS; i++) {
        MPI_Allreduce(in, out, counts[i], MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, out, counts[i], MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
    }
}

static void test_steps(void)
{
    const int steps = 4;
    unsigned long first;

    ok_all(library_end > library_begin, "the library is here");
    run_step();
    first = allocations;
    ok_all(first > 0, "the first step allocates, and that is noticed");
    for (int i = 0; i < steps; i++)
        run_step();
    if (allocations != first)
        diag("rank %d: %lu allocations, the last from libapsmpi.so+%#lx",
             mpitap_rank(), allocations - first,
             (unsigned long)(last_caller - library_begin));
    ok_all(allocations == first, "the steps after it allocate nothing");
    expect_rewritten(2ul * CALLS * (unsigned)(steps + 1));
}

/* MPICH's own pools grow by some KiB now and then; a leak in every call would
 * be at least 32 bytes. */
static void test_many(long calls)
{
    size_t before = 0, after;
    unsigned long first = 0;

    for (long i = 0; i < calls; i++) {
        MPI_Allreduce(in, out, 64, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        if (i == calls / 10) {
            before = mallinfo2().uordblks;
            first = allocations;
        }
    }
    after = mallinfo2().uordblks;
    if (after > before)
        diag("rank %d: %zu bytes in use after %ld calls, %zu after %ld",
             mpitap_rank(), before, calls / 10, after, calls);
    ok_all(after < before + (size_t)calls, "the heap does not grow");
    ok_all(allocations == first, "nothing is allocated");
    expect_rewritten((unsigned long)calls);
}

int main(int argc, char **argv)
{
    const long calls = argc > 1 ? atol(argv[1]) : 0;
    int status;

    dl_iterate_phdr(find_library, NULL);
    MPI_Init(&argc, &argv);
    mpitap_begin();
    in = calloc(LONGEST, sizeof *in);
    out = calloc(LONGEST, sizeof *out);
    if (calls > 0)
        test_many(calls);
    else
        test_steps();
    free(in);
    free(out);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

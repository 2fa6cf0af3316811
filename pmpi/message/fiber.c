/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "message/fiber.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "message/fiber_notes.h"

/* MPI's progress, its transports and a GPU's driver run on this stack.
 * Untouched pages cost no memory. */
#define STACK_BYTES ((size_t)1024 * 1024)

struct aps_fiber {
    ucontext_t self;
    ucontext_t caller; /* context of the last resume */
    void (*run)(void *argument);
    void *argument;
    char *stack; /* the lowest page is a guard page */
    size_t mapped;
    struct aps_fiber_notes notes;
};

static _Thread_local struct aps_fiber *current;

/* makecontext passes ints only, so a pointer takes two. */
static void fiber_begin(unsigned high, unsigned low)
{
    struct aps_fiber *fiber =
        (void *)(((uintptr_t)high << 16 << 16) | (uintptr_t)low);

    aps_fiber_notes_yielded(&fiber->notes);
    fiber->run(fiber->argument);
    abort(); /* `run` must not return: the fiber has no caller */
}

static int fiber_prepare(struct aps_fiber *fiber, size_t guard)
{
    const uintptr_t address = (uintptr_t)fiber;

    if (mprotect(fiber->stack, guard, PROT_NONE) < 0 ||
        getcontext(&fiber->self) < 0)
        return -1;
    fiber->self.uc_stack.ss_sp = fiber->stack + guard;
    fiber->self.uc_stack.ss_size = STACK_BYTES;
    fiber->self.uc_link = NULL;
    makecontext(&fiber->self, (void (*)(void))(void *)fiber_begin, 2,
                (unsigned)(address >> 16 >> 16), (unsigned)address);
    aps_fiber_notes_create(&fiber->notes, fiber->stack + guard, STACK_BYTES);
    return 0;
}

struct aps_fiber *aps_fiber_create(void (*run)(void *argument), void *argument)
{
    const size_t guard = (size_t)sysconf(_SC_PAGESIZE);
    struct aps_fiber *fiber = calloc(1, sizeof *fiber);

    if (!fiber)
        return NULL;
    fiber->run = run;
    fiber->argument = argument;
    fiber->mapped = guard + STACK_BYTES;
    fiber->stack = mmap(NULL, fiber->mapped, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fiber->stack == MAP_FAILED)
        goto free_fiber;
    if (fiber_prepare(fiber, guard) == 0)
        return fiber;
    munmap(fiber->stack, fiber->mapped);
free_fiber:
    free(fiber);
    return NULL;
}

void aps_fiber_destroy(struct aps_fiber *fiber)
{
    if (!fiber)
        return;
    aps_fiber_notes_destroy(&fiber->notes);
    munmap(fiber->stack, fiber->mapped);
    free(fiber);
}

void aps_fiber_resume(struct aps_fiber *fiber)
{
    current = fiber;
    /* The fiber continues with the signal mask that this thread has now. */
    pthread_sigmask(SIG_SETMASK, NULL, &fiber->self.uc_sigmask);
    aps_fiber_notes_resume(&fiber->notes);
    swapcontext(&fiber->caller, &fiber->self);
    aps_fiber_notes_resumed(&fiber->notes);
    current = NULL;
}

void aps_fiber_yield(void)
{
    struct aps_fiber *fiber = current;

    aps_fiber_notes_yield(&fiber->notes);
    swapcontext(&fiber->self, &fiber->caller);
    aps_fiber_notes_yielded(&fiber->notes);
}

/* Not inlined, so that each call reads the variable of the current thread. */
__attribute__((noinline)) bool aps_fiber_inside(void)
{
    return current != NULL;
}

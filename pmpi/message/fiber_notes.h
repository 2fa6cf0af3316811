/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells valgrind and the sanitizers about the stacks of fibers, if their headers
 * were there. Otherwise they take a switch of stacks for thousands of errors.
 * Nothing here changes what a fiber does.
 */
#ifndef APS_PMPI_MESSAGE_FIBER_NOTES_H
#define APS_PMPI_MESSAGE_FIBER_NOTES_H

#include <stddef.h>

#ifdef HAVE_VALGRIND_VALGRIND_H
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(begin, end) 0
#define VALGRIND_STACK_DEREGISTER(id) (void)(id)
#endif

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#define FIBER_NOTES_LEAVE(fake, stack, bytes)                                  \
    __sanitizer_start_switch_fiber(fake, stack, bytes)
#define FIBER_NOTES_ARRIVE(fake, stack, bytes)                                 \
    __sanitizer_finish_switch_fiber(fake, stack, bytes)
#else
#define FIBER_NOTES_LEAVE(fake, stack, bytes) (void)(fake)
#define FIBER_NOTES_ARRIVE(fake, stack, bytes) (void)(fake)
#define __lsan_register_root_region(stack, bytes) (void)(stack)
#define __lsan_unregister_root_region(stack, bytes) (void)(stack)
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#else
#define __tsan_create_fiber(flags) NULL
#define __tsan_destroy_fiber(fiber) (void)(fiber)
#define __tsan_get_current_fiber() NULL
#define __tsan_switch_to_fiber(fiber, flags) (void)(fiber)
#endif

struct aps_fiber_notes {
    const void *stack, *caller_stack;
    size_t bytes, caller_bytes;
    void *fake, *caller_fake;     /* stacks of the address sanitizer */
    void *thread, *caller_thread; /* fibers of the thread sanitizer */
    unsigned id;                  /* the stack's number in valgrind */
};

static inline void aps_fiber_notes_create(struct aps_fiber_notes *notes,
                                          const char *stack, size_t bytes)
{
    notes->stack = stack;
    notes->bytes = bytes;
    notes->id = VALGRIND_STACK_REGISTER(stack, stack + bytes);
    notes->thread = __tsan_create_fiber(0);
    __lsan_register_root_region(stack, bytes);
}

static inline void aps_fiber_notes_destroy(struct aps_fiber_notes *notes)
{
    VALGRIND_STACK_DEREGISTER(notes->id);
    __tsan_destroy_fiber(notes->thread);
    __lsan_unregister_root_region(notes->stack, notes->bytes);
}

/* Before and after a switch to the fiber, on the caller's stack. */
static inline void aps_fiber_notes_resume(struct aps_fiber_notes *notes)
{
    notes->caller_thread = __tsan_get_current_fiber();
    FIBER_NOTES_LEAVE(&notes->caller_fake, notes->stack, notes->bytes);
    __tsan_switch_to_fiber(notes->thread, 0);
}

static inline void aps_fiber_notes_resumed(struct aps_fiber_notes *notes)
{
    FIBER_NOTES_ARRIVE(notes->caller_fake, NULL, NULL);
}

/* Before and after a switch to the caller, on the fiber's stack. The fiber also
 * begins after one. */
static inline void aps_fiber_notes_yield(struct aps_fiber_notes *notes)
{
    FIBER_NOTES_LEAVE(&notes->fake, notes->caller_stack, notes->caller_bytes);
    __tsan_switch_to_fiber(notes->caller_thread, 0);
}

static inline void aps_fiber_notes_yielded(struct aps_fiber_notes *notes)
{
    FIBER_NOTES_ARRIVE(notes->fake, &notes->caller_stack, &notes->caller_bytes);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library to preload before libapsmpi.so that makes calls of MPI fail or come late,
 * and counts them. It catches the PMPI_ functions that libapsmpi.so or the program
 * apsmpi-measure calls, and passes on calls from elsewhere. In the environment:
 *
 *     INJECT=fail:PMPI_Isend:1:3,late:PMPI_Irecv:0:2:10
 *
 * the third PMPI_Isend of rank 1 of MPI_COMM_WORLD returns MPI_ERR_OTHER and
 * does nothing else; the second PMPI_Irecv of rank 0 comes ten seconds late. The
 * rank `*` stands for all ranks. Functions with and without _c count as one. Three
 * names are not functions of MPI: `allocation` is malloc and its like, `memfd_create`
 * says EACCES, and `pthread_create` EAGAIN.
 *
 *     INJECT=garble:tag2:1:3:255,cut:tag0:1:5
 *
 * the third message of kind 2 (enum aps_tag) from rank 1 consists of bytes 255, and its
 * fifth message of kind 0 ends in its middle.
 *
 *     INJECT_REPORT=1
 *
 * prints at the end of each process how often libapsmpi.so called each function, and
 * how many messages of each kind it sent.
 *
 * A program finds these functions by dlsym(RTLD_DEFAULT, ...), or does not:
 *
 *     long inject_count(const char *function);  calls so far; "": all that
 *                                               make a communicator
 *     void inject_arm(const char *function, long call, long times);
 *                   call number `call` of this process from now on fails,
 *                   and the following ones, `times` in all
 *     long inject_disarm(void);  ends this; returns the number of failed calls
 */
/* This file defines functions of glibc under their present names. */
#define APS_BASE_GLIBC_H
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "message/vcomm.h"

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

enum inject_function {
    INJECT_ISEND,
    INJECT_IRECV,
    INJECT_IALLREDUCE,
    INJECT_TESTALL,
    INJECT_ALLOCATION,
    INJECT_MEMFD_CREATE,
    INJECT_PTHREAD_CREATE,
    INJECT_COMM_DUP, /* the first that makes a communicator */
    INJECT_COMM_DUP_WITH_INFO,
    INJECT_COMM_IDUP,
    INJECT_COMM_SPLIT,
    INJECT_COMM_SPLIT_TYPE,
    INJECT_COMM_CREATE,
    INJECT_COMM_CREATE_GROUP,
    INJECT_CREATE_KEYVAL,
    INJECT_SET_ATTR,
    INJECT_FUNCTIONS
};

static const char *const inject_names[INJECT_FUNCTIONS] = {
    "PMPI_Isend",
    "PMPI_Irecv",
    "PMPI_Iallreduce",
    "PMPI_Testall",
    "allocation",
    "memfd_create",
    "pthread_create",
    "PMPI_Comm_dup",
    "PMPI_Comm_dup_with_info",
    "PMPI_Comm_idup",
    "PMPI_Comm_split",
    "PMPI_Comm_split_type",
    "PMPI_Comm_create",
    "PMPI_Comm_create_group",
    "PMPI_Comm_create_keyval",
    "PMPI_Comm_set_attr",
};

static atomic_long inject_calls[INJECT_FUNCTIONS];
static atomic_long inject_sent[APS_TAGS];

static const char *inject_rank(void)
{
    const char *rank = getenv("PMI_RANK"); /* in sessions, too */

    if (!rank)
        rank = getenv("OMPI_COMM_WORLD_RANK");
    return rank ? rank : "0";
}

EXPORT long inject_count(const char *function);

long inject_count(const char *function)
{
    long count = 0;

    for (int i = 0; i < INJECT_FUNCTIONS; i++)
        if (*function ? strcmp(function, inject_names[i]) == 0
                      : i >= INJECT_COMM_DUP && i < INJECT_CREATE_KEYVAL)
            count += inject_calls[i];
    return count;
}

__attribute__((destructor)) static void inject_report(void)
{
    const char *report = getenv("INJECT_REPORT");

    if (!report || !*report)
        return;
    for (int i = 0; i < INJECT_FUNCTIONS; i++)
        if (inject_calls[i] > 0)
            fprintf(stderr, "# inject: %s was called %ld times\n",
                    inject_names[i], (long)inject_calls[i]);
    for (int i = 0; i < APS_TAGS; i++)
        if (inject_sent[i] > 0)
            fprintf(stderr, "# inject: rank %s sent %ld messages of tag%d\n",
                    inject_rank(), (long)inject_sent[i], i);
}

/* --- orders from the environment ------------------------------------------ */

struct inject_order {
    enum { LATE, FAILS, GARBLES, CUTS } kind;
    char function[32];
    char rank[16];
    long call;
    long argument; /* seconds of a delay; garbled bytes */
};

/* Reads the order at *text, and moves *text to its end; false: there is none. */
static bool inject_next_order(const char **text, struct inject_order *order)
{
    char kind[8];
    int length = 0;

    *order = (struct inject_order){.argument = 0};
    if (sscanf(*text, "%7[a-z]:%31[A-Za-z_0-9]:%15[0-9*]:%ld%n", kind,
               order->function, order->rank, &order->call, &length) != 4)
        return false;
    *text += length;
    order->kind = strcmp(kind, "fail") == 0     ? FAILS
                  : strcmp(kind, "garble") == 0 ? GARBLES
                  : strcmp(kind, "cut") == 0    ? CUTS
                                                : LATE;
    if (**text == ':')
        order->argument = strtol(*text + 1, (char **)text, 10);
    if (**text == ',')
        ++*text;
    return true;
}

static bool inject_is_for(const struct inject_order *order, const char *name,
                          long call)
{
    return call == order->call && strcmp(order->function, name) == 0 &&
           (strcmp(order->rank, "*") == 0 ||
            strcmp(order->rank, inject_rank()) == 0);
}

/* --- orders from the program ---------------------------------------------- */

static atomic_int inject_armed = -1; /* the function; -1: none */
static atomic_long inject_countdown, inject_times, inject_armed_failures;

EXPORT void inject_arm(const char *function, long call, long times);
EXPORT long inject_disarm(void);

void inject_arm(const char *function, long call, long times)
{
    inject_countdown = call;
    inject_times = times;
    inject_armed_failures = 0;
    for (int i = 0; i < INJECT_FUNCTIONS; i++)
        if (strcmp(function, inject_names[i]) == 0)
            inject_armed = i;
}

long inject_disarm(void)
{
    inject_armed = -1;
    return inject_armed_failures;
}

static bool inject_fails_now(enum inject_function function)
{
    if (inject_armed != (int)function || --inject_countdown > 0)
        return false;
    if (++inject_armed_failures == inject_times)
        inject_armed = -1;
    return true;
}

/* --- one call ------------------------------------------------------------- */

/* libapsmpi.so, or apsmpi-measure, in memory */
static uintptr_t inject_begin, inject_end;

/* The program has no name there, and comes first. */
static bool inject_is_caller(const char *name)
{
    const char *slash = strrchr(name, '/');

    return strcmp(slash ? slash : name, "/libapsmpi.so") == 0 ||
           (*name == '\0' &&
            strcmp(program_invocation_short_name, "apsmpi-measure") == 0);
}

static int inject_find_library(struct dl_phdr_info *info, size_t size,
                               void *nothing)
{
    (void)size;
    (void)nothing;
    if (!inject_is_caller(info->dlpi_name))
        return 0;
    inject_begin = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const uintptr_t end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr +
                              info->dlpi_phdr[i].p_memsz;

        if (end > inject_end)
            inject_end = end;
    }
    return 1;
}

__attribute__((constructor)) static void inject_open(void)
{
    dl_iterate_phdr(inject_find_library, NULL);
}

/* True if the address is in libapsmpi.so or apsmpi-measure. */
static bool inject_is_ours(const void *address)
{
    return (uintptr_t)address >= inject_begin &&
           (uintptr_t)address < inject_end;
}

/* Counts a call from `caller`, and delays it. True if the call must fail. */
static bool inject(enum inject_function function, const void *caller)
{
    const char *text = getenv("INJECT");
    struct inject_order order;
    bool fails = false;
    long call;

    if (!inject_is_ours(caller))
        return false;
    call = ++inject_calls[function];
    fails = inject_fails_now(function);
    while (text && inject_next_order(&text, &order)) {
        if (!inject_is_for(&order, inject_names[function], call))
            continue;
        fprintf(stderr, "# inject: %s of %s number %ld\n",
                order.kind == FAILS ? "failure" : "delay", order.function,
                call);
        if (order.kind == FAILS)
            fails = true;
        else
            nanosleep(&(struct timespec){.tv_sec = order.argument}, NULL);
    }
    return fails;
}

/* --- the functions -------------------------------------------------------- */

/* NAME with its parameters and arguments in parentheses. */
#define INJECT(FUNCTION, NAME, PARAMETERS, ARGUMENTS)                          \
    EXPORT int NAME PARAMETERS                                                 \
    {                                                                          \
        static int(*next) PARAMETERS;                                          \
                                                                               \
        if (!next)                                                             \
            *(void **)&next = dlsym(RTLD_NEXT, #NAME);                         \
        return inject(FUNCTION, CALLER) ? MPI_ERR_OTHER : next ARGUMENTS;      \
    }

/* Counts a message of *count bytes. Returns the bytes that are sent in its place. */
static const void *inject_damage(const void *buffer, MPI_Count *count, int tag,
                                 const void *caller)
{
    const char *text = getenv("INJECT");
    struct inject_order order;
    char name[16];
    long message;

    if (!inject_is_ours(caller))
        return buffer;
    snprintf(name, sizeof name, "tag%d", tag % APS_TAGS);
    message = ++inject_sent[tag % APS_TAGS];
    while (text && inject_next_order(&text, &order)) {
        if (!inject_is_for(&order, name, message))
            continue;
        fprintf(stderr, "# inject: message %ld of %s, %ld bytes, is damaged\n",
                message, name, (long)*count);
        if (order.kind == CUTS)
            *count /= 2;
        else
            buffer = memset(__libc_malloc((size_t)*count + 1),
                            (int)order.argument, (size_t)*count);
    }
    return buffer;
}

/* With a count of type COUNT. */
#define INJECT_SEND(NAME, COUNT)                                               \
    EXPORT int NAME(const void *buffer, COUNT count, MPI_Datatype type,        \
                    int rank, int tag, MPI_Comm comm, MPI_Request *request)    \
    {                                                                          \
        static int (*next)(const void *, COUNT, MPI_Datatype, int, int,        \
                           MPI_Comm, MPI_Request *);                           \
        MPI_Count bytes = count;                                               \
                                                                               \
        if (!next)                                                             \
            *(void **)&next = dlsym(RTLD_NEXT, #NAME);                         \
        if (inject(INJECT_ISEND, CALLER))                                      \
            return MPI_ERR_OTHER;                                              \
        buffer = inject_damage(buffer, &bytes, tag, CALLER);                   \
        return next(buffer, (COUNT)bytes, type, rank, tag, comm, request);     \
    }

INJECT_SEND(PMPI_Isend, int)
INJECT(INJECT_IRECV, PMPI_Irecv,
       (void *buffer, int count, MPI_Datatype type, int rank, int tag,
        MPI_Comm comm, MPI_Request *request),
       (buffer, count, type, rank, tag, comm, request))
INJECT(INJECT_IALLREDUCE, PMPI_Iallreduce,
       (const void *send, void *receive, int count, MPI_Datatype type,
        MPI_Op op, MPI_Comm comm, MPI_Request *request),
       (send, receive, count, type, op, comm, request))
INJECT(INJECT_CREATE_KEYVAL, PMPI_Comm_create_keyval,
       (MPI_Comm_copy_attr_function * copy, MPI_Comm_delete_attr_function *end,
        int *key, void *state),
       (copy, end, key, state))
INJECT(INJECT_SET_ATTR, PMPI_Comm_set_attr,
       (MPI_Comm comm, int key, void *value), (comm, key, value))
INJECT(INJECT_TESTALL, PMPI_Testall,
       (int count, MPI_Request requests[], int *done, MPI_Status statuses[]),
       (count, requests, done, statuses))
INJECT(INJECT_COMM_DUP, PMPI_Comm_dup, (MPI_Comm comm, MPI_Comm *copy),
       (comm, copy))
INJECT(INJECT_COMM_DUP_WITH_INFO, PMPI_Comm_dup_with_info,
       (MPI_Comm comm, MPI_Info info, MPI_Comm *copy), (comm, info, copy))
INJECT(INJECT_COMM_IDUP, PMPI_Comm_idup,
       (MPI_Comm comm, MPI_Comm *copy, MPI_Request *request),
       (comm, copy, request))
INJECT(INJECT_COMM_SPLIT, PMPI_Comm_split,
       (MPI_Comm comm, int colour, int key, MPI_Comm *part),
       (comm, colour, key, part))
INJECT(INJECT_COMM_SPLIT_TYPE, PMPI_Comm_split_type,
       (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *part),
       (comm, type, key, info, part))
INJECT(INJECT_COMM_CREATE, PMPI_Comm_create,
       (MPI_Comm comm, MPI_Group group, MPI_Comm *part), (comm, group, part))
INJECT(INJECT_COMM_CREATE_GROUP, PMPI_Comm_create_group,
       (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *part),
       (comm, group, tag, part))

#if MPI_VERSION >= 4
INJECT_SEND(PMPI_Isend_c, MPI_Count)
INJECT(INJECT_IRECV, PMPI_Irecv_c,
       (void *buffer, MPI_Count count, MPI_Datatype type, int rank, int tag,
        MPI_Comm comm, MPI_Request *request),
       (buffer, count, type, rank, tag, comm, request))
INJECT(INJECT_IALLREDUCE, PMPI_Iallreduce_c,
       (const void *send, void *receive, MPI_Count count, MPI_Datatype type,
        MPI_Op op, MPI_Comm comm, MPI_Request *request),
       (send, receive, count, type, op, comm, request))
#endif

/* --- memory, threads ------------------------------------------------------ */

EXPORT int memfd_create(const char *name, unsigned flags)
{
    int (*next)(const char *, unsigned);

    if (inject(INJECT_MEMFD_CREATE, CALLER)) {
        errno = EACCES;
        return -1;
    }
    *(void **)&next = dlsym(RTLD_NEXT, "memfd_create");
    return next(name, flags);
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    if (inject(INJECT_PTHREAD_CREATE, CALLER))
        return EAGAIN;
    *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    return next(thread, attributes, run, argument);
}

/* those of a sanitizer, in a program that was built with it */
#pragma weak __interceptor_malloc
#pragma weak __interceptor_calloc
#pragma weak __interceptor_realloc
#pragma weak __interceptor_memalign
extern void *__interceptor_malloc(size_t size);
extern void *__interceptor_calloc(size_t count, size_t size);
extern void *__interceptor_realloc(void *old, size_t size);
extern void *__interceptor_memalign(size_t alignment, size_t size);
#define NEXT(name) (__interceptor_##name ? __interceptor_##name : __libc_##name)

EXPORT void *malloc(size_t size)
{
    return inject(INJECT_ALLOCATION, CALLER) ? NULL : NEXT(malloc)(size);
}

EXPORT void *calloc(size_t count, size_t size)
{
    return inject(INJECT_ALLOCATION, CALLER) ? NULL : NEXT(calloc)(count, size);
}

EXPORT void *realloc(void *old, size_t size)
{
    return inject(INJECT_ALLOCATION, CALLER) ? NULL : NEXT(realloc)(old, size);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    return inject(INJECT_ALLOCATION, CALLER) ? NULL
                                             : NEXT(memalign)(alignment, size);
}

EXPORT int posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (inject(INJECT_ALLOCATION, CALLER))
        return ENOMEM;
    *memory = NEXT(memalign)(alignment, size);
    return *memory ? 0 : ENOMEM;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library to preload in front of libapsmpi.so that lets calls of MPI fail or
 * come late, and counts them. It catches the PMPI_ functions that libapsmpi.so
 * calls, or the program apsmpi-measure; calls that come from elsewhere it passes on.
 * In the environment:
 *
 *     INJECT=fail:PMPI_Isend:1:3,late:PMPI_Irecv:0:2:10
 *
 * the third PMPI_Isend of rank 1 of MPI_COMM_WORLD returns MPI_ERR_OTHER and
 * does nothing else; the second PMPI_Irecv of rank 0 comes ten seconds late. With
 * `spoil` in place of `fail` the call takes place before it returns the error. The
 * rank `*` stands for all ranks. Functions with and without _c count as one. Five
 * names are no functions of MPI: `allocation` is malloc and its like, `shm_open` says
 * EACCES, `pthread_create` EAGAIN, `receipt` is a PMPI_Testall that has completed
 * requests, and then returns an error, and `completion` is the request of a
 * PMPI_Comm_idup, which completes with MPI_ERR_OTHER.
 *
 *     INJECT_REPORT=1
 *
 * says at the end of each process how often libapsmpi.so called each function.
 *
 * A program finds these functions by dlsym(RTLD_DEFAULT, ...), or does not:
 *
 *     long inject_count(const char *function);  calls so far, "" for all that
 *                                               make a communicator
 *     long inject_failures(void);               calls that were made to fail
 *     void inject_arm(const char *function, long call, long times);
 *                   of the calls from now on number `call` of this process fails,
 *                   and those after it, so many in all
 *     long inject_disarm(void);     no more fail; how many have
 */
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

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

enum inject_function {
    INJECT_ISEND,
    INJECT_IRECV,
    INJECT_IALLREDUCE,
    INJECT_IBCAST,
    INJECT_IBARRIER,
    INJECT_TEST,
    INJECT_TESTALL,
    INJECT_RECEIPT, /* not a function: a PMPI_Testall that completes requests */
    INJECT_ALLOCATION,
    INJECT_SHM_OPEN,
    INJECT_PTHREAD_CREATE,
    INJECT_COMM_DUP, /* the first that makes a communicator */
    INJECT_COMM_DUP_WITH_INFO,
    INJECT_COMM_IDUP,
    INJECT_COMM_SPLIT,
    INJECT_COMM_SPLIT_TYPE,
    INJECT_COMM_CREATE,
    INJECT_COMM_CREATE_GROUP,
    INJECT_COMPLETION, /* not a function: the request of a PMPI_Comm_idup */
    INJECT_CREATE_KEYVAL,
    INJECT_SET_ATTR,
    INJECT_FUNCTIONS
};

static const char *const inject_names[INJECT_FUNCTIONS] = {
    "PMPI_Isend",
    "PMPI_Irecv",
    "PMPI_Iallreduce",
    "PMPI_Ibcast",
    "PMPI_Ibarrier",
    "PMPI_Test",
    "PMPI_Testall",
    "receipt",
    "allocation",
    "shm_open",
    "pthread_create",
    "PMPI_Comm_dup",
    "PMPI_Comm_dup_with_info",
    "PMPI_Comm_idup",
    "PMPI_Comm_split",
    "PMPI_Comm_split_type",
    "PMPI_Comm_create",
    "PMPI_Comm_create_group",
    "completion",
    "PMPI_Comm_create_keyval",
    "PMPI_Comm_set_attr",
};

static atomic_long inject_calls[INJECT_FUNCTIONS];
static atomic_long inject_failed;

EXPORT long inject_count(const char *function);
EXPORT long inject_failures(void);

long inject_count(const char *function)
{
    long count = 0;

    for (int i = 0; i < INJECT_FUNCTIONS; i++)
        if (*function ? strcmp(function, inject_names[i]) == 0
                      : i >= INJECT_COMM_DUP && i < INJECT_COMPLETION)
            count += inject_calls[i];
    return count;
}

long inject_failures(void)
{
    return inject_failed;
}

__attribute__((destructor)) static void inject_report(void)
{
    const char *report = getenv("INJECT_REPORT");

    if (!report || !*report)
        return;
    for (int i = 0; i < INJECT_FUNCTIONS; i++)
        if (inject_calls[i] > 0 && i != INJECT_COMPLETION)
            fprintf(stderr, "# inject: %s was called %ld times\n",
                    inject_names[i], (long)inject_calls[i]);
}

/* --- what the environment asks for ---------------------------------------- */

struct inject_order {
    enum { LATE, FAILS, SPOILT } kind;
    char function[32];
    char rank[16];
    long call;
    long seconds;
};

/* The order at *text, which moves behind it; false: there is none. */
static bool inject_next_order(const char **text, struct inject_order *order)
{
    char kind[8];
    int length = 0;

    *order = (struct inject_order){.seconds = 0};
    if (sscanf(*text, "%7[a-z]:%31[A-Za-z_]:%15[0-9*]:%ld%n", kind,
               order->function, order->rank, &order->call, &length) != 4)
        return false;
    *text += length;
    order->kind = strcmp(kind, "fail") == 0    ? FAILS
                  : strcmp(kind, "spoil") == 0 ? SPOILT
                                               : LATE;
    if (**text == ':')
        order->seconds = strtol(*text + 1, (char **)text, 10);
    if (**text == ',')
        ++*text;
    return true;
}

static bool inject_is_for(const struct inject_order *order,
                          enum inject_function function, long call)
{
    const char *me = getenv("PMI_RANK"); /* in sessions, too */

    if (!me)
        me = getenv("OMPI_COMM_WORLD_RANK");
    return call == order->call &&
           strcmp(order->function, inject_names[function]) == 0 &&
           (strcmp(order->rank, "*") == 0 ||
            strcmp(order->rank, me ? me : "0") == 0);
}

/* --- what the program asks for -------------------------------------------- */

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

/* The program is what has no name there, and comes first. */
static bool inject_is_caller(const char *name)
{
    return strstr(name, "libapsmpi.so") ||
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

/* Is the address in there? */
static bool inject_is_ours(const void *address)
{
    return (uintptr_t)address >= inject_begin &&
           (uintptr_t)address < inject_end;
}

/* The call of this thread that goes on is spoilt. */
static _Thread_local bool inject_spoils;

/* A call from `caller`: counts it, is late, and true if it is to fail. */
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
        if (!inject_is_for(&order, function, call))
            continue;
        fprintf(stderr, "# inject: %s of %s number %ld\n",
                order.kind != LATE ? "failure" : "delay", order.function, call);
        if (order.kind != LATE) {
            fails = order.kind == FAILS;
            inject_spoils = order.kind == SPOILT;
            inject_failed++;
        } else {
            nanosleep(&(struct timespec){.tv_sec = order.seconds}, NULL);
        }
    }
    return fails;
}

/* --- the functions -------------------------------------------------------- */

/* What the call returns, which has returned rc. */
static int inject_spoil(int rc)
{
    const bool spoilt = inject_spoils;

    inject_spoils = false;
    return spoilt ? MPI_ERR_OTHER : rc;
}

/* NAME with its parameters and arguments in parentheses. */
#define INJECT(FUNCTION, NAME, PARAMETERS, ARGUMENTS)                          \
    EXPORT int NAME PARAMETERS                                                 \
    {                                                                          \
        static int(*next) PARAMETERS;                                          \
                                                                               \
        if (!next)                                                             \
            *(void **)&next = dlsym(RTLD_NEXT, #NAME);                         \
        return inject(FUNCTION, CALLER) ? MPI_ERR_OTHER                        \
                                        : inject_spoil(next ARGUMENTS);        \
    }

INJECT(INJECT_ISEND, PMPI_Isend,
       (const void *buffer, int count, MPI_Datatype type, int rank, int tag,
        MPI_Comm comm, MPI_Request *request),
       (buffer, count, type, rank, tag, comm, request))
INJECT(INJECT_IRECV, PMPI_Irecv,
       (void *buffer, int count, MPI_Datatype type, int rank, int tag,
        MPI_Comm comm, MPI_Request *request),
       (buffer, count, type, rank, tag, comm, request))
INJECT(INJECT_IALLREDUCE, PMPI_Iallreduce,
       (const void *send, void *receive, int count, MPI_Datatype type,
        MPI_Op op, MPI_Comm comm, MPI_Request *request),
       (send, receive, count, type, op, comm, request))
INJECT(INJECT_IBCAST, PMPI_Ibcast,
       (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
        MPI_Request *request),
       (buffer, count, type, root, comm, request))
INJECT(INJECT_CREATE_KEYVAL, PMPI_Comm_create_keyval,
       (MPI_Comm_copy_attr_function * copy, MPI_Comm_delete_attr_function *end,
        int *key, void *state),
       (copy, end, key, state))
INJECT(INJECT_SET_ATTR, PMPI_Comm_set_attr,
       (MPI_Comm comm, int key, void *value), (comm, key, value))
INJECT(INJECT_IBARRIER, PMPI_Ibarrier, (MPI_Comm comm, MPI_Request *request),
       (comm, request))
INJECT(INJECT_COMM_DUP, PMPI_Comm_dup, (MPI_Comm comm, MPI_Comm *copy),
       (comm, copy))
INJECT(INJECT_COMM_DUP_WITH_INFO, PMPI_Comm_dup_with_info,
       (MPI_Comm comm, MPI_Info info, MPI_Comm *copy), (comm, info, copy))
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

/* --- the request of a PMPI_Comm_idup -------------------------------------- */

/* One whose completion is to fail; one at a time. */
static _Atomic(MPI_Request) inject_doomed;
static atomic_bool inject_has_doomed;

EXPORT int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *copy, MPI_Request *request)
{
    int (*next)(MPI_Comm, MPI_Comm *, MPI_Request *);
    const void *const caller = CALLER;
    int rc;

    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Comm_idup");
    if (inject(INJECT_COMM_IDUP, caller))
        return MPI_ERR_OTHER;
    rc = inject_spoil(next(comm, copy, request));
    if (rc == MPI_SUCCESS && inject(INJECT_COMPLETION, caller)) {
        inject_doomed = *request;
        inject_has_doomed = true;
    }
    return rc;
}

/* Is the doomed request among them? */
static bool inject_holds_doomed(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count && inject_has_doomed; i++)
        if (requests[i] == inject_doomed && requests[i] != MPI_REQUEST_NULL)
            return true;
    return false;
}

EXPORT int PMPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    const bool doomed = inject_holds_doomed(1, request);
    int (*next)(MPI_Request *, int *, MPI_Status *);
    int rc;

    if (inject(INJECT_TEST, CALLER))
        return MPI_ERR_OTHER;
    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Test");
    rc = next(request, done, status);
    if (!doomed || rc != MPI_SUCCESS || !*done)
        return rc;
    inject_has_doomed = false;
    return MPI_ERR_OTHER;
}

EXPORT int PMPI_Testall(int count, MPI_Request requests[], int *done,
                        MPI_Status statuses[])
{
    const bool doomed = inject_holds_doomed(count, requests);
    int (*next)(int, MPI_Request *, int *, MPI_Status *);
    bool active = false;
    int rc;

    for (int i = 0; i < count; i++)
        active |= requests[i] != MPI_REQUEST_NULL;
    if (inject(INJECT_TESTALL, CALLER))
        return MPI_ERR_OTHER;
    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Testall");
    rc = inject_spoil(next(count, requests, done, statuses));
    if (active && rc == MPI_SUCCESS && *done && inject(INJECT_RECEIPT, CALLER))
        return MPI_ERR_OTHER;
    if (!doomed || rc != MPI_SUCCESS || !*done)
        return rc;
    inject_has_doomed = false;
    return MPI_ERR_OTHER;
}

#if MPI_VERSION >= 4
INJECT(INJECT_ISEND, PMPI_Isend_c,
       (const void *buffer, MPI_Count count, MPI_Datatype type, int rank,
        int tag, MPI_Comm comm, MPI_Request *request),
       (buffer, count, type, rank, tag, comm, request))
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

EXPORT int shm_open(const char *name, int flags, mode_t mode)
{
    int (*next)(const char *, int, mode_t);

    if (inject(INJECT_SHM_OPEN, CALLER)) {
        errno = EACCES;
        return -1;
    }
    *(void **)&next = dlsym(RTLD_NEXT, "shm_open");
    return next(name, flags, mode);
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

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

EXPORT void *malloc(size_t size)
{
    return inject(INJECT_ALLOCATION, CALLER) ? NULL : __libc_malloc(size);
}

EXPORT void *calloc(size_t count, size_t size)
{
    return inject(INJECT_ALLOCATION, CALLER) ? NULL
                                             : __libc_calloc(count, size);
}

EXPORT void *realloc(void *old, size_t size)
{
    return inject(INJECT_ALLOCATION, CALLER) ? NULL : __libc_realloc(old, size);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    return inject(INJECT_ALLOCATION, CALLER) ? NULL
                                             : __libc_memalign(alignment, size);
}

EXPORT int posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (inject(INJECT_ALLOCATION, CALLER))
        return ENOMEM;
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

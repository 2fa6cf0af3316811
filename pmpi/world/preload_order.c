/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "world/preload_order.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <mpi.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/message.h"
#include "job/job.h"

typedef int (*allreduce_fn)(const void *, void *, int, MPI_Datatype, MPI_Op,
                            MPI_Comm);

static bool told;

/* Returns the function that the program calls by this name, with the object
 * that defines it, or NULL if the program calls the function of this
 * library. */
static void *preload_in_front(const char *name, Dl_info *object)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    const ElfW(Sym) *entry = NULL;
    Dl_info ours;

    if (!symbol || !dladdr(&told, &ours) ||
        !dladdr1(symbol, object, (void **)&entry, RTLD_DL_SYMENT) ||
        object->dli_fbase == ours.dli_fbase)
        return NULL;
    /* In a program that is linked to fixed addresses and takes the address of a
     * function, the function is an undefined symbol. Its address is that of a
     * stub, which jumps to the function. */
    return entry && entry->st_shndx == SHN_UNDEF ? NULL : symbol;
}

static bool preload_is_program(const Dl_info *object)
{
    Dl_info program;

    return dladdr((void *)getauxval(AT_ENTRY), &program) &&
           program.dli_fbase == object->dli_fbase;
}

static void preload_tell(const Dl_info *object, const char *what)
{
    told = true;
    if (preload_is_program(object))
        aps_message(-1,
                    "%s: the program itself (%s) defines MPI_Allreduce, and no "
                    "preloaded library can come before it",
                    what, object->dli_fname);
    else
        aps_message(-1,
                    "%s: %s defines MPI_Allreduce, too, and comes first; name "
                    "libapsmpi.so before it in LD_PRELOAD",
                    what, object->dli_fname);
}

/* True if a call of `symbol` reaches the library. The call is on MPI_COMM_SELF
 * with integers, and needs no agreement of ranks. */
static bool preload_is_reached(void *symbol)
{
    const unsigned long long before = aps_counters_calls(&aps_counters);
    unsigned long long after;
    allreduce_fn allreduce;
    int in = 1, out;

    memcpy(&allreduce, &symbol, sizeof allreduce);
    (void)allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    after = aps_counters_calls(&aps_counters);
    /* The program did not make this call. */
    atomic_fetch_sub(&aps_counters.calls, after - before);
    atomic_fetch_sub(&aps_counters.passed[APS_PASSED_OTHER], after - before);
    return after > before;
}

void aps_preload_order_check(void)
{
    Dl_info object, other;
    void *symbol = preload_in_front("MPI_Allreduce", &object);

    if (!symbol || preload_in_front("MPI_Init", &other) ||
        preload_in_front("MPI_Init_thread", &other))
        return;
    if (!preload_is_reached(symbol))
        preload_tell(&object, "no call of MPI_Allreduce reaches the library");
}

/*
 * Reports at the end of the process that no call has reached the library, even
 * if an object before the library has caught all calls, including MPI_Init. A
 * process that was never a rank, such as a child of a rank, has not finalised
 * MPI.
 */
__attribute__((destructor)) static void check_end(void)
{
    static struct aps_errors ignored;
    struct aps_options options = {0};
    Dl_info object;
    int finalized = 0;

    if (told || aps_counters_calls(&aps_counters) > 0 ||
        !preload_in_front("MPI_Allreduce", &object) ||
        PMPI_Finalized(&finalized) != MPI_SUCCESS || !finalized ||
        !aps_job_is_first_rank())
        return;
    aps_options_read(&options, &ignored, &ignored);
    if (options.policy && options.enabled)
        preload_tell(&object, "no call of MPI_Allreduce reached the library");
}

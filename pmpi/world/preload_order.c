/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "world/preload_order.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/launch.h"
#include "base/message.h"
#include "job/job.h"
#include "native/elf_imports.h"
#include "native/foreign.h"
#include "native/mpi_symbols.h"

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
    atomic_fetch_sub(&aps_counters.passed[APS_PASSED_INTEGER], after - before);
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

/* --- the end of the process ----------------------------------------------- */

/* Path of a file that belongs to a second MPI of the process, or "". */
struct unseen {
    char path[256];
    int copies; /* copies of MPI's library in memory */
};

/* Finds the copies of MPI's library, of any MPI and in any namespace of
 * dlmopen: the begin of each one is mapped once. */
static void unseen_find_copies(struct unseen *unseen)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], path[sizeof unseen->path];
    unsigned long offset;
    const char *name;

    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%*s %*s %lx %*s %*s %255s", &offset, path) != 2 ||
            offset != 0)
            continue;
        name = strrchr(path, '/');
        if (!name || (strncmp(name, "/libmpi.so", 10) != 0 &&
                      strncmp(name, "/libmpich.so", 12) != 0))
            continue;
        unseen->copies++;
        snprintf(unseen->path, sizeof unseen->path, "%s", path);
    }
    if (maps)
        fclose(maps);
}

/* True if MPI is a part of the program's own file: the file has the name of a
 * function of MPI, which no loaded object imports. */
static bool unseen_is_static(struct unseen *unseen)
{
    static const char *const names[] = {"MPI_Init", "MPI_Init_thread",
                                        "MPI_Finalize"};
    const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat found;
    void *file = MAP_FAILED;
    bool is = false;

    if (fd < 0)
        return false;
    if (fstat(fd, &found) == 0 && found.st_size > 0)
        file = mmap(NULL, (size_t)found.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (file == MAP_FAILED)
        return false;
    is = memmem(file, (size_t)found.st_size, "MPI_Init_thread", 15) &&
         !aps_elf_imports_any(names, sizeof names / sizeof *names, "mpi_init_");
    munmap(file, (size_t)found.st_size);
    if (is &&
        readlink("/proc/self/exe", unseen->path, sizeof unseen->path - 1) < 0)
        unseen->path[0] = '\0';
    return is;
}

/* Returns the reason why no call of a program that has used MPI was seen, or
 * NULL if the program has not used it. A rank's helpers have its environment,
 * too; `is_rank`: the launcher has given this process a rank. */
static const char *unseen_reason(bool is_rank, struct unseen *unseen)
{
    const int shared = aps_mpi_symbols_find() ? 1 : 0;
    int initialized = 0, finalized = 0;

    if ((PMPI_Initialized(&initialized) == MPI_SUCCESS && initialized) ||
        (PMPI_Finalized(&finalized) == MPI_SUCCESS && finalized))
        return "the program took MPI's functions by dlsym, loaded its caller "
               "with RTLD_DEEPBIND, or calls another MPI; start it with "
               "apsmpi-run --audit, or link it with the MPI that the library "
               "was built for";
    if (!is_rank)
        return NULL;
    unseen_find_copies(unseen);
    if (unseen->copies > shared)
        return "the program loaded another copy of MPI, by dlmopen or dlopen; "
               "link the program with MPI";
    unseen->path[0] = '\0';
    if (unseen_is_static(unseen))
        return "MPI is linked into the program statically; link MPI's shared "
               "library";
    return NULL;
}

static pid_t loaded_by; /* the process; a forked child has another number */

__attribute__((constructor)) static void check_begin(void)
{
    loaded_by = getpid();
}

/*
 * Reports that no call has reached the library: an object before the library has
 * caught all calls, including MPI_Init, or the program has not called MPI by names that
 * the loader resolves.
 */
static void report_unseen(const char *wanted)
{
    const struct aps_job *job =
        atomic_load_explicit(&aps_job_made, memory_order_acquire);
    struct unseen unseen = {.copies = 0};
    const char *reason;
    int finalized = 0;
    Dl_info object;

    if (PMPI_Finalized(&finalized) == MPI_SUCCESS && finalized &&
        preload_in_front("MPI_Allreduce", &object)) {
        preload_tell(&object, "no call of MPI_Allreduce reached the library");
        return;
    }
    if (job) /* the program has called the library */
        return;
    reason = unseen_reason(aps_launch_rank() >= 0, &unseen);
    if (reason)
        aps_message(-1,
                    "%s had no effect: the program used MPI, but no call "
                    "reached the library: %s%s%s%s",
                    wanted, reason, unseen.path[0] ? " (" : "", unseen.path,
                    unseen.path[0] ? ")" : "");
}

/* At the end of the process. A process that was never a rank, such as a child of a
 * rank, has not initialised MPI. */
__attribute__((destructor)) static void check_end(void)
{
    static struct aps_errors ignored;
    struct aps_options options = {0};
    const char *wanted;

    if (told || aps_counters_calls(&aps_counters) > 0 ||
        loaded_by != getpid() || !aps_job_is_first_rank() ||
        !(getenv("APSMPI_POLICY") || getenv("APSMPI_SHADOW") ||
          getenv("APSMPI_LOG")))
        return;
    aps_options_read(&options, &ignored, &ignored);
    wanted = options.policy   ? options.policy
             : options.shadow ? "APSMPI_SHADOW"
             : options.log    ? "APSMPI_LOG"
                              : NULL;
    if (wanted && options.enabled)
        report_unseen(wanted);
    aps_options_clear(&options);
}

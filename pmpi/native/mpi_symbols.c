/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "native/mpi_symbols.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <string.h>

/* Functions of MPI that the library calls by name. Some MPIs lack some. */
/* clang-format off */
#define FUNCTIONS(ROW)                                                         \
    ROW(OMPI_C_MPI_COMM_NULL_COPY_FN) ROW(PMPIX_Grequest_start)                \
    ROW(PMPI_Abi_get_version) ROW(PMPI_Abort) ROW(PMPI_Allgather)              \
    ROW(PMPI_Allreduce) ROW(PMPI_Cancel)                                       \
    ROW(PMPI_Comm_call_errhandler) ROW(PMPI_Comm_create_keyval)                \
    ROW(PMPI_Comm_f2c) ROW(PMPI_Comm_free) ROW(PMPI_Comm_free_keyval)          \
    ROW(PMPI_Comm_get_attr) ROW(PMPI_Comm_get_errhandler)                      \
    ROW(PMPI_Comm_get_info) ROW(PMPI_Comm_get_name) ROW(PMPI_Comm_group)       \
    ROW(PMPI_Comm_rank) ROW(PMPI_Comm_remote_size) ROW(PMPI_Comm_set_attr)     \
    ROW(PMPI_Comm_set_errhandler) ROW(PMPI_Comm_size) ROW(PMPI_Comm_split)     \
    ROW(PMPI_Comm_split_type) ROW(PMPI_Comm_test_inter)                        \
    ROW(PMPI_Errhandler_free) ROW(PMPI_Error_string) ROW(PMPI_Finalized)       \
    ROW(PMPI_Get_count) ROW(PMPI_Get_library_version)                          \
    ROW(PMPI_Grequest_complete) ROW(PMPI_Grequest_start) ROW(PMPI_Group_free)  \
    ROW(PMPI_Group_translate_ranks) ROW(PMPI_Iallreduce) ROW(PMPI_Ibarrier)    \
    ROW(PMPI_Ibcast) ROW(PMPI_Improbe) ROW(PMPI_Imrecv) ROW(PMPI_Imrecv_c)     \
    ROW(PMPI_Info_free) ROW(PMPI_Info_get) ROW(PMPI_Initialized)               \
    ROW(PMPI_Iprobe) ROW(PMPI_Irecv) ROW(PMPI_Irsend) ROW(PMPI_Irsend_c)       \
    ROW(PMPI_Isend) ROW(PMPI_Isend_c) ROW(PMPI_Issend) ROW(PMPI_Issend_c)      \
    ROW(PMPI_Mrecv) ROW(PMPI_Mrecv_c) ROW(PMPI_Op_commutative)                 \
    ROW(PMPI_Op_f2c) ROW(PMPI_Pack) ROW(PMPI_Reduce_local)                     \
    ROW(PMPI_Pack_c) ROW(PMPI_Pack_size) ROW(PMPI_Pack_size_c)                 \
    ROW(PMPI_Query_thread) ROW(PMPI_Recv) ROW(PMPI_Recv_c)                     \
    ROW(PMPI_Request_c2f) ROW(PMPI_Request_free) ROW(PMPI_Request_get_status)  \
    ROW(PMPI_Sendrecv) ROW(PMPI_Sendrecv_c) ROW(PMPI_Status_set_cancelled)     \
    ROW(PMPI_Status_set_elements) ROW(PMPI_Test) ROW(PMPI_Testall)             \
    ROW(PMPI_Testany) ROW(PMPI_Testsome) ROW(PMPI_Type_commit)                 \
    ROW(PMPI_Type_create_hindexed) ROW(PMPI_Type_dup) ROW(PMPI_Type_f2c)       \
    ROW(PMPI_Type_free) ROW(PMPI_Type_get_contents)                            \
    ROW(PMPI_Type_get_contents_c) ROW(PMPI_Type_get_envelope)                  \
    ROW(PMPI_Type_get_envelope_c) ROW(PMPI_Type_get_extent)                    \
    ROW(PMPI_Type_get_extent_x) ROW(PMPI_Type_get_name)                        \
    ROW(PMPI_Type_get_true_extent)                                             \
    ROW(PMPI_Type_get_true_extent_x) ROW(PMPI_Type_size)                       \
    ROW(PMPI_Type_size_x) ROW(PMPI_Unpack) ROW(PMPI_Unpack_c)                  \
    ROW(PMPI_Waitall)
/* clang-format on */

/* Stands for a function that MPI does not have, or in a process without MPI:
 * returns an error code of every MPI. */
static int symbols_missing(void)
{
    return 1;
}

/*
 * Defines each function as a jump to the address in a variable, aps_to_NAME.
 * The prototypes are those of mpi.h, so C could not pass the arguments on. For
 * other processors the functions stay undefined, and the loader looks for them.
 */
#if defined(__x86_64__)
#define JUMP(to) "jmp *" to "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP(to) "adrp x16, " to "\nldr x16, [x16, :lo12:" to "]\nbr x16\n"
#endif
#ifdef JUMP
#define DEFINE(name)                                                           \
    void *aps_to_##name __attribute__((used)) = (void *)symbols_missing;       \
    __asm__(".pushsection .text\n.balign 16\n.globl " #name "\n.hidden " #name \
            "\n.type " #name ", %function\n" #name                             \
            ":\n" JUMP("aps_to_" #name) ".size " #name ", . - " #name          \
                                        "\n.popsection");
FUNCTIONS(DEFINE)
#endif

#ifdef APS_MPI_OPENMPI
#define DEFINE_DATA(name) void *aps_to_##name;
APS_OPENMPI_DATA(DEFINE_DATA)
#endif

static const struct {
    const char *name;
    void **to;
} symbols[] = {
#define ROW(name) {#name, &aps_to_##name},
#ifdef JUMP
    FUNCTIONS(ROW)
#endif
#ifdef APS_MPI_OPENMPI
        APS_OPENMPI_DATA(ROW)
#endif
};

struct search {
    int skip; /* number of objects to skip */
    char path[PATH_MAX];
};

static int symbols_object(struct dl_phdr_info *object, size_t size, void *data)
{
    struct search *search = data;

    (void)size;
    if (search->skip-- > 0)
        return 0;
    strncpy(search->path, object->dlpi_name, sizeof search->path - 1);
    return 1;
}

/* Makes the MPI that a loaded module needs visible to the whole process, and
 * keeps it there. dl_iterate_phdr holds a lock, so the loader is not called
 * inside. */
static void symbols_open_module(void)
{
    for (int i = 0; !dlsym(RTLD_DEFAULT, "PMPI_Init"); i++) {
        struct search search = {.skip = i};
        void *module, *symbol;
        Dl_info mpi;

        if (dl_iterate_phdr(symbols_object, &search) == 0)
            break;
        module = dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD);
        if (!module)
            continue;
        symbol = dlsym(module, "PMPI_Init");
        if (symbol && dladdr(symbol, &mpi))
            (void)dlopen(mpi.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
        dlclose(module);
    }
}

static void symbols_look_up(void)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = dlsym(RTLD_DEFAULT, symbols[i].name);

        if (symbol)
            *symbols[i].to = symbol;
    }
}

bool aps_mpi_symbols_find(void)
{
    bool found;

    symbols_open_module();
    found = dlsym(RTLD_DEFAULT, "PMPI_Init");
    if (found)
        symbols_look_up();
    (void)dlerror(); /* the program did not make these calls */
    return found;
}

__attribute__((constructor)) static void symbols_begin(void)
{
    (void)aps_mpi_symbols_find();
}

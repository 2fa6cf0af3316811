/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "native/elf_imports.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#if __ELF_NATIVE_CLASS == 64
#define SYMBOL_OF(info) ELF64_R_SYM(info)
#else
#define SYMBOL_OF(info) ELF32_R_SYM(info)
#endif

struct search {
    const char *const *names;
    size_t count;
    ElfW(Addr) but_not; /* base address of the library to leave out, or 0 */
};

/* Locations that the loader has filled in with addresses of symbols. */
struct relocations {
    const ElfW(Rela) * first;
    size_t bytes;
};

/* Tables to which the dynamic section of an object points. */
struct tables {
    const ElfW(Sym) * symbols;
    const char *strings;
    struct relocations calls, data; /* calls through the PLT, and uses by
                                       address */
};

/* Returns the address of a table. The GNU loader has made addresses of the
 * entries, other loaders leave offsets. */
static const void *imports_at(const struct dl_phdr_info *object,
                              ElfW(Addr) value)
{
    return (const void *)(value < object->dlpi_addr ? object->dlpi_addr + value
                                                    : value);
}

static void imports_find_tables(const struct dl_phdr_info *object,
                                const ElfW(Dyn) * entry, struct tables *tables)
{
    for (; entry->d_tag != DT_NULL; entry++) {
        const void *address = imports_at(object, entry->d_un.d_ptr);

        switch (entry->d_tag) {
        case DT_SYMTAB:
            tables->symbols = address;
            break;
        case DT_STRTAB:
            tables->strings = address;
            break;
        case DT_JMPREL:
            tables->calls.first = address;
            break;
        case DT_PLTRELSZ:
            tables->calls.bytes = entry->d_un.d_val;
            break;
        case DT_RELA:
            tables->data.first = address;
            break;
        case DT_RELASZ:
            tables->data.bytes = entry->d_un.d_val;
            break;
        default:
            break;
        }
    }
}

/* True if one of the relocations refers to a searched function of another
 * object. */
static bool imports_refers(const struct tables *tables,
                           const struct relocations *relocations,
                           const struct search *search)
{
    const size_t count =
        relocations->first ? relocations->bytes / sizeof(ElfW(Rela)) : 0;

    for (size_t i = 0; i < count; i++) {
        const ElfW(Sym) *symbol =
            &tables->symbols[SYMBOL_OF(relocations->first[i].r_info)];

        if (symbol->st_name == 0 || symbol->st_shndx != SHN_UNDEF)
            continue;
        for (size_t k = 0; k < search->count; k++)
            if (strcmp(tables->strings + symbol->st_name, search->names[k]) ==
                0)
                return true;
    }
    return false;
}

static int imports_search_object(struct dl_phdr_info *object, size_t size,
                                 void *data)
{
    const struct search *search = data;
    struct tables tables = {0};

    (void)size;
    if (object->dlpi_addr != 0 && object->dlpi_addr == search->but_not)
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];

        if (header->p_type == PT_DYNAMIC)
            imports_find_tables(
                object, (const void *)(object->dlpi_addr + header->p_vaddr),
                &tables);
    }
    return tables.symbols && tables.strings &&
           (imports_refers(&tables, &tables.calls, search) ||
            imports_refers(&tables, &tables.data, search));
}

bool aps_elf_imports_any(const char *const names[], size_t count,
                         const char *but_not_where)
{
    struct search search = {names, count, 0};
    const void *left_out = dlsym(RTLD_DEFAULT, but_not_where);
    Dl_info where;

    if (left_out && dladdr(left_out, &where))
        search.but_not = (ElfW(Addr))where.dli_fbase;

    return dl_iterate_phdr(imports_search_object, &search) != 0;
}

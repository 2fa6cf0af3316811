/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binds MPI's functions to those of libapsmpi.so, also if a program takes them
 * by dlsym from the handle of an MPI library, or in a module that it opens with
 * RTLD_DEEPBIND. Such a program never looks at a preloaded library.
 *
 * The loader calls the functions below when it loads an object and when it
 * binds a symbol, not when the program calls the symbol.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static struct link_map *library;

EXPORT unsigned la_version(unsigned version);
EXPORT unsigned la_objopen(struct link_map *map, Lmid_t space,
                           uintptr_t *cookie);
EXPORT uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index,
                              uintptr_t *from, uintptr_t *to, unsigned *flags,
                              const char *name);

unsigned la_version(unsigned version)
{
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* The cookie of an object remains the address of its map. An MPI in a namespace of its
 * own (dlmopen) is not that of the library. */
unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
    const char *file = strrchr(map->l_name, '/');

    (void)cookie;
    if (space == LM_ID_BASE && file && strcmp(file, "/libapsmpi.so") == 0)
        library = map;
    return space == LM_ID_BASE ? LA_FLG_BINDTO | LA_FLG_BINDFROM : 0;
}

/* Returns the value of an entry of the object's dynamic section, an address. */
static const void *audit_table(const struct link_map *object, ElfW(Sxword) tag)
{
    const ElfW(Dyn) *entry = object->l_ld;

    while (entry->d_tag != DT_NULL && entry->d_tag != tag)
        entry++;
    return entry->d_tag == tag ? (const void *)entry->d_un.d_ptr : NULL;
}

/* Returns the address of a function that the object exports, or 0. dlsym could
 * not look it up: the loader keeps no scope for a preloaded object. The format
 * of DT_GNU_HASH: four numbers, a filter, heads of chains, and chains of hashes
 * whose last one is odd. */
static uintptr_t audit_exported(const struct link_map *object, const char *name)
{
    const uint32_t *table = audit_table(object, DT_GNU_HASH), *heads, *chains;
    const ElfW(Sym) *symbols = audit_table(object, DT_SYMTAB);
    const char *names = audit_table(object, DT_STRTAB);
    uint32_t hash = 5381, i;

    if (!table || !symbols || !names)
        return 0;
    heads = table + 4 + table[2] * (sizeof(ElfW(Addr)) / sizeof *table);
    chains = heads + table[0];
    for (const char *c = name; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    i = heads[hash % table[0]];
    if (i < table[1])
        return 0;
    for (;; i++) {
        const uint32_t link = chains[i - table[1]];

        if ((link | 1) == (hash | 1) &&
            strcmp(names + symbols[i].st_name, name) == 0)
            return symbols[i].st_shndx == SHN_UNDEF
                       ? 0
                       : object->l_addr + symbols[i].st_value;
        if (link & 1)
            return 0;
    }
}

/* Stay as they are: the library's search for the next definition, and what an object
 * binds that defines the function itself, such as MPI, or a tool that is preloaded
 * after the library and looks for the next definition. */
uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from,
                       uintptr_t *to, unsigned *flags, const char *name)
{
    uintptr_t ours = 0;

    (void)index, (void)flags;
    if (library && *from != (uintptr_t)library && *to != (uintptr_t)library &&
        strncmp(name, "MPI_", 4) == 0 &&
        !audit_exported((const struct link_map *)*from, name))
        ours = audit_exported(library, name);
    return ours ? ours : symbol->st_value;
}

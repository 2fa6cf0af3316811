/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cli/installed.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"

/* In the form that the command what(1) finds; pmpi/native/foreign.c writes
 * it. */
#define MARK "@(#)apsmpi "
#define FOR " for "

/* Identifies the sources; pmpi/world/build.c writes it. */
#define SOURCES_MARK "@(#)sources of apsmpi 0x"
#define SOURCES_DIGITS 16

static char *copy(const char *text, size_t length)
{
    char *copied = aps_command_alloc(length + 1, 1);

    memcpy(copied, text, length);
    return copied;
}

/* Writes the directory of this command, without the final slash; "" if
 * unknown. */
static void own_directory(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    char *slash;

    path[length > 0 ? length : 0] = '\0';
    slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
}

/* Returns the part of an installation directory after the prefix, or NULL. */
static const char *below_prefix(const char *directory)
{
    const size_t length = strlen(APS_PREFIX);

    return strncmp(directory, APS_PREFIX "/", length + 1) == 0
               ? directory + length
               : NULL;
}

/*
 * Writes the place of the libraries as a pattern for glob(3). The prefix may
 * have been moved, and `make install DESTDIR=...` puts a directory before it.
 */
static void make_pattern(char pattern[2 * PATH_MAX])
{
    const char *bin = below_prefix(APS_BINDIR);
    const char *lib = below_prefix(APS_LIBDIR);
    char own[PATH_MAX];
    size_t length;

    own_directory(own);
    length = strlen(own);
    snprintf(pattern, 2 * PATH_MAX, "%s/.libs/libapsmpi.so", own);
    if (access(pattern, R_OK) == 0)
        return;
    if (!bin || !lib) {
        bin = APS_BINDIR;
        lib = APS_LIBDIR;
    }
    if (length >= strlen(bin) && strcmp(own + length - strlen(bin), bin) == 0) {
        own[length - strlen(bin)] = '\0';
        snprintf(pattern, 2 * PATH_MAX, "%s%s/apsmpi", own, lib);
        if (access(pattern, X_OK) == 0) {
            strcat(pattern, "/*/libapsmpi.so");
            return;
        }
    }
    snprintf(pattern, 2 * PATH_MAX, "%s/apsmpi/*/libapsmpi.so", APS_LIBDIR);
}

/* Reads "MARK VERSION for MPI" in the bytes of the file. */
static void read_mark(struct aps_installed *library, const char *bytes,
                      size_t size)
{
    const char *mark = memmem(bytes, size, MARK, strlen(MARK));
    const char *version, *end, *mpi;

    if (!mark)
        return;
    version = mark + strlen(MARK);
    end = memchr(version, '\0', size - (size_t)(version - bytes));
    mpi = end ? strstr(version, FOR) : NULL;
    if (!mpi)
        return;
    free(library->version);
    free(library->mpi);
    library->version = copy(version, (size_t)(mpi - version));
    library->mpi = copy(mpi + strlen(FOR), (size_t)(end - mpi) - strlen(FOR));
}

/* Reads "SOURCES_MARK" and hexadecimal digits. */
static void read_sources(struct aps_installed *library, const char *bytes,
                         size_t size)
{
    const char *mark = memmem(bytes, size, SOURCES_MARK, strlen(SOURCES_MARK));
    const char *digits = mark ? mark + strlen(SOURCES_MARK) : NULL;

    if (!mark || size - (size_t)(digits - bytes) < SOURCES_DIGITS)
        return;
    free(library->sources);
    library->sources = copy(digits, SOURCES_DIGITS);
}

static void read_file(struct aps_installed *library)
{
    int fd = open(library->file, O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *bytes;

    if (fd < 0)
        return;
    if (fstat(fd, &status) == 0 && status.st_size > 0) {
        const size_t size = (size_t)status.st_size;

        bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            read_mark(library, bytes, size);
            read_sources(library, bytes, size);
            munmap(bytes, size);
        }
    }
    close(fd);
}

static void fill(struct aps_installed *library, const char *file)
{
    const char *named = getenv("APSMPI_CUDA");
    const size_t folder = (size_t)(strrchr(file, '/') - file) + 1;
    char path[PATH_MAX];

    library->file = copy(file, strlen(file));
    library->version = copy("", 0);
    library->mpi = copy("", 0);
    library->sources = copy("", 0);
    snprintf(path, sizeof path, "%.*s%s", (int)folder, file,
             "libapsmpi-cuda.so");
    if (named && named[0] != '\0')
        snprintf(path, sizeof path, "%s", named);
    library->plugin = copy(path, strlen(path));
    library->plugin_found = access(path, R_OK) == 0;
    read_file(library);
}

struct aps_installed *aps_installed_find(size_t *count)
{
    char pattern[2 * PATH_MAX];
    struct aps_installed *list;
    glob_t found;

    make_pattern(pattern);
    if (glob(pattern, 0, NULL, &found) != 0) {
        *count = 0;
        return aps_command_alloc(1, sizeof *list);
    }
    *count = found.gl_pathc;
    list = aps_command_alloc(found.gl_pathc, sizeof *list);
    for (size_t i = 0; i < found.gl_pathc; i++)
        fill(&list[i], found.gl_pathv[i]);
    globfree(&found);
    return list;
}

/* Writes the path of a library's program: next to it, or in the build tree of
 * both. */
static void program_of(const char *file, const char *name, char path[PATH_MAX])
{
    const int folder = (int)(strrchr(file, '/') - file);

    snprintf(path, PATH_MAX, "%.*s/apsmpi-%s", folder, file, name);
    if (access(path, X_OK) != 0)
        snprintf(path, PATH_MAX, "%.*s/../pmpi/%s/apsmpi-%s", folder, file,
                 name, name);
}

/* True if the library is for the MPI whose launcher has started this process.
 * Only Open MPI's launcher gives its name. */
static bool suits_launcher(const struct aps_installed *library)
{
    const bool open_mpi = getenv("OMPI_COMM_WORLD_SIZE") != NULL;

    return (strstr(library->mpi, "Open MPI") != NULL) == open_mpi;
}

bool aps_installed_program(const char *name, char program[PATH_MAX],
                           char library[PATH_MAX])
{
    size_t count;
    struct aps_installed *list = aps_installed_find(&count);
    bool found = false;

    for (size_t i = 0; i < count; i++)
        if (count == 1 || suits_launcher(&list[i])) {
            program_of(list[i].file, name, program);
            snprintf(library, PATH_MAX, "%s", list[i].file);
            found = true;
        }
    aps_installed_free(list, count);
    return found;
}

void aps_installed_free(struct aps_installed *list, size_t count)
{
    for (size_t i = 0; list && i < count; i++) {
        free(list[i].file);
        free(list[i].version);
        free(list[i].mpi);
        free(list[i].sources);
        free(list[i].plugin);
    }
    free(list);
}

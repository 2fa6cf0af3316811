/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the files of a policy: the policy, and the layer table that it names.
 */
#include "config.h"

#include "policy/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "yaml/version.h"
#include "yaml/yaml.h"

#define POLICY_MIB 1
#define TABLE_MIB 16

/* Result of reading a file; `why` is the cause of a failure, for the
 * message. */
struct content {
    char *text;
    size_t length;
    const char *why;
    char larger[32]; /* a cause */
};

static int read_stream(FILE *stream, int mebibytes, struct content *content)
{
    size_t capacity = 0, length = 0;
    char *text = NULL;

    for (;;) {
        if (capacity - length < 2) {
            size_t larger = capacity ? 2 * capacity : 4096;
            char *moved = realloc(text, larger);

            if (!moved) {
                content->why = strerror(ENOMEM);
                goto free_text;
            }
            text = moved;
            capacity = larger;
        }
        /* One byte stays free for the final NUL. */
        length += fread(text + length, 1, capacity - length - 1, stream);
        if (ferror(stream)) {
            content->why = strerror(errno);
            goto free_text;
        }
        if (length > (size_t)mebibytes << 20) {
            snprintf(content->larger, sizeof content->larger,
                     "larger than %d MiB", mebibytes);
            content->why = content->larger;
            goto free_text;
        }
        if (feof(stream))
            break;
    }
    text[length] = '\0';
    if (length == 0) {
        content->why = "the file is empty";
        goto free_text;
    }
    if (strlen(text) != length) {
        content->why = "not a text file (it holds a NUL byte)";
        goto free_text;
    }
    content->text = text;
    content->length = length;
    return 0;

free_text:
    free(text);
    return -1;
}

/* Times for which a pipe may be silent, in milliseconds: before some process
 * writes into it, and after. */
#define UNWRITTEN_MS 1000
#define SILENT_MS 10000

/* A pipe, which would let the job wait for ever. */
struct pipe {
    int fd;
    bool begun; /* bytes have arrived */
    bool silent;
};

static ssize_t pipe_read(void *cookie, char *text, size_t size)
{
    struct pipe *pipe = cookie;
    struct pollfd ready = {.fd = pipe->fd, .events = POLLIN};

    while (!pipe->silent) {
        const ssize_t got = read(pipe->fd, text, size);

        pipe->begun |= got > 0;
        if (got > 0 || (got == 0 && pipe->begun) ||
            (got < 0 && errno != EAGAIN && errno != EINTR))
            return got;
        pipe->silent =
            poll(&ready, 1, got < 0 ? SILENT_MS : UNWRITTEN_MS) == 0 ||
            (got == 0 && !(ready.revents & POLLIN));
    }
    errno = EAGAIN;
    return -1;
}

/* Opens a file; a pipe is read through `pipe`. */
static FILE *open_file(const char *path, struct pipe *pipe)
{
    const cookie_io_functions_t functions = {.read = pipe_read};
    FILE *stream;
    struct stat found;

    pipe->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (pipe->fd < 0)
        return NULL;
    if (fstat(pipe->fd, &found) == 0 && S_ISFIFO(found.st_mode))
        return fopencookie(pipe, "r", functions);
    (void)fcntl(pipe->fd, F_SETFL, 0); /* waits, as for a terminal */
    stream = fdopen(pipe->fd, "r");
    if (stream)
        pipe->fd = -1; /* owned by the stream */
    return stream;
}

static int read_file(const char *path, int mebibytes, struct content *content)
{
    struct pipe pipe = {.fd = -1};
    FILE *stream = open_file(path, &pipe);
    int result = -1;

    if (!stream) {
        content->why = strerror(errno);
        goto close_pipe;
    }
    result = read_stream(stream, mebibytes, content);
    fclose(stream);
    if (pipe.silent)
        content->why = "a pipe into which no process writes";

close_pipe:
    if (pipe.fd >= 0)
        close(pipe.fd);
    return result;
}

/* Returns `name` relative to the directory of `path`; the caller frees it. */
static char *path_beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    int directory = slash && name[0] != '/' ? (int)(slash - path) + 1 : 0;
    char *joined;

    return asprintf(&joined, "%.*s%s", directory, path, name) < 0 ? NULL
                                                                  : joined;
}

static int read_table(struct aps_policy_source *source,
                      const struct aps_yaml_node *name,
                      struct aps_errors *errors)
{
    struct content content;

    source->layers_path = path_beside(source->path, name->text);
    if (!source->layers_path) {
        aps_errors_add(errors, source->path, 0, 0, "out of memory");
        return -1;
    }
    if (read_file(source->layers_path, TABLE_MIB, &content) < 0) {
        aps_errors_add(errors, source->path, name->line, name->column,
                       "cannot read the layer table '%.200s': %s",
                       source->layers_path, content.why);
        return -1;
    }
    source->layers_text = content.text;
    source->layers_length = content.length;
    return 0;
}

static int find_table(struct aps_policy_source *source,
                      struct aps_errors *errors)
{
    size_t before = errors->count;
    struct aps_yaml_node *root;
    const struct aps_yaml_node *key;
    int result = 0;

    if (aps_yaml_parse(source->path, source->text, source->length, &root,
                       errors) < 0)
        return -1;
    /* aps_policy_parse will find these errors, or that the policy has another
     * version. */
    errors->count = before;
    if (!aps_version_is_ours(source->path, root, NULL)) {
        aps_yaml_destroy(root);
        return 0;
    }
    key = aps_yaml_find(root, "table");
    if (!key)
        key = aps_yaml_find(root, "layers");
    if (key && key->value->kind == APS_YAML_SCALAR &&
        key->value->text[0] != '\0')
        result = read_table(source, key->value, errors);
    aps_yaml_destroy(root);
    return result;
}

/* Reports the errors of a policy whose layer table cannot be read. */
static void find_errors(const struct aps_policy_source *source,
                        struct aps_errors *errors)
{
    struct aps_policy *policy;

    if (aps_policy_parse(source, &policy, errors) == 0)
        aps_policy_destroy(policy);
}

int aps_policy_source_read(const char *path, struct aps_policy_source *source,
                           struct aps_errors *errors)
{
    struct aps_policy_source reading = {.path = strdup(path)};
    struct content content;

    if (!reading.path) {
        aps_errors_add(errors, path, 0, 0, "out of memory");
        errno = ENOMEM;
        return -1;
    }
    if (read_file(path, POLICY_MIB, &content) < 0) {
        aps_errors_add(errors, path, 0, 0, "%s", content.why);
        goto clear_reading;
    }
    reading.text = content.text;
    reading.length = content.length;
    if (find_table(&reading, errors) < 0) {
        if (reading.layers_path)
            find_errors(&reading, errors);
        goto clear_reading;
    }
    *source = reading;
    return 0;

clear_reading:
    aps_policy_source_clear(&reading);
    errno = EINVAL;
    return -1;
}

int aps_policy_source_shadow(const char *candidates, const char *name,
                             struct aps_policy_source *source)
{
    struct aps_policy_source made = {
        .path = strdup(name),
        .text = strdup("version: 1\n"),
        .shadow = strdup(candidates),
        .shadow_name = name,
    };

    if (!made.path || !made.text || !made.shadow) {
        aps_policy_source_clear(&made);
        return -1;
    }
    made.length = strlen(made.text);
    *source = made;
    return 0;
}

void aps_policy_source_clear(struct aps_policy_source *source)
{
    free(source->path);
    free(source->text);
    free(source->layers_path);
    free(source->layers_text);
    free(source->shadow);
    *source = (struct aps_policy_source){.path = NULL};
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "job/policy_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FNV_OFFSET UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

/* The hash covers the length: "ab", "c" differs from "a", "bc". */
static uint64_t policy_text_hash_on(uint64_t hash, const void *bytes,
                                    size_t size)
{
    const unsigned char *next = bytes;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ next[i]) * FNV_PRIME;
    for (size_t rest = size; rest > 0; rest >>= 8)
        hash = (hash ^ (rest & 0xff)) * FNV_PRIME;
    return hash;
}

uint64_t aps_policy_text_hash(const struct aps_policy_source *source)
{
    uint64_t hash =
        policy_text_hash_on(FNV_OFFSET, source->text, source->length);

    if (source->layers_text)
        hash = policy_text_hash_on(hash, source->layers_text,
                                   source->layers_length);
    if (source->shadow)
        hash =
            policy_text_hash_on(hash, source->shadow, strlen(source->shadow));
    return hash;
}

/* Writes the length and then the text; a missing text has length -1. */
static size_t policy_text_put(char *to, const char *text, size_t length)
{
    int64_t size = text ? (int64_t)length : -1;

    if (to) {
        memcpy(to, &size, sizeof size);
        if (text)
            memcpy(to + sizeof size, text, length);
    }
    return sizeof size + (text ? length : 0);
}

/* Writes all texts to `to`, unless `to` is NULL. Returns their size in
 * bytes. */
static size_t policy_text_put_all(const struct aps_policy_source *source,
                                  char *to)
{
    const struct {
        const char *text;
        size_t length;
    } parts[] = {
        {source->path, strlen(source->path)},
        {source->text, source->length},
        {source->layers_path,
         source->layers_path ? strlen(source->layers_path) : 0},
        {source->layers_text, source->layers_length},
        {source->shadow, source->shadow ? strlen(source->shadow) : 0},
    };
    size_t used = 0;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        used += policy_text_put(to ? to + used : NULL, parts[i].text,
                                parts[i].length);
    return used;
}

int aps_policy_text_pack(const struct aps_policy_source *source, char **bytes,
                         size_t *size)
{
    const size_t needed = policy_text_put_all(source, NULL);
    char *packed = malloc(needed);

    if (!packed)
        return -1;
    policy_text_put_all(source, packed);
    *bytes = packed;
    *size = needed;
    return 0;
}

/* Unpacks the next text of `*left` bytes, NUL-terminated. Returns 0, or -1 with
 * errno. */
static int policy_text_take(const char **next, size_t *left, char **text,
                            size_t *length)
{
    int64_t size;

    errno = EPROTO;
    if (*left < sizeof size)
        return -1;
    memcpy(&size, *next, sizeof size);
    *next += sizeof size;
    *left -= sizeof size;
    *text = NULL;
    *length = 0;
    if (size < 0)
        return 0;
    if ((uint64_t)size > *left)
        return -1;
    *text = malloc((size_t)size + 1);
    if (!*text)
        return -1;
    memcpy(*text, *next, (size_t)size);
    (*text)[size] = '\0';
    *length = (size_t)size;
    *next += size;
    *left -= (size_t)size;
    return 0;
}

int aps_policy_text_unpack(const char *bytes, size_t size,
                           struct aps_policy_source *source)
{
    size_t ignored;

    if (policy_text_take(&bytes, &size, &source->path, &ignored) < 0 ||
        policy_text_take(&bytes, &size, &source->text, &source->length) < 0 ||
        policy_text_take(&bytes, &size, &source->layers_path, &ignored) < 0 ||
        policy_text_take(&bytes, &size, &source->layers_text,
                         &source->layers_length) < 0 ||
        policy_text_take(&bytes, &size, &source->shadow, &ignored) < 0)
        return -1;
    errno = EPROTO;
    return size == 0 && source->path && source->text ? 0 : -1;
}
